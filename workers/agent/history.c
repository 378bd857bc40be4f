/* history.c - see history.h. */
#include "workers/agent/history.h"
#include "common/base/alloc.h"
#include <stdlib.h>

static struct history_item *slot(const struct history *h, size_t i)
{
	return &h->items[(h->first + i) % HISTORY_MAX_EVENTS];
}

static void drop_oldest(struct history *h)
{
	struct history_item *item = slot(h, 0);

	h->bytes -= item->len;
	free(item->text);
	item->text = NULL;
	h->first = (h->first + 1) % HISTORY_MAX_EVENTS;
	h->count--;
	h->dropped++;
}

void history_add(struct history *h, struct str message)
{
	struct buf copy = {0};

	buf_add_str(&copy, message);
	history_take(h, &copy);
}

void history_take(struct history *h, struct buf *message)
{
	if (!h->items)
		h->items = xcalloc(HISTORY_MAX_EVENTS, sizeof(*h->items));
	while (h->count > 0 && (h->count == HISTORY_MAX_EVENTS ||
				       h->bytes + message->len > HISTORY_MAX_BYTES))
		drop_oldest(h);
	/* Buffers have room to grow. */
	*slot(h, h->count++) = (struct history_item){
		xrealloc(message->data, message->len ? message->len : 1), message->len};
	h->bytes += message->len;
	*message = (struct buf){0};
}

struct str history_at(const struct history *h, size_t i)
{
	const struct history_item *item = slot(h, i);

	return (struct str){item->text, item->len};
}

void history_fini(struct history *h)
{
	while (h->count > 0)
		drop_oldest(h);
	free(h->items);
	*h = (struct history){0};
}
