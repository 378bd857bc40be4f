/* lines.c - see lines.h. */
#include "workers/fswatch/buffers/lines.h"
#include "common/base/utf8.h"
#include <string.h>

/* "123456789\t" as JSON. */
#define NUMBER_BYTES 12

/* Few enough to be counted in a byte: the compiler counts many at once. */
#define BLOCK_BYTES 128

static unsigned count_block(const char *block)
{
	unsigned char count = 0;

	for (size_t i = 0; i < BLOCK_BYTES; i++)
		count += block[i] == '\n';
	return count;
}

int64_t lines_count(struct str text)
{
	int64_t count = 1;
	size_t i = 0;

	for (; i + BLOCK_BYTES <= text.len; i += BLOCK_BYTES)
		count += count_block(text.ptr + i);
	for (; i < text.len; i++)
		count += text.ptr[i] == '\n';
	return count;
}

struct str lines_behind(struct str text, int64_t lines)
{
	const char *at = text.ptr, *end = text.ptr + text.len;

	while (end - at >= BLOCK_BYTES && count_block(at) < lines) {
		lines -= count_block(at);
		at += BLOCK_BYTES;
	}
	while (at && lines-- > 0) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	return (struct str){at, at ? (size_t)(end - at) : 0};
}

static size_t json_size_of(unsigned char c)
{
	if (c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r' || c == '\b' ||
		c == '\f')
		return 2;
	return c < 0x20 ? 6 : 1;
}

size_t lines_json_size(struct str text)
{
	size_t size = 0;

	for (size_t i = 0; i < text.len; i++)
		size += json_size_of((unsigned char)text.ptr[i]);
	return size;
}

/* As much of a text as takes at most `max` bytes of JSON, whole characters only. */
static struct str fitting(struct str text, size_t max)
{
	size_t size = 0, i = 0;

	while (i < text.len && size + json_size_of((unsigned char)text.ptr[i]) <= max)
		size += json_size_of((unsigned char)text.ptr[i++]);
	return i < text.len ? utf8_cut(text, i) : text;
}

/* Takes the next line off the front, without its end. False at the end of the text. */
static bool next_line(struct str *rest, struct str *line)
{
	const char *end;

	if (!rest->ptr)
		return false;
	end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
	*line = (struct str){rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
	*rest = end ? (struct str){end + 1, rest->len - line->len - 1}
		    : (struct str){NULL, 0};
	return true;
}

static struct str behind(struct str line, int64_t column)
{
	struct str before = utf8_cut_utf16(line, column > 1 ? (size_t)column - 1 : 0);

	return (struct str){line.ptr + before.len, line.len - before.len};
}

struct lines_taken lines_take(
	struct str text, const struct lines_range *range, size_t max, struct buf *out)
{
	struct lines_taken taken = {0};
	const int64_t first = range->first > 1 ? range->first : 1;
	struct str rest = lines_behind(text.ptr ? text : STR_LIT(""), first - 1), line;
	size_t size = 0, head = range->numbered ? NUMBER_BYTES : 0;

	for (int64_t n = first; n <= range->last && next_line(&rest, &line); n++) {
		int64_t column =
			n == range->first && range->column > 1 ? range->column : 1;
		struct str part;

		line = behind(line, column);
		part = line;
		size += head + lines_json_size(line) + 2;
		if (size > max && taken.last) {
			taken.next = n;
			taken.next_column = 1;
			break;
		}
		if (size > max)
			part = fitting(line, max > head + 2 ? max - head - 2 : 0);
		if (range->numbered)
			buf_printf(out, "%lld\t", (long long)n);
		buf_add_str(out, part);
		taken.last = n;
		if (part.len < line.len) {
			taken.next = n;
			taken.next_column = column + (int64_t)utf8_utf16_len(part);
			break;
		}
		if (rest.ptr)
			buf_add_char(out, '\n');
	}
	return taken;
}
