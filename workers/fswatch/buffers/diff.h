/*
 * diff.h - the unified diff from the text on disk to the text in the editor (FR-031).
 *
 * The text is that of a two-file patch with equal names: an Index line, a line of 67 "=",
 * the names, hunks with four lines of context and both counts always written, "\ No
 * newline at end of file" where it belongs (R45). Only "\n" ends a line; "\r" and other
 * line separators are part of the line (R47). patch(1) and git apply accept it.
 *
 * Pure, but for what libgit2 allocates during the call. Called by one thread only.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/str.h"

/* Above these limits the part that differs becomes one hunk, which takes linear time. Below
 * them the worst texts take some ten milliseconds. */
#define DIFF_MAX_BYTES (1u * 1024 * 1024)
#define DIFF_MAX_LINES 20000

/*
 * Appends the diff, or nothing if the texts are equal. 0, or -ENOMEM when libgit2 failed.
 */
int diff_unified(struct str path, struct str disk, struct str buffer, struct buf *out)
	__attribute__((warn_unused_result));
