/* buf.c - a growable buffer of bytes (buf.h). */
#include "common/buf.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

char *buf_reserve(struct buf *b, size_t more)
{
	size_t need, cap;
	char *data;

	if (__builtin_add_overflow(b->len, more, &need))
		abort();
	if (need > b->cap || !b->data) {
		cap = b->cap ? b->cap : 64;
		while (cap < need)
			cap = cap < SIZE_MAX / 2 ? cap * 2 : need;
		data = realloc(b->data, cap);
		if (!data) {
			fprintf(stderr, "out of memory (%zu bytes)\n", cap);
			abort();
		}
		b->data = data;
		b->cap = cap;
	}
	return b->data + b->len;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	char *to = buf_reserve(b, len);

	if (len)
		memcpy(to, data, len);
	b->len += len;
}

void buf_add_str(struct buf *b, struct str s)
{
	buf_add(b, s.ptr, s.len);
}

void buf_add_char(struct buf *b, char c)
{
	*buf_reserve(b, 1) = c;
	b->len++;
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0)
		abort(); /* a format this program wrote is wrong */
	buf_reserve(b, (size_t)n + 1);
	va_start(args, format);
	vsnprintf(b->data + b->len, (size_t)n + 1, format, args);
	va_end(args);
	b->len += (size_t)n;
}

/* Length of the well-formed UTF-8 sequence at p, 0 when there is none (Unicode table
 * 3-7). */
static size_t sequence_length(const unsigned char *p, size_t left)
{
	unsigned char low = 0x80, high = 0xBF;
	size_t n;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xC2 && p[0] <= 0xDF)
		n = 2;
	else if (p[0] >= 0xE0 && p[0] <= 0xEF)
		n = 3;
	else if (p[0] >= 0xF0 && p[0] <= 0xF4)
		n = 4;
	else
		return 0;
	if (left < n)
		return 0;
	if (p[0] == 0xE0)
		low = 0xA0;
	else if (p[0] == 0xED)
		high = 0x9F;
	else if (p[0] == 0xF0)
		low = 0x90;
	else if (p[0] == 0xF4)
		high = 0x8F;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	return n;
}

static void add_escaped(struct buf *b, unsigned char c)
{
	switch (c) {
	case '"':
		buf_add(b, "\\\"", 2);
		break;
	case '\\':
		buf_add(b, "\\\\", 2);
		break;
	case '\n':
		buf_add(b, "\\n", 2);
		break;
	case '\r':
		buf_add(b, "\\r", 2);
		break;
	case '\t':
		buf_add(b, "\\t", 2);
		break;
	default:
		buf_printf(b, "\\u%04x", c);
		break;
	}
}

void buf_add_json_string(struct buf *b, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.ptr;
	size_t start = 0, i = 0;

	buf_add_char(b, '"');
	while (i < s.len) {
		size_t n = sequence_length(p + i, s.len - i);

		if (n && p[i] >= 0x20 && p[i] != '"' && p[i] != '\\') {
			i += n;
			continue;
		}
		buf_add(b, p + start, i - start);
		if (n)
			add_escaped(b, p[i]);
		else
			buf_add(b, "\xEF\xBF\xBD", 3);
		i++;
		start = i;
	}
	buf_add(b, p + start, i - start);
	buf_add_char(b, '"');
}

struct str buf_str(const struct buf *b)
{
	return (struct str){b->data ? b->data : "", b->len};
}

void buf_clear(struct buf *b)
{
	b->len = 0;
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}
