/* diff.c - see diff.h. */
#include "workers/fswatch/buffers/diff.h"
#include <errno.h>
#include <git2.h>

#define CONTEXT_LINES 4
#define RULE "==================================================================="

static void add_head(struct buf *out, struct str path)
{
	buf_printf(out, "Index: %.*s\n" RULE "\n--- %.*s\n+++ %.*s\n", STR_ARG(path),
		STR_ARG(path), STR_ARG(path));
}

/* The side without lines starts at 0. */
static void add_hunk_head(struct buf *out, size_t old_start, size_t old_lines,
	size_t new_start, size_t new_lines)
{
	buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", old_start, old_lines, new_start,
		new_lines);
}

/* `line` with its "\n", or without when the file ends there. */
static void add_line(struct buf *out, char sign, struct str line)
{
	buf_add_char(out, sign);
	buf_add_str(out, line);
	if (line.len == 0 || line.ptr[line.len - 1] != '\n')
		buf_add_str(out, STR_LIT("\n\\ No newline at end of file\n"));
}

/* ---- through libgit2 ---- */

static int add_git_hunk(git_patch *patch, size_t i, struct buf *out)
{
	const git_diff_hunk *hunk;
	const git_diff_line *line;
	size_t lines;

	if (git_patch_get_hunk(&hunk, &lines, patch, i) < 0)
		return -ENOMEM;
	add_hunk_head(out, (size_t)hunk->old_start, (size_t)hunk->old_lines,
		(size_t)hunk->new_start, (size_t)hunk->new_lines);
	for (size_t j = 0; j < lines; j++) {
		if (git_patch_get_line_in_hunk(&line, patch, i, j) < 0)
			return -ENOMEM;
		if (line->origin == GIT_DIFF_LINE_CONTEXT ||
			line->origin == GIT_DIFF_LINE_ADDITION ||
			line->origin == GIT_DIFF_LINE_DELETION)
			add_line(out, line->origin,
				(struct str){line->content, line->content_len});
	}
	return 0;
}

static int through_git(
	struct str path, struct str disk, struct str buffer, struct buf *out)
{
	static bool started;
	git_diff_options options;
	git_patch *patch = NULL;
	int error = 0;

	if (!started && git_libgit2_init() < 0)
		return -ENOMEM;
	started = true;
	if (git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION) < 0)
		return -ENOMEM;
	options.context_lines = CONTEXT_LINES;
	options.flags = GIT_DIFF_FORCE_TEXT;
	if (git_patch_from_buffers(&patch, disk.ptr, disk.len, NULL, buffer.ptr,
		    buffer.len, NULL, &options) < 0)
		return -ENOMEM;
	add_head(out, path);
	for (size_t i = 0; !error && i < git_patch_num_hunks(patch); i++)
		error = add_git_hunk(patch, i, out);
	git_patch_free(patch);
	return error;
}

/* ---- as one hunk ---- */

static struct str next_line(struct str *text)
{
	const char *end = memchr(text->ptr, '\n', text->len);
	size_t len = end ? (size_t)(end - text->ptr) + 1 : text->len;
	struct str line = {text->ptr, len};

	text->ptr += len;
	text->len -= len;
	return line;
}

static size_t count_lines(struct str text)
{
	size_t count = 0;

	for (; text.len > 0; count++)
		next_line(&text);
	return count;
}

/* How many lines both begin with, and how many they end with beyond those. */
struct common {
	size_t head, tail;
};

/* Start of the line that ends at `end`. */
static const char *line_start(const char *begin, const char *end)
{
	const char *newline =
		end > begin + 1 ? memrchr(begin, '\n', (size_t)(end - begin) - 1) : NULL;

	return newline ? newline + 1 : begin;
}

static struct common common_lines(struct str a, struct str b)
{
	struct common c = {0, 0};

	while (a.len > 0 && b.len > 0) {
		struct str rest_a = a, rest_b = b;

		if (!str_eq(next_line(&rest_a), next_line(&rest_b)))
			break;
		a = rest_a;
		b = rest_b;
		c.head++;
	}
	while (a.len > 0 && b.len > 0) {
		const char *at_a = line_start(a.ptr, a.ptr + a.len);
		const char *at_b = line_start(b.ptr, b.ptr + b.len);
		size_t len = (size_t)(a.ptr + a.len - at_a);

		if (len != (size_t)(b.ptr + b.len - at_b) || memcmp(at_a, at_b, len) != 0)
			break;
		a.len -= len;
		b.len -= len;
		c.tail++;
	}
	return c;
}

static void add_lines(struct buf *out, char sign, struct str text, size_t from, size_t to)
{
	for (size_t i = 0; i < to; i++) {
		struct str line = next_line(&text);

		if (i >= from)
			add_line(out, sign, line);
	}
}

static void as_one_hunk(
	struct str path, struct str disk, struct str buffer, struct buf *out)
{
	struct common c = common_lines(disk, buffer);
	size_t old = count_lines(disk), new = count_lines(buffer);
	size_t before = c.head < CONTEXT_LINES ? c.head : CONTEXT_LINES;
	size_t after = c.tail < CONTEXT_LINES ? c.tail : CONTEXT_LINES;
	size_t start = c.head - before;
	size_t old_end = old - c.tail, new_end = new - c.tail;

	add_head(out, path);
	add_hunk_head(out, start + (old_end + after > start), old_end + after - start,
		start + (new_end + after > start), new_end + after - start);
	add_lines(out, ' ', disk, start, c.head);
	add_lines(out, '-', disk, c.head, old_end);
	add_lines(out, '+', buffer, c.head, new_end);
	add_lines(out, ' ', disk, old_end, old_end + after);
}

static bool small(struct str text)
{
	return text.len <= DIFF_MAX_BYTES && count_lines(text) <= DIFF_MAX_LINES;
}

int diff_unified(struct str path, struct str disk, struct str buffer, struct buf *out)
{
	if (str_eq(disk, buffer))
		return 0;
	if (small(disk) && small(buffer))
		return through_git(path, disk, buffer, out);
	as_one_hunk(path, disk, buffer, out);
	return 0;
}
