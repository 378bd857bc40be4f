/*
 * lines.h - splits a stream of bytes into lines. Pure but for its own buffer; called by
 * logs.c.
 *
 * A line longer than LINES_MAX is truncated and marked, and its rest skipped: a worker
 * cannot make the supervisor grow.
 */
#pragma once

#include "common/base/log.h"
#include <stdbool.h>
#include <stddef.h>

#define LINES_MAX (LOG_LINE_MAX - 1)
#define LINES_CUT_MARK "...[cut]"

/* Zero is valid: nothing read yet. */
struct lines {
	char held[LINES_MAX];
	size_t len;
	bool skipping; /* past LINES_MAX, until the newline */
};

/* `line` is without its newline, at most LINES_MAX long, and valid during the call. */
typedef void lines_fn(void *arg, const char *line, size_t len);

void lines_feed(struct lines *l, const char *data, size_t len, lines_fn *fn, void *arg);
/* The stream has ended: the unfinished line is a line, too. */
void lines_flush(struct lines *l, lines_fn *fn, void *arg);
