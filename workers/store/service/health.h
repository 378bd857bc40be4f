/*
 * health.h - the store's condition: whether it can write, and whether its log is kept short.
 *
 * Pure: a few facts make a condition with a reason; serve.c tells the supervisor when it
 * changes.
 */
#pragma once

#include "common/worker/worker.h"
#include "workers/store/db/error_text.h"
#include <stdbool.h>

/* Zero is healthy. */
struct health {
	bool damaged;		   /* found so while running; for good */
	bool misplaced;		   /* the file was moved or removed under us; for good */
	bool failing;		   /* the last transaction could not be written */
	struct error_text problem; /* why it is one of these */
	bool pinned;		   /* the log is over its limit */
	struct error_text pin;	   /* why */
	bool memory_away;	   /* memory.db cannot be used */
	struct error_text memory;  /* why */
	bool memory_pinned;	   /* its log is over its limit */
	struct error_text memory_pin;
	bool streams_away;	   /* guard.db cannot be used or kept short */
	struct error_text streams; /* why */
};

/* `damaged` and `misplaced` forbid all writing: it would make things worse, or be lost.
 */
bool health_may_write(const struct health *health);
/* The condition for /health; *reason is NULL when fine, else valid as long as *health. */
enum worker_condition health_condition(const struct health *health, const char **reason);
