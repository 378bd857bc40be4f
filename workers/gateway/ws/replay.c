/* replay.c - see replay.h. */
#include "workers/gateway/ws/replay.h"
#include <stdio.h>

static struct replay_item *place(struct replay *r, uint64_t number)
{
	return &r->items[number % REPLAY_MAX_ITEMS];
}

static size_t bytes_of(const struct replay_item *item)
{
	return (item->text.payload ? item->text.payload->len : 0) +
	       (item->listing.payload ? item->listing.payload->len : 0);
}

static void drop_oldest(struct replay *r)
{
	struct replay_item *item = place(r, r->first_kept++);

	r->bytes -= bytes_of(item);
	if (item->text.payload)
		payload_unref(item->text.payload);
	if (item->listing.payload)
		payload_unref(item->listing.payload);
	*item = (struct replay_item){.number = 0};
}

static size_t kept(const struct replay *r)
{
	return r->last ? (size_t)(r->last - r->first_kept + 1) : 0;
}

uint64_t replay_add(struct replay *r, int64_t timestamp_ms,
	const struct replay_text *text, const struct replay_text *listing)
{
	struct replay_item item = {.timestamp_ms = timestamp_ms, .text = *text};

	if (listing)
		item.listing = *listing;
	while (kept(r) > 0 && (kept(r) == REPLAY_MAX_ITEMS ||
				      r->bytes + bytes_of(&item) > REPLAY_MAX_BYTES))
		drop_oldest(r);
	item.number = ++r->last;
	if (r->first_kept == 0)
		r->first_kept = 1;
	if (item.text.payload)
		payload_ref(item.text.payload);
	if (item.listing.payload)
		payload_ref(item.listing.payload);
	*place(r, r->last) = item;
	r->bytes += bytes_of(&item);
	return r->last;
}

const struct replay_text *replay_text_for(
	const struct replay_item *item, bool lists_directories)
{
	if (lists_directories && item->listing.payload)
		return &item->listing;
	return item->text.payload ? &item->text : NULL;
}

const struct replay_item *replay_get(const struct replay *r, uint64_t number)
{
	if (number == 0 || number > r->last || number < r->first_kept)
		return NULL;
	return &r->items[number % REPLAY_MAX_ITEMS];
}

void replay_note_closed(struct replay *r, const char *id, const struct resume_log *log)
{
	struct replay_closed *c = &r->closed[r->closed_count++ % REPLAY_MAX_CLOSED];

	snprintf(c->id, sizeof(c->id), "%s", id);
	c->log = *log;
}

const struct resume_log *replay_find_closed(const struct replay *r, struct str id)
{
	for (uint64_t age = 1; age <= REPLAY_MAX_CLOSED && age <= r->closed_count;
		age++) {
		const struct replay_closed *c =
			&r->closed[(r->closed_count - age) % REPLAY_MAX_CLOSED];

		if (!id.ptr || str_is(id, c->id))
			return &c->log;
	}
	return NULL;
}

void replay_fini(struct replay *r)
{
	while (kept(r) > 0)
		drop_oldest(r);
}
