/*
 * kept.h - calls about activity of windows, kept in memory while the disk is full.
 *
 * Nobody waits for the answer to an activity message, and nobody would send it again.
 * While the database cannot be written because there is no room, these calls are answered
 * and kept in memory, up to a bound, and done when there is room again; it is said once.
 * Called by serve.c.
 */
#pragma once

#include "workers/store/service/store.h"

#define KEPT_MAX_CALLS 10000
#define KEPT_MAX_BYTES (8u * 1024 * 1024)

struct kept;

struct kept *kept_new(void);
/* Says how many calls are lost, if any. */
void kept_free(struct kept *k);
/* Keeps a call that failed; its own stays the caller's. False: it is none of these, the
 * database has another fault than a full disk, or too many are kept. */
bool kept_take(struct kept *k, const struct call *call, int error);
/* The oldest of them as a call without a request, or NULL. */
struct call *kept_next(struct kept *k);
/* A call of kept_next is done; `error` is that of its transaction. One that could not be
 * written is kept again. */
void kept_done(struct kept *k, struct call *call, int error);
