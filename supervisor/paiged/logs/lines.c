/* lines.c - see lines.h. */
#include "supervisor/paiged/logs/lines.h"

#include <string.h>

static void emit(struct lines *l, lines_fn *fn, void *arg)
{
	fn(arg, l->held, l->len);
	l->len = 0;
}

/* Adds what fits; a line that is too long is handed out at once, cut. */
static void hold(struct lines *l, const char *data, size_t len, lines_fn *fn, void *arg)
{
	static const char mark[] = LINES_CUT_MARK;
	size_t room = sizeof(l->held) - l->len;

	if (l->skipping)
		return;
	if (len <= room) {
		memcpy(l->held + l->len, data, len);
		l->len += len;
		return;
	}
	memcpy(l->held + l->len, data, room);
	l->len = sizeof(l->held);
	memcpy(l->held + sizeof(l->held) - (sizeof(mark) - 1), mark, sizeof(mark) - 1);
	l->skipping = true;
	emit(l, fn, arg);
}

void lines_feed(struct lines *l, const char *data, size_t len, lines_fn *fn, void *arg)
{
	while (len > 0) {
		const char *newline = memchr(data, '\n', len);
		size_t n = newline ? (size_t)(newline - data) : len;

		if (newline && l->len == 0 && !l->skipping && n <= LINES_MAX) {
			fn(arg, data, n);
		} else {
			hold(l, data, n, fn, arg);
			if (newline && !l->skipping)
				emit(l, fn, arg);
			if (newline)
				l->skipping = false;
		}
		n += newline != NULL;
		data += n;
		len -= n;
	}
}

void lines_flush(struct lines *l, lines_fn *fn, void *arg)
{
	if (l->len > 0)
		emit(l, fn, arg);
	l->skipping = false;
}
