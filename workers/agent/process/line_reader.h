/*
 * line_reader.h - lines of bounded length out of a stream of bytes. Pure but for its own
 * memory.
 *
 * Called by process.c. A line longer than the bound is skipped whole and reported once.
 */
#pragma once

#include "common/base/buf.h"
#include <stdbool.h>

/* Zero but for `max` is a valid reader at its beginning. */
struct line_reader {
	size_t max; /* bytes of a line, without its newline */
	struct buf held;
	bool skipping;
	bool paused; /* set by whoever takes the lines: it takes no more of them for now */
	struct buf rest; /* what was fed and not read because of that */
};

/* `line` without its newline; NULL: it was too long. The callee may take the memory and leave
 * the buffer empty; otherwise it is borrowed during the call. */
typedef void line_fn(void *arg, struct buf *line);

/* While it is paused all that is fed is kept: feed no more then. */
void line_reader_feed(struct line_reader *r, struct str bytes, line_fn *fn, void *arg);
/* Goes on with what was kept; may be paused again by it. */
void line_reader_resume(struct line_reader *r, line_fn *fn, void *arg);
/* The stream has ended: the unfinished line is a line, too. Not while it is paused. */
void line_reader_end(struct line_reader *r, line_fn *fn, void *arg);
void line_reader_fini(struct line_reader *r);
