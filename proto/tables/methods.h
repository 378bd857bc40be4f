/*
 * methods.h - the methods of methods.def as an enumeration with a table.
 *
 *   METHOD(symbol, name, owner, callers, flags, deadline ms, request type or NONE, reply type or NONE, doc)
 */
#pragma once

#include "proto/codec/codec.h"
#include "proto/tables/workers.h"

enum method {
#define METHOD(symbol, ...) METHOD_##symbol,
#include "proto/catalogue/methods.def"
	METHOD_COUNT
};

enum method_flags {
	METHOD_READ = 1 << 0,
	METHOD_KEYED = 1 << 1,
	METHOD_ONCE = 1 << 2,
	/* answered quickly: may travel with others in one message */
	METHOD_BATCH = 1 << 3,
};

enum method_callers {
#define WORKER(symbol, ...) BY_##symbol = 1 << WORKER_##symbol,
#include "proto/catalogue/workers.def"
#undef WORKER
};

struct method_info {
	const char *name; /* "fs.open" */
	enum worker_id owner;
	unsigned callers; /* BY_... */
	unsigned flags;
	int deadline_ms;
	const struct type *(*request)(void); /* NULL: the body is not decoded */
	const struct type *(*reply)(void);   /* NULL: the body is opaque JSON */
	const char *doc;
};

extern const struct method_info method_infos[METHOD_COUNT];

/* The method of a name, or -1. */
int method_by_name(struct str name);
/* Whether methods.def says that `worker` may call some method of `owner`. */
bool method_called_by(enum worker_id worker, enum worker_id owner);
