/*
 * streams.h - guard.db: the streams of the guard machines.
 *
 * A second store beside the first: the same groups, locks, health and care (store.h), on
 * a file of its own. Coaching does not depend on it: while it cannot be used, guards are
 * unavailable, the worker is degraded, and the rest continues. The services are in
 * streams_append.c and streams_read.c; each gets this store, not the one of paige.db.
 */
#pragma once

#include "workers/store/service/store.h"
#include "workers/store/streams/stream_chain.h"

/* Between two attempts to open a file that could not be opened. */
#define STREAMS_REOPEN_MS 10000
/* What fits into one answer. */
#define STREAMS_PAGE_ROWS 2000
#define STREAMS_PAGE_BYTES (4u * 1024 * 1024)
#define STREAMS_PAGE_STREAMS 1000

extern const struct schema streams_schema;

enum streams_statement {
	STREAMS_STATEMENT_BEFORE_FIRST = STATEMENTS_OF_ALL - 1,
#define STATEMENT(name, sql) STREAMS_##name,
#include "workers/store/streams/streams_statements.def"
#undef STATEMENT
};

/* The store of guard.db, beside `main`. Opened with streams_open; asked for by serve.c.
 */
struct store *streams_new(struct store *main);
/* Opens DATA_DIR/guard.db; when that fails, health says why, and streams_ready tries
 * again. */
void streams_open(struct store *streams, const char *data_dir);
/* Whether it can be used now; opens it when its time has come. */
bool streams_ready(struct store *streams);
void streams_close(struct store *streams);

/* ---- for the services ---- */

/* A stream as its line in the table has it. */
struct stream_head {
	int64_t number;
	int64_t cursor;
	struct stream_chain chain; /* of the last row */
	struct str last_key;
	struct stream_clock clock;
};

/* 1 found, 0 not there, or -errno. Texts are in the call's arena. */
int streams_get(struct store *streams, struct call *call, int kind, struct str id,
	struct stream_head *head);
/* Refuses the call: no such stream. */
int streams_not_found(struct call *call);
