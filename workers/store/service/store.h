/*
 * store.h - state and types that the store's files share.
 *
 * The only program that knows SQLite. Calls come in over
 * the bus, are queued, and run in groups, one transaction each (group.h); a handler reads
 * and writes rows and says what is to be answered and published once the transaction is
 * durable.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/bus/bus.h"
#include "proto/tables/errors.h"
#include "workers/store/db/statements.h"
#include "workers/store/service/group.h"
#include "workers/store/service/health.h"
#include "workers/store/service/keys.h"
#include "workers/store/service/open_calls.h"
#include "workers/store/service/paid_works.h"
#include "workers/store/service/sessions.h"

struct consent;
struct memory;
struct store;

/* An event for the bus, sent once the transaction is durable. */
struct publication {
	struct publication *next;
	const char *topic;
	struct str body; /* JSON */
};

/* One call, from its arrival until it is answered. Lives in its own arena, as all that
 * its handler makes. */
struct call {
	enum method method;
	const struct service *service;
	struct str key;	     /* absent unless the method is keyed */
	const void *message; /* decoded request, NULL for a method without; of a
				SERVICE_TOOL its arguments */
	const struct tool_request *tool; /* of a SERVICE_TOOL, else NULL */
	struct wall
		arrived; /* what happened, happened then, however long it waits here */
	struct mono deadline;
	struct arena *arena;
	struct bus_request *request; /* NULL in unit tests, and of kept.h */

	/* What came of it; forgotten when its transaction is undone. */
	struct call_outcome {
		struct str answer; /* JSON; absent: an error, or `after` answers */
		const struct error_code_info *error; /* NULL when it went well */
		struct str message;
		struct publication *first, **last;
		/* Once the transaction is durable, before anything is published. */
		void (*committed)(struct store *store, struct call *call);
		/* Instead of the answer: goes on once the transaction is durable, and
		 * answers later. */
		void (*after)(struct store *store, struct call *call);
		void *after_data;
	} outcome;

	void *progress; /* of a handler that is called again (memory.h), NULL at first */
	struct call *next; /* in the queue of group.h */
};

/*
 * Runs inside a transaction. 0 with an outcome, -ECANCELED after call_refuse, or the
 * -errno of the database. What it changed in store->sessions is undone together with its
 * rows.
 */
typedef int service_fn(struct store *store, struct call *call);

enum service_flags {
	SERVICE_WRITES = 1 << 0,
	/* More than one statement that writes: needs a savepoint of its own, unless it is
	 * alone in the transaction. */
	SERVICE_MANY = 1 << 1,
	/* Writes log rows alone: done even when the caller has given up waiting, since
	 * nobody waits for them; the ids of the rows alone show a repeat. */
	SERVICE_LATE = 1 << 2,
	/* On memory.db instead of paige.db (memory.h). */
	SERVICE_MEMORY = 1 << 3,
	/* On guard.db: the handler gets the store of streams.h. */
	SERVICE_STREAMS = 1 << 4,
	/* Of what people do, and nobody sends it again: kept while the disk is full
	 * (kept.h). */
	SERVICE_KEPT = 1 << 5,
	/* A tool: the request is a tool_request, and its call is logged with what it does
	 * (tool_calls.h). */
	SERVICE_TOOL = 1 << 6,
};

struct service {
	enum method method;
	service_fn *handler;
	unsigned flags;
};

/* All methods of the store in proto/catalogue/methods.def. */
extern const struct service services[];
extern const size_t services_count;

struct store {
	struct worker *worker; /* NULL in unit tests, as the bus and the timers */
	struct bus *bus;
	const char *project_dir;
	struct database db;
	struct sessions sessions;
	struct keys *keys;
	struct group group;
	struct health health;
	struct memory *memory; /* borrowed */
	struct open_calls open_calls;
	struct paid_works paid_works;
	struct consent *consent; /* that rows are carried to PostgreSQL; borrowed */
	struct wall started;	 /* when this process began */
	unsigned long dropped;	 /* actions without a session, not warned of yet */
	/* guard.db is a store beside this one (streams.h); it knows this one. */
	struct store *streams, *beside;
	char *path;			       /* of a store beside another one */
	struct mono reopen_after;	       /* while its file cannot be used */
	struct serve *serve;		       /* of serve.c */
	struct upkeep *upkeep;		       /* of upkeep.c */
	struct backup_service *backup_service; /* of backup_service.c */
};

/* ---- for handlers ---- */

/* Answers with the method's reply type. */
void call_answer(struct call *call, const void *reply);
/* Answers with JSON text in the call's arena. */
void call_answer_text(struct call *call, struct str json);
/* Refuses: an error to the caller, and nothing of what the handler did stays. Returns
 * -ECANCELED. */
int call_refuse(struct call *call, enum error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* To be published after the commit. `topic` is copied. */
void call_publish(
	struct call *call, const char *topic, const struct type *type, const void *body);
/* The message as JSON text in the call's arena. */
struct str call_encode(struct call *call, const struct type *type, const void *message);
/* The id of row n of this call (row_ids.h); the key was checked when the call came in. */
void call_row_id(const struct call *call, unsigned n, char out[UUID_SIZE]);
/*
 * When the caller made the call, which its key tells, also when it is repeated; else when
 * it arrived. For rows that a repeated call must write just as the first time.
 */
struct wall call_made(const struct call *call);
/* When the call arrived, as rows have it. */
void call_time(const struct call *call, char out[WALL_ISO_SIZE]);
