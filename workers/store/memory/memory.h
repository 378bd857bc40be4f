/*
 * memory.h - memory.db: memories of all sessions (MEMORY=embedded, story 8).
 *
 * Beside paige.db and by the same rules. Nothing else depends on it: while it cannot be
 * used, memories are unavailable, the worker is degraded, and the rest goes on. A search
 * looks at every vector in slices between which the loop turns; calls are served one
 * after the other.
 */
#pragma once

#include "common/base/clock.h"
#include "workers/store/db/database.h"
#include "workers/store/db/wal_timer.h"
#include "workers/store/service/group.h"

struct store;
struct call;

/* Between two attempts to open a file that could not be opened. */
#define MEMORY_REOPEN_MS 10000
/* Between two attempts while another process has the file locked. */
#define MEMORY_LOCKED_MS 20

extern const struct schema memory_schema;

enum memory_statement {
	MEMORY_STATEMENT_BEFORE_FIRST = STATEMENTS_OF_ALL - 1,
#define STATEMENT(name, sql) MEMORY_##name,
#include "workers/store/memory/memory_statements.def"
#undef STATEMENT
};

/* Zero before memory_open. */
struct memory {
	char *path;
	struct database db;
	bool open;
	bool given_up;		/* damaged, foreign or taken away: until the next start */
	struct mono open_after; /* the next attempt to open it */
	struct wal_timer wal_timer;
	struct group queue; /* calls that wait; the first one is being served */
	struct event *turn; /* NULL in unit tests */
};

/* ---- the file (memory.c) ---- */

/* Opens DATA_DIR/memory.db. When that fails, store->health says why, and memory_ready
 * tries again. */
void memory_open(struct store *store, const char *data_dir);
void memory_close(struct store *store);
/* Whether it can be used now; opens it when its time has come. */
bool memory_ready(struct store *store);
/* After -errno of a statement on memory.db: undoes what was begun, gives the file up when
 * it is damaged, and refuses the call. Returns what a handler returns: -ECANCELED, or
 * -EBUSY to be called again. */
int memory_failed(struct store *store, struct call *call, int error)
	__attribute__((warn_unused_result));
/* After a commit. */
void memory_committed(struct store *store);

static inline sqlite3_stmt *memory_query(
	struct memory *memory, enum memory_statement which)
{
	return query_begin(&memory->db, which);
}

/* ---- calls (memory_queue.c) ---- */

/* Queues a call to a service below; it is answered when it is done. */
void memory_take(struct store *store, struct call *call);
/* How many are queued. */
size_t memory_waiting(const struct store *store);

/*
 * Services. As those of store.h, but on memory.db, outside the transactions of paige.db;
 * 1 when it wants to be called again (call->progress is its own), -EBUSY when the file is
 * locked.
 */
int memory_add(struct store *store, struct call *call);
int memory_search(struct store *store, struct call *call);
int memory_count(struct store *store, struct call *call);
