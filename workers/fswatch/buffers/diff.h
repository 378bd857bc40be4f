/*
 * diff.h - the unified diff from what is on disk to what is in the editor (FR-031).
 *
 * The text is that of a two-file patch with equal names: an Index line, a line of 67 "=",
 * the names, hunks with four lines of context and both counts always written, "\ No
 * newline at end of file" where it is due (R45). A line ends with "\n" only; "\r" and
 * other line ends of the world are part of the line (R47). patch(1) and git apply take
 * it.
 *
 * Pure, but for what libgit2 allocates during the call. Called by one thread only.
 */
#ifndef PAIGE_FSWATCH_BUFFERS_DIFF_H
#define PAIGE_FSWATCH_BUFFERS_DIFF_H

#include "common/base/buf.h"
#include "common/base/str.h"

/* Above this many bytes or lines the part that differs is shown as one hunk, which takes
 * linear time; below, the worst texts take some ten milliseconds. */
#define DIFF_MAX_BYTES (1u * 1024 * 1024)
#define DIFF_MAX_LINES 20000

/*
 * Appends the diff, nothing when the texts are equal. 0, or -ENOMEM when libgit2 failed.
 */
int diff_unified(struct str path, struct str disk, struct str buffer, struct buf *out)
	__attribute__((warn_unused_result));

#endif
