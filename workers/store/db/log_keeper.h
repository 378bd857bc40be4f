/*
 * log_keeper.h - keeps the write-ahead log of one open database short (R32): does what
 * wal.h decides, on a timer of the loop.
 */
#ifndef PAIGE_STORE_DB_LOG_KEEPER_H
#define PAIGE_STORE_DB_LOG_KEEPER_H

#include "workers/store/db/database.h"
#include "workers/store/db/wal.h"
#include <event2/event.h>

/* Zero before log_keeper_start and after log_keeper_stop. */
struct log_keeper {
	struct database *db;
	struct wal_policy policy;
	struct event *timer;
	uint64_t commits; /* of the database, seen so far */
	/* Called when `pinned` may have changed. */
	void (*on_change)(void *arg);
	void *arg;
	bool pinned;	    /* the log is over its limit and cannot be cut */
	struct problem pin; /* why */
};

/* `db` is borrowed until log_keeper_stop. What a killed process left in the log is cut in
 * the first pause. */
void log_keeper_start(struct log_keeper *k, struct event_base *base, struct database *db,
	void (*on_change)(void *arg), void *arg);
/* After a transaction. True when something was committed since the last time. */
bool log_keeper_after_commit(struct log_keeper *k);
/* Ends the timer and, if `cut`, cuts the log, as the last thing before the database is
 * closed. False when that was wanted and failed. */
bool log_keeper_stop(struct log_keeper *k, bool cut);

#endif
