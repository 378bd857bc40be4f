/* brief.c - see brief.h. */
#include "workers/fswatch/buffers/brief.h"
#include "workers/fswatch/buffers/lines.h"
#include <errno.h>

/* Of one buffer in a list of buffers. */
#define LISTED_BUFFER_BYTES 2000
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

int brief_buffer(struct str text, int64_t total, const struct tool_get_buffer_input *in,
	struct arena *arena, struct tool_get_buffer_output *out)
{
	bool part = in->has_start_line || in->has_end_line || in->has_start_column;
	struct lines_range range = {
		.first = in->has_start_line ? in->start_line : 1,
		.column = in->has_start_column ? in->start_column : 1,
		.last = INT64_MAX,
		.numbered = true,
	};
	struct lines_taken taken;
	AUTO_BUF lines = {0};

	if (!part && text.len <= LINES_MAX_BYTES &&
		lines_json_size(text) <= LINES_MAX_BYTES) {
		out->content = text;
		return 0;
	}
	if (range.first > total)
		return -ERANGE;
	/* An end behind the last line means the last line. */
	range.last = in->has_end_line && in->end_line < total ? in->end_line : total;
	taken = lines_take(text, &range, LINES_MAX_BYTES, &lines);
	out->content = arena_str(arena, lines.data ? buf_str(&lines) : STR_LIT(""));
	out->start_line = range.first;
	out->end_line = taken.last;
	out->total_lines = total;
	out->has_start_line = out->has_end_line = out->has_total_lines = true;
	tell_more(arena, &taken, range.last, out);
	return 0;
}

void brief_state_buffer(struct state_buffer *item, const struct brief_facts *facts,
	struct arena *arena, size_t *left)
{
	/* At least a byte of JSON for each byte. */
	size_t own = item->content.len <= LISTED_BUFFER_BYTES
			     ? lines_json_size(item->content)
			     : SIZE_MAX;
	char *updated;

	if (own <= LISTED_BUFFER_BYTES && own <= *left) {
		*left -= own;
		return;
	}
	updated = arena_alloc(arena, WALL_ISO_SIZE);
	wall_iso(facts->updated, updated);
	item->last_updated = str_of(updated);
	item->size = facts->chars;
	item->lines = lines_count(item->content);
	item->has_size = item->has_lines = true;
	item->content = (struct str){NULL, 0};
}

void brief_diff(
	struct file_diff *item, int64_t start_line, struct arena *arena, size_t *left)
{
	struct lines_range range = {
		.first = start_line > 0 ? start_line : 1, .last = INT64_MAX};
	struct lines_taken taken = {.next = 1};
	AUTO_BUF lines = {0};
	size_t own;

	if (*left >= MIN_DIFF_BYTES)
		taken = lines_take(item->diff, &range, *left, &lines);
	if (taken.next > 0) {
		/* A line that is too long is cut: it can be read in the buffer. */
		int64_t next = taken.next + (taken.next_column > 1);

		item->more = arena_printf(arena,
			"The diff goes on; it has %lld lines. Call "
			"paige_get_diff "
			"with this path and startLine %lld, or read the buffer.",
			(long long)lines_count(item->diff), (long long)next);
	}
	if (taken.next > 0 || range.first > 1)
		item->diff = arena_str(arena, lines.data ? buf_str(&lines) : STR_LIT(""));
	own = lines_json_size(item->diff);
	*left -= *left < own ? *left : own;
}
