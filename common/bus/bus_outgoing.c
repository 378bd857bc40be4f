/*
 * bus_outgoing.c - one message under way to an owner: written, sent, and what its reply or
 * its loss means for the calls in it. Called by bus_peer.c; owns the nng contexts of a
 * peer, which are used again and never freed.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include "common/bus/bus_retry.h"
#include <stdlib.h>

static void on_replied(struct loop_task *task);

struct bus_outgoing *bus_outgoing_get(struct bus_peer *peer, unsigned count)
{
	struct bus_outgoing *p = peer->idle;

	if (p) {
		peer->idle = p->next;
	} else {
		p = calloc(1, sizeof(*p));
		if (!p || bus_exchange_init(&p->exchange, &peer->dialer, &peer->bus->post,
				  on_replied) < 0)
			abort();
		p->peer = peer;
	}
	if (p->room < count) {
		free(p->calls);
		p->calls = xcalloc(count, sizeof(struct bus_call *));
		p->room = count;
	}
	p->count = p->left = 0;
	p->seq = 0;
	p->part = 0;
	p->next = NULL;
	return p;
}

void bus_outgoing_put(struct bus_outgoing *outgoing)
{
	outgoing->state = BUS_OUTGOING_IDLE;
	outgoing->next = outgoing->peer->idle;
	outgoing->peer->idle = outgoing;
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

void bus_outgoing_send(struct bus_outgoing *outgoing, struct mono now)
{
	struct bus_peer *peer = outgoing->peer;
	struct bus_head head = {.epoch = peer->bus->epoch,
		.caller = peer->bus->self,
		.key = peer->bus->keys.to[peer->owner],
		.incarnation = peer->bus->incarnation,
		.base = peer->base,
		.seq = outgoing->seq,
		.part = outgoing->part,
		.sent_us = now.us};
	size_t most = BUS_LINE_MAX, len = 0;
	char line[BUS_LINE_MAX];
	struct nng_msg *message;
	char *to;

	for (unsigned i = 0; i < outgoing->count; i++)
		if (outgoing->calls[i])
			most += BUS_LINE_MAX + outgoing->calls[i]->body.len;
	message = bus_message_new(most, &to);
	len += put(to, line, bus_head_format(&head, line));
	for (unsigned i = 0; i < outgoing->count; i++)
		if (outgoing->calls[i])
			len += put_call(to + len, outgoing->calls[i],
				outgoing->first_id + i, now);
	bus_message_shorten(message, most - len);
	outgoing->state = BUS_OUTGOING_SENT;
	peer->bus->sent_at = now;
	bus_affinity_request(peer->bus, peer->owner, len);
	bus_exchange_start(&outgoing->exchange, message);
}

/* ---- replies and losses ---- */

/* The outgoing batch is over: whatever is left in it got no answer. */
static void finish(struct bus_outgoing *outgoing, enum bus_status status)
{
	struct bus_peer *peer = outgoing->peer;

	for (unsigned i = 0; i < outgoing->count; i++) {
		struct bus_call *call = outgoing->calls[i];

		outgoing->calls[i] = NULL;
		if (call)
			bus_call_fail(peer, call, status);
	}
	if (outgoing->seq) {
		peer->window[outgoing->seq % BUS_WINDOW] = NULL;
		while (peer->base < peer->next_seq &&
			!peer->window[peer->base % BUS_WINDOW])
			peer->base++;
	} else {
		struct bus_outgoing **at = &peer->alone;

		while (*at != outgoing)
			at = &(*at)->next;
		*at = outgoing->next;
		peer->alone_count--;
	}
	bus_outgoing_put(outgoing);
}

/* The connection is gone: keep what may be repeated. */
static void broken(struct bus_outgoing *outgoing)
{
	struct bus_peer *peer = outgoing->peer;
	struct mono now = clock_mono();

	peer->bus->stats.resets++;
	for (unsigned i = 0; i < outgoing->count; i++) {
		struct bus_call *call = outgoing->calls[i];
		enum bus_fate fate;

		if (!call)
			continue;
		fate = bus_fate_of(
			method_infos[call->method].flags, true, call->deadline, now);
		if (fate == BUS_FATE_REPEAT)
			continue;
		outgoing->calls[i] = NULL;
		outgoing->left--;
		bus_call_fail(
			peer, call, fate == BUS_FATE_RESET ? BUS_RESET : BUS_TIMEOUT);
	}
	if (now.us >= peer->resume.us) {
		peer->failures++;
		peer->resume = mono_add_ms(now, bus_pause_ms(peer->failures));
	}
	/* Even an empty batch is sent again while a later one is under way: the owner
	 * handles them in order and would wait for it. */
	if (outgoing->left == 0 &&
		(!outgoing->seq || outgoing->seq + 1 == peer->next_seq))
		finish(outgoing, BUS_RESET);
	else
		outgoing->state = BUS_OUTGOING_BROKEN;
}

/* Delivers the records of a reply. 0, or -EINVAL when it cannot be read. */
static int deliver(
	struct bus_outgoing *outgoing, struct bus_kept *kept, enum bus_reply_kind *kind)
{
	struct str text = bus_message_text(kept->message);
	struct bus_reply_head head;
	struct bus_reply_record record;
	int r;

	if (bus_reply_head_parse(&text, &head) != 1 || head.seq != outgoing->seq ||
		head.part != outgoing->part)
		return -EINVAL;
	while ((r = bus_reply_parse(&text, &record)) == 1) {
		uint64_t i = record.id - outgoing->first_id;
		struct bus_call *call;

		if (i >= outgoing->count || !outgoing->calls[i])
			continue;
		call = outgoing->calls[i];
		outgoing->calls[i] = NULL;
		outgoing->left--;
		bus_call_deliver(outgoing->peer, call, &record, kept);
	}
	*kind = head.kind;
	return r;
}

static void replied(struct bus_outgoing *outgoing, enum bus_reply_kind kind)
{
	outgoing->peer->failures = 0;
	switch (kind) {
	case BUS_REPLY_WHOLE:
		/* The owner answers all but what came too late. */
		finish(outgoing, BUS_TIMEOUT);
		break;
	case BUS_REPLY_MORE:
		outgoing->part++;
		bus_outgoing_send(outgoing, clock_mono());
		break;
	case BUS_REPLY_AGAIN:
		outgoing->state = BUS_OUTGOING_BROKEN;
		break;
	}
}

static void on_replied(struct loop_task *task)
{
	struct bus_outgoing *outgoing =
		CONTAINER_OF(task, struct bus_outgoing, exchange.replied);
	struct bus_peer *peer = outgoing->peer;
	enum bus_reply_kind kind = BUS_REPLY_WHOLE;
	struct nng_msg *reply = NULL;
	int r = bus_exchange_take(&outgoing->exchange, &reply);

	if (r == 0) {
		struct bus_kept *kept = xmalloc(sizeof(*kept));

		*kept = (struct bus_kept){reply, 1};
		r = deliver(outgoing, kept, &kind);
		bus_kept_release(kept);
		if (r < 0)
			log_error("reply that cannot be read", "worker", "%s",
				worker_infos[peer->owner].name, NULL);
	}
	if (r < 0)
		broken(outgoing);
	else
		replied(outgoing, kind);
	bus_call_ask_flush(peer->bus);
}
