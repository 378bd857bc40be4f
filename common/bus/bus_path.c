/*
 * bus_path.c - the way to one owner: what waits, what is under way, when it is repeated
 * and when it is too late. Called by bus_call.c and the tick; bus_outgoing.c sends and
 * receives.
 */
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include "common/bus/bus_retry.h"
#include "common/loop/timer.h"
#include <stdlib.h>
#include <unistd.h>

/* A batch holds at most this many bytes unless one call is larger. */
#define BATCH_BYTES (1024 * 1024)
/* Without a connection for this long while the owner's socket exists: dial anew. */
#define REDIAL_MS 1000

/* ---- time ---- */

static void arm(struct bus_path *path, struct mono now)
{
	int64_t at = path->next_deadline.us;
	if (path->resume.us > now.us && path->resume.us < at && path->calls > 0)
		at = path->resume.us;
	if (path->gather.end.us > now.us && path->gather.end.us < at &&
		path->waiting.first)
		at = path->gather.end.us;
	if (at == INT64_MAX) {
		event_del(path->timer);
		return;
	}
	/* Rounded up, so that the timer is not early. */
	event_add_ms(path->timer, at > now.us ? (at - now.us) / 1000 + 1 : 0);
}

static void expire_list(struct bus_path *path, struct bus_calls *list, struct mono now,
	struct bus_calls *expired)
{
	struct bus_calls keep = {0};
	struct bus_call *call;

	while ((call = bus_calls_take(list))) {
		if (call->deadline.us <= now.us) {
			bus_calls_append(expired, call);
			continue;
		}
		if (call->deadline.us < path->next_deadline.us)
			path->next_deadline = call->deadline;
		bus_calls_append(&keep, call);
	}
	*list = keep;
}

static void expire_outgoing(struct bus_path *path, struct bus_outgoing *outgoing,
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
		} else if (call->deadline.us < path->next_deadline.us) {
			path->next_deadline = call->deadline;
		}
	}
}

static void expire(struct bus_path *path, struct mono now)
{
	struct bus_calls expired = {0};
	struct bus_call *call;

	if (now.us < path->next_deadline.us)
		return;
	path->next_deadline.us = INT64_MAX;
	expire_list(path, &path->waiting, now, &expired);
	expire_list(path, &path->waiting_alone, now, &expired);
	for (int i = 0; i < BUS_WINDOW; i++)
		expire_outgoing(path, path->window[i], now, &expired);
	for (struct bus_outgoing *p = path->alone; p; p = p->next)
		expire_outgoing(path, p, now, &expired);
	while ((call = bus_calls_take(&expired)))
		bus_call_fail(path, call, BUS_TIMEOUT);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct bus_path *path = arg;

	(void)fd;
	(void)what;
	expire(path, clock_mono());
	bus_path_send(path);
}

/* ---- the connection ---- */

static void on_changed(struct bus_note *note)
{
	struct bus_path *path = CONTAINER_OF(note, struct bus_path, dialer.changed);
	uint32_t pipe = atomic_load(&path->dialer.pipe);

	if (pipe == path->pipe)
		return;
	log_debug(pipe ? "connected" : "disconnected", "worker", "%s",
		worker_infos[path->owner].name, NULL);
	path->pipe = pipe;
	path->down_since = clock_mono();
	if (pipe)
		bus_path_send(path);
}

static void open_path(struct bus_path *path)
{
	char file[108];
	int r;

	bus_socket_path(path->bus, path->owner, "rep", file);
	path->down_since = clock_mono();
	path->opened = true;
	r = bus_dialer_open(
		&path->dialer, BUS_DIAL_REQ, file, &path->bus->post, on_changed);
	if (r < 0) {
		log_error("cannot open the way to a worker", "worker", "%s",
			worker_infos[path->owner].name, "error", "%s", strerror(-r),
			NULL);
		abort();
	}
}

void bus_path_tick(struct bus_path *path, struct mono now)
{
	char file[108];
	int r;

	if (!path->opened || path->pipe ||
		mono_diff_ms(now, path->down_since) < REDIAL_MS)
		return;
	bus_socket_path(path->bus, path->owner, "rep", file);
	if (access(file, F_OK) < 0)
		return;
	path->down_since = now;
	r = bus_dialer_redial(&path->dialer);
	if (r < 0)
		log_warn("cannot dial a worker anew", "worker", "%s",
			worker_infos[path->owner].name, "error", "%s", strerror(-r),
			NULL);
}

/* ---- sending ---- */

static void resend(struct bus_outgoing *outgoing, struct mono now)
{
	if (!outgoing || outgoing->state != BUS_OUTGOING_BROKEN)
		return;
	outgoing->path->bus->stats.repeats += outgoing->left;
	bus_outgoing_send(outgoing, now);
}

static bool send_batch(struct bus_path *path, struct mono now)
{
	struct bus_outgoing *outgoing;
	unsigned count = 0;
	size_t bytes = 0;

	if (!path->waiting.first || path->next_seq - path->base >= BUS_WINDOW)
		return false;
	for (struct bus_call *c = path->waiting.first; c && count < BUS_BATCH_CALLS;
		c = c->next) {
		if (count > 0 && bytes + c->body.len > BATCH_BYTES)
			break;
		bytes += c->body.len;
		count++;
	}
	outgoing = bus_outgoing_get(path, count);
	outgoing->seq = path->next_seq++;
	outgoing->first_id = path->next_id;
	path->next_id += count;
	while (outgoing->count < count)
		outgoing->calls[outgoing->count++] = bus_calls_take(&path->waiting);
	outgoing->left = count;
	path->window[outgoing->seq % BUS_WINDOW] = outgoing;
	bus_gather_sent(&path->gather, now);
	bus_outgoing_send(outgoing, now);
	return true;
}

/* What waits is to wait for more. */
static bool gathers(struct bus_path *path, struct mono now)
{
	enum bus_gather_verdict verdict;

	if (!bus_near_to(path->bus, path->owner))
		return false;
	verdict = bus_gather_judge(
		&path->gather, path->waiting.count, path->next_seq != path->base, now);
	if (verdict == BUS_GATHER_TURN)
		bus_call_ask_turn(path->bus);
	return verdict != BUS_GATHER_SEND;
}

static void send_alone(struct bus_path *path, struct mono now)
{
	struct bus_outgoing *outgoing = bus_outgoing_get(path, 1);

	outgoing->calls[0] = bus_calls_take(&path->waiting_alone);
	outgoing->count = outgoing->left = 1;
	outgoing->first_id = path->next_id++;
	outgoing->next = path->alone;
	path->alone = outgoing;
	path->alone_count++;
	bus_outgoing_send(outgoing, now);
}

void bus_path_send(struct bus_path *path)
{
	struct mono now;

	if (!path->bus->started || path->calls == 0)
		return;
	now = clock_mono();
	if (!path->opened)
		open_path(path);
	if (path->pipe && now.us >= path->resume.us) {
		for (uint64_t seq = path->base; seq < path->next_seq; seq++)
			resend(path->window[seq % BUS_WINDOW], now);
		for (struct bus_outgoing *p = path->alone; p; p = p->next)
			resend(p, now);
		while (!gathers(path, now) && send_batch(path, now))
			;
		while (path->waiting_alone.first && path->alone_count < BUS_ALONE_MAX)
			send_alone(path, now);
	}
	arm(path, now);
}

void bus_path_add(struct bus_path *path, struct bus_call *call)
{
	if (method_infos[call->method].flags & METHOD_BATCH)
		bus_calls_append(&path->waiting, call);
	else
		bus_calls_append(&path->waiting_alone, call);
	if (call->deadline.us < path->next_deadline.us)
		path->next_deadline = call->deadline;
}

int bus_path_init(struct bus_path *path, struct bus *bus, enum worker_id owner)
{
	path->bus = bus;
	path->owner = owner;
	path->base = path->next_seq = 1;
	path->next_id = 1;
	path->next_deadline.us = INT64_MAX;
	path->timer = evtimer_new(bus->base, on_timer, path);
	return path->timer ? 0 : -ENOMEM;
}
