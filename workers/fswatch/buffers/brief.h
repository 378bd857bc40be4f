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

/* Leaves out the content of long buffers, and of those that would make the whole long. */
void brief_buffers(const struct buffers *buffers, struct arena *arena,
	struct state_buffer *items, size_t count);

/* Cuts diffs at lines so that all of them fit; the first begins with `start_line`. */
void brief_diffs(
	struct arena *arena, struct file_diff *items, size_t count, int64_t start_line);

#endif
