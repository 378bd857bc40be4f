/*
 * diffs.h - unsaved edits compared with their files (FR-031), beside the loop: a diff of
 * megabytes keeps nobody else waiting.
 *
 * The loop copies the edit, a thread of its own reads the file and compares, and the loop
 * goes on with what came of it. Diffs are made one after the other.
 */
#pragma once

#include "proto/codec/messages.h"
#include "workers/fswatch/fswatch.h"

/* Copies of edits that may wait to be compared; beyond it a request is refused. */
#define DIFFS_MAX_BYTES (128u * 1024 * 1024)

/*
 * Appends the unified diff of an edit to the file on disk; nothing when they are equal
 * (P3.7). `path` is NUL-terminated, `scratch` is read_content_fini's in the end. 0, or why
 * they cannot be compared: -ENOTSUP for a binary file. For any thread.
 */
int diff_with_disk(const struct project *project, struct str path, struct str edit,
	struct file_content *scratch, struct buf *out)
	__attribute__((warn_unused_result));

/* Cut as brief.h does it, in the arena of the request. */
struct diff_made {
	struct file_diff diff; /* without a path when there is none */
	int error;	       /* of diff_with_disk */
};

typedef void diff_done_fn(struct fswatch *fs, struct bus_request *request,
	const void *message, struct diff_made *made);

struct diff_query {
	const struct buffer *buffer;
	int64_t start_line;
	const void *message; /* of the request, for `done` */
	diff_done_fn *done;
};

/* Makes the diff of a buffer; calls `done` on the loop, or answers BUSY. */
void diff_make(
	struct fswatch *fs, struct bus_request *request, const struct diff_query *query);
