/* buf.c - a growable buffer of bytes (buf.h). */
#include "common/base/buf.h"
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
	size_t room = b->cap - b->len;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(room ? b->data + b->len : NULL, room, format, args);
	va_end(args);
	if (n < 0)
		abort(); /* a format this program wrote is wrong */
	if ((size_t)n >= room) {
		buf_reserve(b, (size_t)n + 1);
		va_start(args, format);
		vsnprintf(b->data + b->len, (size_t)n + 1, format, args);
		va_end(args);
	}
	b->len += (size_t)n;
}

struct str buf_str(const struct buf *b)
{
	return (struct str){b->data ? b->data : "", b->len};
}

void buf_clear(struct buf *b)
{
	b->len = 0;
}

void buf_empty(struct buf *b, size_t keep)
{
	if (b->cap > keep)
		buf_free(b);
	else
		buf_clear(b);
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}
