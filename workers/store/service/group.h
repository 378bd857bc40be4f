/*
 * group.h - group commit: everything that waits runs in one transaction, in the order in
 * which it came.
 *
 * One sync of the disk makes a whole group durable, which is what lets thousands of rows
 * a second be durable one and all. A call that is refused or fails does not undo the
 * others: it has a savepoint unless it is alone. Answers and publications leave after the
 * commit only.
 */
#pragma once

#include "workers/store/db/error_text.h"
#include <stdbool.h>
#include <stddef.h>

struct store;
struct call;

/* So many calls at most in one transaction, so that the loop turns in between. */
#define GROUP_MAX_CALLS 2048
#define GROUP_MAX_BYTES (4u * 1024 * 1024)

/* Calls that wait. Zero is an empty queue. */
struct group {
	struct call *first;
	struct call **last;
	size_t waiting;
	struct error_text problem; /* of the last transaction that failed */
	int error; /* of the transaction whose calls are being handed over: 0 or -errno */
};

void group_add(struct group *group, struct call *call);
/* Takes out the first one; there must be one. */
struct call *group_take(struct group *group);

/*
 * Runs the calls at the head of the queue in one transaction. Those that are done are
 * handed to `done`, each once, in order, with their outcome; `done` may not add calls. 0;
 * -EBUSY when another process holds the lock: the queue is as it was, try again; or the
 * -errno that the whole transaction failed with: its calls are handed over with that
 * error as outcome, and nothing of them stands.
 */
int group_run(struct store *store, void (*done)(struct store *store, struct call *call))
	__attribute__((warn_unused_result));
