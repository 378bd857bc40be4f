/* actions.h - the types of the action log, actions.def, as an enumeration with a table.
 */
#pragma once

#include "common/base/clock.h"
#include "proto/codec/codec.h"

enum action {
#define ACTION(symbol, ...) ACTION_##symbol,
#include "proto/catalogue/actions.def"
#undef ACTION
	ACTION_COUNT
};

struct action_info {
	const char *name;   /* "file_open", as it stands in action_log.action_type */
	unsigned loggers;   /* BY_...: who may ask the store to log it */
	bool user_activity; /* the learner did it: counts for flow and against idleness
			       (P10.2) */
	bool observer;	    /* the Observer hears of it (FR-048) */
	const struct type *(*data)(void);
};

extern const struct action_info action_infos[ACTION_COUNT];

/* Between two calls of a worker with rows that nobody waits for: each of them wakes the
 * store and whoever hears of the rows. */
#define ACTION_REST_MS 8

/* The action of a name, or -1. */
int action_by_name(struct str name);

/* A row for action.append about what happened at `at`. `data` is a message of the action's
 * type. Borrows `id`; the rest is in the arena. */
struct action_row;
void action_row_make(struct arena *arena, enum action action, struct str id,
	struct wall at, const void *data, struct action_row *out);
