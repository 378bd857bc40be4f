/*
 * lines.h - takes as many lines of a text as fit into an answer for a model. Pure.
 *
 * A line ends with "\n"; what follows the last one is a line too, even if it is empty
 * (FR-024).
 */
#pragma once

#include "common/base/buf.h"
#include <stdbool.h>
#include <stdint.h>

/* Bytes of JSON for the text in one answer. Leaves room for the other members within what a
 * client shows its model (workers/gateway/tools/mcp_fit.h). */
#define LINES_MAX_BYTES 32000

struct lines_range {
	int64_t first;	/* from 1 */
	int64_t column; /* UTF-16 code unit of the first line to begin with, from 1 */
	int64_t last;	/* INT64_MAX: to the end */
	bool numbered;	/* write the number and a tab before each line */
};

struct lines_taken {
	int64_t last;	     /* the last line of which something was taken; 0: none */
	int64_t next;	     /* where to continue; 0: the range is complete */
	int64_t next_column; /* above 1 inside a line that was too long */
};

int64_t lines_count(struct str text);
/* What follows the first `lines` lines; ptr is NULL when there are not more of them. */
struct str lines_behind(struct str text, int64_t lines);

/* Bytes that a text takes as a JSON string. */
size_t lines_json_size(struct str text);

/* Appends lines of a range while they fit into `max` bytes of JSON, and the beginning of the
 * first line if that alone is too long. */
struct lines_taken lines_take(
	struct str text, const struct lines_range *range, size_t max, struct buf *out);
