/*
 * serve.h - from the bus to handlers and back: queues calls, runs groups, answers,
 * publishes.
 *
 * While another process holds a lock, the loop tries again instead of waiting, so that
 * it never blocks; calls wait in order meanwhile. upkeep.h has the loop's work between
 * calls.
 */
#pragma once

#include "common/base/clock.h"
#include <stdbool.h>
#include <stddef.h>

struct store;
struct call;
struct event;

/* More calls than this are not queued but answered BUSY. */
#define SERVE_MAX_WAITING 50000
/* Pauses between attempts while the database is locked. */
#define SERVE_RETRY_MIN_MS 2
#define SERVE_RETRY_MAX_MS 50
/* A lock held for longer is logged. */
#define SERVE_LOCKED_WARN_MS 1000
/* Log rows that fail are warned of once in this time. */
#define SERVE_UNLOGGED_WARN_MS 1000

/* What serving needs of the databases beside paige.db. */
struct serve_beside {
	/* Of guard.db: whether it can be used now. */
	bool (*streams_ready)(struct store *streams);
	/* Of memory.db: takes a call, and how many wait there. */
	void (*memory_take)(struct store *store, struct call *call);
	size_t (*memory_waiting)(const struct store *store);
};

/* Registers all services with the bus. `beside` is borrowed for the life of the process.
 */
void serve_open(struct store *store, const struct serve_beside *beside);
void serve_close(struct store *store);
/* The database can be written again: what was kept is done. */
void serve_wake(struct store *store);

/* Sends the answer or the error of a call, which is gone then. For what goes on after a
 * commit. */
void serve_answer(struct store *store, struct call *call);
