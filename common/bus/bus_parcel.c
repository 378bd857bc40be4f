/*
 * bus_parcel.c - one message under way to an owner: written, sent, and what its reply or
 * its loss means for the calls in it. Called by bus_path.c; owns the nng contexts of a
 * path, which are used again and never freed.
 */
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include "common/bus/bus_retry.h"
#include <stdlib.h>

static void on_replied(struct bus_note *note);

struct bus_parcel *bus_parcel_get(struct bus_path *path, unsigned count)
{
	struct bus_parcel *p = path->idle;

	if (p) {
		path->idle = p->next;
	} else {
		p = calloc(1, sizeof(*p));
		if (!p || bus_exchange_init(&p->exchange, &path->dialer, &path->bus->post,
				  on_replied) < 0)
			abort();
		p->path = path;
	}
	if (p->room < count) {
		free(p->calls);
		p->calls = calloc(count, sizeof(struct bus_call *));
		if (!p->calls)
			abort();
		p->room = count;
	}
	p->count = p->left = 0;
	p->seq = 0;
	p->part = 0;
	p->next = NULL;
	return p;
}

void bus_parcel_put(struct bus_parcel *parcel)
{
	parcel->state = BUS_PARCEL_IDLE;
	parcel->next = parcel->path->idle;
	parcel->path->idle = parcel;
}

/* ---- writing ---- */

static size_t put(char *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	return len;
}

static size_t put_call(
	char *to, const struct bus_call *call, uint64_t id, struct mono now)
{
	char line[BUS_LINE_MAX];
	struct bus_call_record record = {
		.id = id,
		.method = str_of(method_infos[call->method].name),
		.deadline_ms = mono_diff_ms(call->deadline, now),
		.key = call->key,
		.body = call->body,
	};
	size_t n;

	if (record.deadline_ms < 1)
		record.deadline_ms = 1;
	n = put(to, line, bus_call_format(&record, line));
	return n + put(to + n, call->body.ptr, call->body.len);
}

void bus_parcel_send(struct bus_parcel *parcel, struct mono now)
{
	struct bus_path *path = parcel->path;
	struct bus_head head = {.epoch = path->bus->epoch,
		.caller = path->bus->self,
		.key = path->bus->keys.to[path->owner],
		.incarnation = path->bus->incarnation,
		.base = path->base,
		.seq = parcel->seq,
		.part = parcel->part,
		.sent_us = now.us};
	size_t most = BUS_LINE_MAX, len = 0;
	char line[BUS_LINE_MAX];
	struct nng_msg *message;
	char *to;

	for (unsigned i = 0; i < parcel->count; i++)
		if (parcel->calls[i])
			most += BUS_LINE_MAX + parcel->calls[i]->body.len;
	message = bus_message_new(most, &to);
	len += put(to, line, bus_head_format(&head, line));
	for (unsigned i = 0; i < parcel->count; i++)
		if (parcel->calls[i])
			len += put_call(
				to + len, parcel->calls[i], parcel->first_id + i, now);
	bus_message_shorten(message, most - len);
	parcel->state = BUS_PARCEL_SENT;
	path->bus->sent_at = now;
	bus_near_note(path->bus, path->owner, len);
	bus_exchange_start(&parcel->exchange, message);
}

/* ---- replies and losses ---- */

/* The parcel is over: whatever is left in it got no answer. */
static void finish(struct bus_parcel *parcel, enum bus_status status)
{
	struct bus_path *path = parcel->path;

	for (unsigned i = 0; i < parcel->count; i++) {
		struct bus_call *call = parcel->calls[i];

		parcel->calls[i] = NULL;
		if (call)
			bus_call_fail(path, call, status);
	}
	if (parcel->seq) {
		path->window[parcel->seq % BUS_WINDOW] = NULL;
		while (path->base < path->next_seq &&
			!path->window[path->base % BUS_WINDOW])
			path->base++;
	} else {
		struct bus_parcel **at = &path->alone;

		while (*at != parcel)
			at = &(*at)->next;
		*at = parcel->next;
		path->alone_count--;
	}
	bus_parcel_put(parcel);
}

/* The connection is gone: keep what may be repeated. */
static void broken(struct bus_parcel *parcel)
{
	struct bus_path *path = parcel->path;
	struct mono now = clock_mono();

	path->bus->stats.resets++;
	for (unsigned i = 0; i < parcel->count; i++) {
		struct bus_call *call = parcel->calls[i];
		enum bus_fate fate;

		if (!call)
			continue;
		fate = bus_fate_of(
			method_infos[call->method].flags, true, call->deadline, now);
		if (fate == BUS_FATE_REPEAT)
			continue;
		parcel->calls[i] = NULL;
		parcel->left--;
		bus_call_fail(
			path, call, fate == BUS_FATE_RESET ? BUS_RESET : BUS_TIMEOUT);
	}
	if (now.us >= path->resume.us) {
		path->failures++;
		path->resume = mono_add_ms(now, bus_pause_ms(path->failures));
	}
	/* Even an empty batch is sent again while a later one is under way: the owner
	 * handles them in order and would wait for it. */
	if (parcel->left == 0 && (!parcel->seq || parcel->seq + 1 == path->next_seq))
		finish(parcel, BUS_RESET);
	else
		parcel->state = BUS_PARCEL_BROKEN;
}

/* Delivers the records of a reply. 0, or -EINVAL when it cannot be read. */
static int deliver(struct bus_parcel *parcel, struct str text, enum bus_reply_kind *kind)
{
	struct bus_reply_head head;
	struct bus_reply_record record;
	int r;

	if (bus_reply_head_parse(&text, &head) != 1 || head.seq != parcel->seq ||
		head.part != parcel->part)
		return -EINVAL;
	while ((r = bus_reply_parse(&text, &record)) == 1) {
		uint64_t i = record.id - parcel->first_id;
		struct bus_call *call;

		if (i >= parcel->count || !parcel->calls[i])
			continue;
		call = parcel->calls[i];
		parcel->calls[i] = NULL;
		parcel->left--;
		bus_call_deliver(parcel->path, call, &record);
	}
	*kind = head.kind;
	return r;
}

static void replied(struct bus_parcel *parcel, enum bus_reply_kind kind)
{
	parcel->path->failures = 0;
	switch (kind) {
	case BUS_REPLY_WHOLE:
		if (parcel->seq)
			bus_gather_replied(&parcel->path->gather, parcel->count);
		/* The owner answers all but what came too late. */
		finish(parcel, BUS_TIMEOUT);
		break;
	case BUS_REPLY_MORE:
		parcel->part++;
		bus_parcel_send(parcel, clock_mono());
		break;
	case BUS_REPLY_AGAIN:
		parcel->state = BUS_PARCEL_BROKEN;
		break;
	}
}

static void on_replied(struct bus_note *note)
{
	struct bus_parcel *parcel =
		CONTAINER_OF(note, struct bus_parcel, exchange.replied);
	struct bus_path *path = parcel->path;
	enum bus_reply_kind kind = BUS_REPLY_WHOLE;
	struct nng_msg *reply = NULL;
	int r = bus_exchange_take(&parcel->exchange, &reply);

	if (r == 0) {
		r = deliver(parcel, bus_message_text(reply), &kind);
		bus_message_free(reply);
		if (r < 0)
			log_error("reply that cannot be read", "worker", "%s",
				worker_infos[path->owner].name, NULL);
	}
	if (r < 0)
		broken(parcel);
	else
		replied(parcel, kind);
	bus_call_ask_flush(path->bus);
}
