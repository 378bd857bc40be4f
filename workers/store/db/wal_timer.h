/*
 * wal_timer.h - keeps the write-ahead log of one open database short (R32): a timer of the
 * loop that does what wal.h decides.
 */
#pragma once

#include "workers/store/db/database.h"
#include "workers/store/db/wal.h"
#include <event2/event.h>

/* Zero before wal_timer_start and after wal_timer_stop. */
struct wal_timer {
	struct database *db;
	struct wal_policy policy;
	struct event *timer;
	uint64_t commits; /* of the database, seen so far */
	/* Called when `pinned` may have changed. */
	void (*on_change)(void *arg);
	void *arg;
	bool pinned;	       /* the log is over its limit and cannot be cut */
	struct error_text pin; /* why */
};

/* `db` is borrowed until wal_timer_stop. The first pause truncates what a killed process left
 * in the log. */
void wal_timer_start(struct wal_timer *k, struct event_base *base, struct database *db,
	void (*on_change)(void *arg), void *arg);
/* Call after each transaction. True if anything was committed since the last call. */
bool wal_timer_after_commit(struct wal_timer *k);
/* Stops the timer and, if `cut`, truncates the log; call it last, before closing the
 * database. False if truncating failed. */
bool wal_timer_stop(struct wal_timer *k, bool cut);
