/*
 * brief.h - shortens buffers and diffs for a model, whose answers are bounded: short texts
 * stay whole; of a long one the model gets a piece, and how to ask for the rest.
 */
#pragma once

#include "proto/codec/messages.h"
#include "workers/fswatch/buffers/buffers.h"

/* Fills `out->content` in the arena: the whole text, of so many lines, or the range that `in` asks for.
 * 0, or -ERANGE when it has no such line. */
int brief_buffer(struct str text, int64_t total, const struct tool_get_buffer_input *in,
	struct arena *arena, struct tool_get_buffer_output *out)
	__attribute__((warn_unused_result));

/* Bytes that all buffers, and all diffs, of a list may take together. */
#define BRIEF_BUFFERS_BYTES 8000
#define BRIEF_DIFFS_BYTES 16000

/* What the model gets of a buffer instead of its content. */
struct brief_facts {
	struct wall updated;
	int64_t chars;
};

/* Takes one buffer of a list: leaves out its content if that is long or exceeds *left, and
 * reduces *left by what it takes. */
void brief_state_buffer(struct state_buffer *item, const struct brief_facts *facts,
	struct arena *arena, size_t *left);

/* Takes one diff from `start_line` on: cuts it at a line so that it fits into *left, and
 * reduces *left by what it takes. A shortened text lies in the arena. */
void brief_diff(
	struct file_diff *item, int64_t start_line, struct arena *arena, size_t *left);
