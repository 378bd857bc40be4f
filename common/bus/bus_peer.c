/*
 * bus_peer.c - the connection to one owner and the queue of its calls: which calls wait,
 * which are under way, when they are repeated and when they time out. Called by bus_call.c
 * and the tick; bus_outgoing.c sends and receives.
 */
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include "common/bus/bus_retry.h"
#include "common/bus/rules/bus_folder.h"
#include "common/loop/timer.h"
#include <stdlib.h>

/* A batch holds at most this many bytes unless one call is larger. */
#define BATCH_BYTES (1024 * 1024)
/* No batch is begun in a turn of the loop in which so much was sent: each is copied. */
#define TURN_BYTES (4u * 1024 * 1024)
/* What is sent at once below this is not counted for that: a timer would cost more. */
#define COUNTED_BYTES (256u * 1024)

_Static_assert(BUS_WINDOW + BUS_ALONE_MAX == BUS_MAX_REPLIES,
	"each message under way has one reply");

/* ---- time ---- */

static void arm(struct bus_peer *peer, struct mono now)
{
	int64_t at = peer->next_deadline.us;
	if (peer->resume.us > now.us && peer->resume.us < at && peer->calls > 0)
		at = peer->resume.us;
	if (at == INT64_MAX) {
		event_del(peer->timer);
		return;
	}
	/* Rounded up, so that the timer is not early. */
	event_add_ms(peer->timer, at > now.us ? (at - now.us) / 1000 + 1 : 0);
}

static void expire_list(struct bus_peer *peer, struct bus_calls *list, struct mono now,
	struct bus_calls *expired)
{
	struct bus_calls keep = {0};
	struct bus_call *call;

	while ((call = bus_calls_take(list))) {
		if (call->deadline.us <= now.us) {
			bus_calls_append(expired, call);
			continue;
		}
		if (call->deadline.us < peer->next_deadline.us)
			peer->next_deadline = call->deadline;
		bus_calls_append(&keep, call);
	}
	*list = keep;
}

static void expire_outgoing(struct bus_peer *peer, struct bus_outgoing *outgoing,
	struct mono now, struct bus_calls *expired)
{
	for (unsigned i = 0; outgoing && i < outgoing->count; i++) {
		struct bus_call *call = outgoing->calls[i];

		if (!call)
			continue;
		if (call->deadline.us <= now.us) {
			outgoing->calls[i] = NULL;
			outgoing->left--;
			bus_calls_append(expired, call);
		} else if (call->deadline.us < peer->next_deadline.us) {
			peer->next_deadline = call->deadline;
		}
	}
}

static void expire(struct bus_peer *peer, struct mono now)
{
	struct bus_calls expired = {0};
	struct bus_call *call;

	if (now.us < peer->next_deadline.us)
		return;
	peer->next_deadline.us = INT64_MAX;
	expire_list(peer, &peer->waiting, now, &expired);
	expire_list(peer, &peer->waiting_alone, now, &expired);
	for (int i = 0; i < BUS_WINDOW; i++)
		expire_outgoing(peer, peer->window[i], now, &expired);
	for (struct bus_outgoing *p = peer->alone; p; p = p->next)
		expire_outgoing(peer, p, now, &expired);
	while ((call = bus_calls_take(&expired)))
		bus_call_fail(peer, call, BUS_TIMEOUT);
}

static void on_timer(EVENT_UNUSED, void *arg)
{
	struct bus_peer *peer = arg;

	expire(peer, clock_mono());
	bus_peer_send(peer);
}

/* ---- the connection ---- */

static void on_changed(struct loop_task *task)
{
	struct bus_peer *peer = CONTAINER_OF(task, struct bus_peer, dialer.changed);
	uint32_t pipe = atomic_load(&peer->dialer.pipe);

	if (pipe == peer->pipe)
		return;
	log_debug(pipe ? "connected" : "disconnected", "worker", "%s",
		worker_infos[peer->owner].name, NULL);
	peer->pipe = pipe;
	bus_dial_changed(&peer->dial);
	if (pipe)
		bus_peer_send(peer);
	else
		bus_end_rest(peer->bus);
}

bool bus_peer_look(struct bus_peer *peer, struct mono now)
{
	if (!peer->opened || peer->pipe)
		return true;
	bus_dial_look(&peer->dial, &peer->dialer, now);
	return false;
}

static void open_peer(struct bus_peer *peer)
{
	char file[108];
	int r;

	bus_socket_path(peer->bus, peer->owner, BUS_CALLS_SOCKET, file);
	peer->opened = true;
	r = bus_dialer_open(
		&peer->dialer, BUS_DIAL_REQ, file, &peer->bus->post, on_changed);
	if (r < 0) {
		log_error("cannot open the socket to a worker", "worker", "%s",
			worker_infos[peer->owner].name, "error", "%s", strerror(-r),
			NULL);
		abort();
	}
	bus_end_rest(peer->bus);
}

/* ---- sending ---- */

static void resend(struct bus_outgoing *outgoing, struct mono now)
{
	if (!outgoing || outgoing->state != BUS_OUTGOING_BROKEN)
		return;
	outgoing->peer->bus->stats.repeats += outgoing->left;
	bus_outgoing_send(outgoing, now);
}

/* How many bytes were sent. */
static size_t send_batch(struct bus_peer *peer, struct mono now)
{
	struct bus_outgoing *outgoing;
	unsigned count = 0;
	size_t bytes = 0;

	for (struct bus_call *c = peer->waiting.first; c && count < BUS_BATCH_CALLS;
		c = c->next) {
		if (count > 0 && bytes + c->body.len > BATCH_BYTES)
			break;
		bytes += c->body.len;
		count++;
	}
	outgoing = bus_outgoing_get(peer, count);
	outgoing->seq = peer->next_seq++;
	outgoing->first_id = peer->next_id;
	peer->next_id += count;
	while (outgoing->count < count)
		outgoing->calls[outgoing->count++] = bus_calls_take(&peer->waiting);
	outgoing->left = count;
	peer->window[outgoing->seq % BUS_WINDOW] = outgoing;
	bus_outgoing_send(outgoing, now);
	return bytes;
}

static bool may_send(const struct bus_peer *peer)
{
	return peer->waiting.first && peer->next_seq - peer->base < BUS_WINDOW;
}

static size_t send_alone(struct bus_peer *peer, struct mono now)
{
	struct bus_outgoing *outgoing = bus_outgoing_get(peer, 1);
	struct bus_outgoing **last = &peer->alone;

	outgoing->calls[0] = bus_calls_take(&peer->waiting_alone);
	outgoing->count = outgoing->left = 1;
	outgoing->first_id = peer->next_id++;
	/* Behind those before it, in whose order they are repeated. */
	while (*last)
		last = &(*last)->next;
	*last = outgoing;
	peer->alone_count++;
	bus_outgoing_send(outgoing, now);
	return outgoing->calls[0]->body.len;
}

/* Called several times in a turn, when calls are made and when replies come. */
static void send_waiting(struct bus_peer *peer, struct mono now)
{
	while (peer->turn_bytes < TURN_BYTES && may_send(peer))
		peer->turn_bytes += send_batch(peer, now);
	while (peer->turn_bytes < TURN_BYTES && peer->waiting_alone.first &&
		peer->alone_count < BUS_ALONE_MAX)
		peer->turn_bytes += send_alone(peer, now);
	if (peer->turn_bytes < COUNTED_BYTES)
		peer->turn_bytes = 0;
	else
		event_add_ms(peer->next_turn, 0);
}

void bus_peer_send(struct bus_peer *peer)
{
	struct mono now;

	if (!peer->bus->started || peer->calls == 0)
		return;
	now = clock_mono();
	if (!peer->opened)
		open_peer(peer);
	if (peer->pipe && now.us >= peer->resume.us) {
		for (uint64_t seq = peer->base; seq < peer->next_seq; seq++)
			resend(peer->window[seq % BUS_WINDOW], now);
		for (struct bus_outgoing *p = peer->alone; p; p = p->next)
			resend(p, now);
		send_waiting(peer, now);
	}
	arm(peer, now);
}

static void on_next_turn(EVENT_UNUSED, void *arg)
{
	struct bus_peer *peer = arg;

	peer->turn_bytes = 0;
	bus_peer_send(peer);
}

void bus_peer_add(struct bus_peer *peer, struct bus_call *call)
{
	if (method_infos[call->method].flags & METHOD_BATCH)
		bus_calls_append(&peer->waiting, call);
	else
		bus_calls_append(&peer->waiting_alone, call);
	if (call->deadline.us < peer->next_deadline.us)
		peer->next_deadline = call->deadline;
}

int bus_peer_init(struct bus_peer *peer, struct bus *bus, enum worker_id owner)
{
	peer->bus = bus;
	peer->owner = owner;
	peer->base = peer->next_seq = 1;
	peer->next_id = 1;
	peer->next_deadline.us = INT64_MAX;
	peer->timer = evtimer_new(bus->base, on_timer, peer);
	peer->next_turn = evtimer_new(bus->base, on_next_turn, peer);
	return peer->timer && peer->next_turn ? 0 : -ENOMEM;
}
