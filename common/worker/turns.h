/*
 * turns.h - how long the turns of a worker's loop take.
 *
 * A turn lasts from where the loop has waited for events to where it waits again. Whoever
 * sends something to the worker meanwhile waits for its end, so no turn should be longer
 * than TURN_AIM_US. GET /metrics shows the figures (metrics.h).
 *
 * libevent 2.1 has no hook around its wait, so turns.c stands in front of epoll_wait(2),
 * for the thread of the loop only.
 */
#pragma once

#include <stdint.h>

struct turns;

/* Wall time that a turn should take at most. */
#define TURN_AIM_US 10000

/* TURN_LIMIT(microseconds): the upper bounds of the histogram, ascending. */
#define TURN_LIMITS(TURN_LIMIT)                                                          \
	TURN_LIMIT(1000)                                                                 \
	TURN_LIMIT(2000)                                                                 \
	TURN_LIMIT(5000)                                                                 \
	TURN_LIMIT(TURN_AIM_US)                                                          \
	TURN_LIMIT(20000)                                                                \
	TURN_LIMIT(50000)                                                                \
	TURN_LIMIT(100000)                                                               \
	TURN_LIMIT(200000)                                                               \
	TURN_LIMIT(500000)                                                               \
	TURN_LIMIT(1000000)

#define TURN_LIMIT(us) +1
enum { TURN_LIMIT_COUNT = TURN_LIMITS(TURN_LIMIT) };
#undef TURN_LIMIT

extern const int64_t turn_limits_us[TURN_LIMIT_COUNT];

/* Counts the turns of the calling thread's loop from now on. */
void turns_start(void);
/* What was counted; the counts live in an array that is the next call's, too. */
void turns_get(struct turns *out);
