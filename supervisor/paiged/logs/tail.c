/* tail.c - see tail.h. Called by logs.c. */
#include "supervisor/paiged/logs/tail.h"

static void put(struct tail *t, char c)
{
	t->ring[t->total++ % TAIL_BYTES] = c;
}

void tail_add(struct tail *t, const char *line, size_t len)
{
	if (len > TAIL_BYTES / 4)
		len = TAIL_BYTES / 4;
	for (size_t i = 0; i < len; i++)
		put(t, line[i]);
	put(t, '\n');
}

void tail_read(const struct tail *t, size_t lines, struct buf *out)
{
	size_t oldest = t->total > TAIL_BYTES ? t->total - TAIL_BYTES : 0;
	size_t from = t->total;
	size_t wanted = lines > TAIL_LINES ? TAIL_LINES : lines;

	/* Back over `wanted` newlines to the one before them. A line whose beginning is
	 * overwritten does not count. */
	while (from > oldest) {
		if (t->ring[(from - 1) % TAIL_BYTES] == '\n' && wanted-- == 0)
			break;
		from--;
	}
	if (from == oldest && oldest > 0) {
		while (from < t->total && t->ring[from++ % TAIL_BYTES] != '\n')
			;
	}
	for (; from < t->total; from++)
		buf_add_char(out, t->ring[from % TAIL_BYTES]);
}
