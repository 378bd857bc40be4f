/*
 * tail.h - the last lines of a worker, kept in memory to show with the reason of its exit. Pure.
 */
#pragma once

#include "common/base/buf.h"

#define TAIL_BYTES 8192
#define TAIL_LINES 20

/* Zero is valid and empty. */
struct tail {
	char ring[TAIL_BYTES];
	size_t total; /* bytes ever added */
};

/* `line` is without its newline. Of one longer than a quarter of the ring only the
 * beginning is kept. */
void tail_add(struct tail *t, const char *line, size_t len);
/* Appends the last `lines` lines (at most TAIL_LINES), each with its newline. */
void tail_read(const struct tail *t, size_t lines, struct buf *out);
