/*
 * lines.h - lines of a text, as many as fit into an answer for a model. Pure.
 *
 * A line ends with "\n"; what is behind the last one is a line too, also when it is empty
 * (FR-024).
 */
#ifndef PAIGE_FSWATCH_BUFFERS_LINES_H
#define PAIGE_FSWATCH_BUFFERS_LINES_H

#include "common/base/buf.h"
#include <stdbool.h>
#include <stdint.h>

/* For one answer: bytes of its JSON. Leaves room for the members beside the text in what
 * a client shows its model (workers/gateway/tools/mcp_fit.h). */
#define LINES_MAX_BYTES 32000

struct lines_range {
	int64_t first;	/* from 1 */
	int64_t column; /* UTF-16 code unit of the first line to begin with, from 1 */
	int64_t last;	/* INT64_MAX: to the end */
	bool numbered;	/* each line behind its number and a tab */
};

struct lines_taken {
	int64_t last;	     /* the last line of which something was taken; 0: none */
	int64_t next;	     /* where to go on; 0: nothing of the range is left */
	int64_t next_column; /* above 1 within a line that was too long */
};

int64_t lines_count(struct str text);

/* Bytes that a text takes as a JSON string. */
size_t lines_json_size(struct str text);

/* Appends lines of a range while they fit into `max` bytes of JSON; of a first line that
 * is too long, the beginning. */
struct lines_taken lines_take(
	struct str text, const struct lines_range *range, size_t max, struct buf *out);

#endif
