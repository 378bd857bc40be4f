/*
 * brief.h - what is told of buffers and diffs to a model, whose answers are bounded:
 * short texts whole, of long ones a piece and how to ask for the rest.
 */
#ifndef PAIGE_FSWATCH_BUFFERS_BRIEF_H
#define PAIGE_FSWATCH_BUFFERS_BRIEF_H

#include "proto/codec/messages.h"
#include "workers/fswatch/buffers/buffers.h"

/* Makes `out->content`, in the arena: whole, or the range that `in` asks for. 0, or
 * -ERANGE when the buffer has no such line, with *total its lines. */
int brief_buffer(struct str text, const struct tool_get_buffer_input *in,
	struct arena *arena, struct tool_get_buffer_output *out, int64_t *total)
	__attribute__((warn_unused_result));

/* Of a list: what all buffers, and all diffs, may take together. */
#define BRIEF_BUFFERS_BYTES 8000
#define BRIEF_DIFFS_BYTES 16000

/* What is told of a buffer instead of its content. */
struct brief_facts {
	struct wall updated;
	int64_t chars;
};

/* One buffer of a list: leaves out its content when that is long or more than what is
 * left, which becomes less by it. */
void brief_state_buffer(struct state_buffer *item, const struct brief_facts *facts,
	struct arena *arena, size_t *left);

/* One diff, from `start_line` on: cut at a line so that it fits into what is left, which
 * becomes less by it. The text that was cut off is in the arena. */
void brief_diff(
	struct file_diff *item, int64_t start_line, struct arena *arena, size_t *left);

#endif
