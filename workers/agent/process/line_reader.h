/*
 * line_reader.h - lines of bounded length out of a stream of bytes. Pure but for its own
 * memory.
 *
 * Called by process.c. A line longer than the bound is skipped whole and reported once.
 */
#ifndef PAIGE_AGENT_PROCESS_LINE_READER_H
#define PAIGE_AGENT_PROCESS_LINE_READER_H

#include "common/base/buf.h"
#include <stdbool.h>

/* Zero but for `max` is a valid reader at its beginning. */
struct line_reader {
	size_t max; /* bytes of a line, without its newline */
	struct buf held;
	bool skipping;
};

/* `line` without its newline, borrowed during the call; absent: it was too long. */
typedef void line_fn(void *arg, struct str line);

void line_reader_feed(struct line_reader *r, struct str bytes, line_fn *fn, void *arg);
/* The stream has ended: the unfinished line is a line, too. */
void line_reader_end(struct line_reader *r, line_fn *fn, void *arg);
void line_reader_fini(struct line_reader *r);

#endif
