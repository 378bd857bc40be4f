/*
 * diffs.h - unsaved edits compared with their files (FR-031), beside the loop: a diff of
 * megabytes keeps nobody else waiting.
 *
 * The loop copies the edits, a thread of its own reads the files and compares, and the
 * loop goes on with what came of it. Diffs are made one after the other.
 */
#ifndef PAIGE_FSWATCH_DIFFS_H
#define PAIGE_FSWATCH_DIFFS_H

#include "proto/codec/messages.h"
#include "workers/fswatch/fswatch.h"

/* Copies of edits that may wait to be compared; beyond it a request is refused. */
#define DIFFS_MAX_BYTES (128u * 1024 * 1024)

/* All in the arena of the request. `error` is why the last that failed did. */
struct diffs {
	struct file_diff *items;
	size_t count;
	int error;
};

typedef void diffs_done_fn(struct fswatch *fs, struct bus_request *request,
	const void *message, struct diffs *diffs);

struct diffs_query {
	const struct buffer *one; /* NULL: all */
	bool brief;		  /* as brief.h cuts them */
	int64_t start_line;	  /* of the first, when `brief` */
	const void *message;	  /* of the request, for `done` */
	diffs_done_fn *done;
};

/* Makes the diffs, by path; calls `done` on the loop, or answers BUSY. Buffers without
 * unsaved edits, or equal to their files, have none (P3.7). */
void diffs_make(
	struct fswatch *fs, struct bus_request *request, const struct diffs_query *query);

#endif
