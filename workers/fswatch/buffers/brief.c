/* brief.c - see brief.h. */
#include "workers/fswatch/buffers/brief.h"
#include "workers/fswatch/buffers/lines.h"
#include <errno.h>

/* Of one buffer, and of all, in a list of buffers. */
#define LISTED_BUFFER_BYTES 2000
#define LISTED_BUFFERS_BYTES 8000
#define LISTED_DIFFS_BYTES 16000
/* A piece of a diff below this says nothing. */
#define MIN_DIFF_BYTES 200

static void tell_more(struct arena *arena, const struct lines_taken *taken, int64_t total,
	struct tool_get_buffer_output *out)
{
	if (taken->next_column > 1)
		out->more = arena_printf(arena,
			"Line %lld goes on, of %lld lines. Call again with startLine "
			"%lld "
			"and startColumn %lld.",
			(long long)taken->next, (long long)total, (long long)taken->next,
			(long long)taken->next_column);
	else if (taken->next > 0)
		out->more = arena_printf(arena,
			"Lines %lld to %lld are left. Call again with startLine %lld.",
			(long long)taken->next, (long long)total, (long long)taken->next);
}

int brief_buffer(struct str text, const struct tool_get_buffer_input *in,
	struct arena *arena, struct tool_get_buffer_output *out, int64_t *total)
{
	bool part = in->has_start_line || in->has_end_line || in->has_start_column;
	struct lines_range range = {
		.first = in->has_start_line ? in->start_line : 1,
		.column = in->has_start_column ? in->start_column : 1,
		.last = INT64_MAX,
		.numbered = true,
	};
	struct lines_taken taken;
	struct buf lines = {0};

	if (!part && lines_json_size(text) <= LINES_MAX_BYTES) {
		out->content = text;
		return 0;
	}
	*total = lines_count(text);
	if (range.first > *total)
		return -ERANGE;
	/* An end behind the last line means the last line. */
	range.last = in->has_end_line && in->end_line < *total ? in->end_line : *total;
	taken = lines_take(text, &range, LINES_MAX_BYTES, &lines);
	out->content = arena_str(arena, lines.data ? buf_str(&lines) : STR_LIT(""));
	buf_free(&lines);
	out->start_line = range.first;
	out->end_line = taken.last;
	out->total_lines = *total;
	out->has_start_line = out->has_end_line = out->has_total_lines = true;
	tell_more(arena, &taken, range.last, out);
	return 0;
}

void brief_buffers(const struct buffers *buffers, struct arena *arena,
	struct state_buffer *items, size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		const struct buffer *buffer = buffers_find(buffers, items[i].path);
		/* At least a byte of JSON for each byte. */
		size_t own = items[i].content.len <= LISTED_BUFFER_BYTES
				     ? lines_json_size(items[i].content)
				     : SIZE_MAX;
		char *updated;

		if (!buffer || (own <= LISTED_BUFFER_BYTES &&
				       size + own <= LISTED_BUFFERS_BYTES)) {
			size += own;
			continue;
		}
		updated = arena_alloc(arena, WALL_ISO_SIZE);
		wall_iso(buffer->updated, updated);
		items[i].last_updated = str_of(updated);
		items[i].size = buffer->chars;
		items[i].lines = lines_count(items[i].content);
		items[i].has_size = items[i].has_lines = true;
		items[i].content = (struct str){NULL, 0};
	}
}

void brief_diffs(
	struct arena *arena, struct file_diff *items, size_t count, int64_t start_line)
{
	size_t left = count > 1 ? LISTED_DIFFS_BYTES : LINES_MAX_BYTES;

	for (size_t i = 0; i < count; i++) {
		struct lines_range range = {
			.first = i == 0 && start_line > 0 ? start_line : 1,
			.last = INT64_MAX};
		struct lines_taken taken = {.next = 1};
		struct buf lines = {0};

		if (left >= MIN_DIFF_BYTES)
			taken = lines_take(items[i].diff, &range, left, &lines);
		if (taken.next > 0) {
			/* A line that is too long is cut: it can be read in the buffer.
			 */
			int64_t next = taken.next + (taken.next_column > 1);

			items[i].more = arena_printf(arena,
				"The diff goes on; it has %lld lines. Call "
				"paige_get_diff "
				"with this path and startLine %lld, or read the buffer.",
				(long long)lines_count(items[i].diff), (long long)next);
		}
		if (taken.next > 0 || range.first > 1)
			items[i].diff = arena_str(
				arena, lines.data ? buf_str(&lines) : STR_LIT(""));
		left -= left < lines_json_size(items[i].diff)
				? left
				: lines_json_size(items[i].diff);
		buf_free(&lines);
	}
}
