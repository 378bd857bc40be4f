/*
 * history.h - the last events of an agent session, for a client that reconnects.
 *
 * Pure but for its own memory; owned by sessions.c. Keeps at most HISTORY_MAX_EVENTS and
 * HISTORY_MAX_BYTES, the newest; dropped ones are counted. The newest event is kept
 * regardless of its size.
 */
#pragma once

#include "common/base/buf.h"
#include <stdint.h>

#define HISTORY_MAX_EVENTS 10000
/* Less than a client's queue may hold. */
#define HISTORY_MAX_BYTES (6u * 1024 * 1024)

struct history_item {
	char *text;
	size_t len;
};

/* Zero is a valid empty history. */
struct history {
	struct history_item *items; /* a ring */
	size_t first, count, bytes;
	uint64_t dropped;
};

/* Copies a message. */
void history_add(struct history *h, struct str message);
/* Takes the memory of a message and leaves the buffer empty. */
void history_take(struct history *h, struct buf *message);
/* The message `i` of those that are kept, oldest first; borrowed. */
struct str history_at(const struct history *h, size_t i);
void history_fini(struct history *h);
