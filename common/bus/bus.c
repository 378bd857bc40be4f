/*
 * bus.c - a bus as a whole: opened, started, drained, ticking (bus.h, bus_private.h).
 *
 * The first nng call is made by bus_start, after the worker has initialised and confined
 * itself, so that nng's threads are confined too and a start that fails early disturbs
 * nobody.
 */
#include "common/base/ids.h"
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include "common/bus/nng/bus_nng_threads.h"
#include "common/bus/rules/bus_folder.h"
#include "common/loop/timer.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* How long a drain may take, and how long ago the last message must have been handed to
 * nng: time enough for it to reach the kernel, which keeps it for the other side. */
#define DRAIN_MOST_MS 500
#define DRAIN_QUIET_MS 5
#define DRAIN_LOOK_MS 1

/* After how long a bus is at rest, and in which ticks its parts are looked at then: every
 * ten minutes, and a multiple of what bus_canary.c counts. Only a stranger can deafen a
 * listener then, and a peer that comes back has ended the rest by leaving. */
#define REST_MS 30000
#define REST_LOOK_TICKS 120

/* How often, and for how long, the sockets of others are looked for after the start and
 * after a connection was lost; with each tick later on. */
#define DOWN_SOON_LOOK_MS 4
#define DOWN_SOON_MS 1000
#define DOWN_LOOK_MS 200
#define DOWN_MS 5000

void bus_socket_path(
	const struct bus *bus, enum worker_id worker, const char *suffix, char out[108])
{
	size_t n;

	bus_folder(bus->runtime_dir, worker, out);
	n = strlen(out);
	assert(n + 1 + strlen(suffix) < 108);
	snprintf(out + n, 108 - n, "/%s", suffix);
}

/* All of them: a confined worker can neither make one nor be allowed what is not there.
 */
static int make_folders(const char *runtime_dir)
{
	char path[108];

	for (int i = 0; i < WORKER_COUNT; i++) {
		bus_folder(runtime_dir, (enum worker_id)i, path);
		if (mkdir(path, 0700) < 0 && errno != EEXIST) {
			int r = -errno;

			log_error("cannot make a directory for sockets", "path", "%s",
				path, "error", "%s", strerror(-r), NULL);
			return r;
		}
	}
	return 0;
}

static int check_paths(const char *runtime_dir)
{
	for (int i = 0; i < WORKER_COUNT; i++) {
		struct sockaddr_un a;
		size_t len = strlen(runtime_dir) + 1 + strlen(worker_infos[i].name) + 4;

		if (len >= sizeof(a.sun_path)) {
			log_error("the path of the socket directory is too long",
				"directory", "%s", runtime_dir, "most_bytes", "%zu",
				sizeof(a.sun_path) - 1 - (len - strlen(runtime_dir)),
				NULL);
			return -ENAMETOOLONG;
		}
	}
	return 0;
}

/* ---- the tick ---- */

/* Nobody came or left, and nothing was sent, for a while: what a message may break is looked
 * at rarely then, so that an idle machine can sleep. Beacons do not count: every look at a
 * listener is answered with one. */
static bool is_at_rest(struct bus *bus, struct mono now)
{
	struct bus_stats stats;
	uint64_t sent;

	bus_get_stats(bus, &stats);
	sent = stats.calls + stats.published + bus->server.replies_sent;
	if (stats.connections != bus->rest.connections || sent != bus->rest.sent)
		bus->rest.since = now;
	bus->rest.connections = stats.connections;
	bus->rest.sent = sent;
	return mono_diff_ms(now, bus->rest.since) > REST_MS;
}

/* True if all that are wanted are there. */
static bool look_at_connections(struct bus *bus, struct mono now)
{
	bool all = bus_subscribe_look(bus, now);

	for (int i = 0; i < WORKER_COUNT; i++)
		if (!bus_peer_look(&bus->peers[i], now))
			all = false;
	return all;
}

static void on_tick(EVENT_UNUSED, void *arg)
{
	struct bus *bus = arg;
	struct mono now = clock_mono();
	const bool rest = is_at_rest(bus, now);
	bool look;

	event_add_in_step_ms(bus->tick, rest ? BUS_REST_TICK_MS : BUS_TICK_MS);
	bus->ticks++;
	look = !rest || bus->ticks % REST_LOOK_TICKS == 0;
	bus_serve_tick(bus);
	bus_publish_tick(bus);
	look_at_connections(bus, now);
	if (look)
		bus_canary_tick(bus);
	bus_affinity_tick(bus);
	if (bus_nng_threads_watch(look))
		log_error(
			"the task thread of nng stood still; all of them work now", NULL);
}

static void on_down_look(EVENT_UNUSED, void *arg)
{
	struct bus *bus = arg;
	const struct mono now = clock_mono();
	const int64_t down = mono_diff_ms(now, bus->down.since);

	if (!look_at_connections(bus, now) && down < DOWN_MS)
		event_add_ms(bus->down.look,
			down < DOWN_SOON_MS ? DOWN_SOON_LOOK_MS : DOWN_LOOK_MS);
}

void bus_end_rest(struct bus *bus)
{
	bus->down.since = bus->rest.since = clock_mono();
	event_add_in_step_ms(bus->tick, BUS_TICK_MS);
	event_add_ms(bus->down.look, 0);
}

static void on_flush(EVENT_UNUSED, void *arg)
{
	bus_publish_flush(arg);
	bus_call_flush(arg);
}

/* ---- open and start ---- */

static void on_drain(evutil_socket_t fd, short what, void *arg);

static int open_parts(struct bus *bus)
{
	int r = loop_post_init(&bus->post, bus->base);

	if (r < 0)
		return r;
	for (int i = 0; i < WORKER_COUNT; i++) {
		bus->feeds[i].bus = bus;
		bus->feeds[i].from = (enum worker_id)i;
		r = bus_peer_init(&bus->peers[i], bus, (enum worker_id)i);
		if (r < 0)
			return r;
	}
	bus->flush = evtimer_new(bus->base, on_flush, bus);
	bus->tick = evtimer_new(bus->base, on_tick, bus);
	bus->down.look = evtimer_new(bus->base, on_down_look, bus);
	bus->drain.event = event_new(bus->base, -1, EV_PERSIST, on_drain, bus);
	if (!bus->flush || !bus->tick || !bus->down.look || !bus->drain.event)
		return -ENOMEM;
	return bus_canary_init(bus);
}

struct bus *bus_open(struct event_base *base, enum worker_id self,
	const char *runtime_dir, uint64_t epoch)
{
	int r = check_paths(runtime_dir);
	struct bus *bus;

	if (r == 0)
		r = make_folders(runtime_dir);
	bus = r < 0 ? NULL : calloc(1, sizeof(*bus));

	if (!bus) {
		errno = r < 0 ? -r : ENOMEM;
		return NULL;
	}
	bus->base = base;
	bus->self = self;
	bus->epoch = epoch;
	bus->tap_fd = -1;
	random_bytes(&bus->incarnation, sizeof(bus->incarnation));
	snprintf(bus->runtime_dir, sizeof(bus->runtime_dir), "%s", runtime_dir);
	r = open_parts(bus);
	if (r < 0) {
		log_error("cannot open the bus", "error", "%s", strerror(-r), NULL);
		abort(); /* out of memory or descriptors before anything was done */
	}
	return bus;
}

void bus_set_keys(struct bus *bus, const struct bus_keys *keys)
{
	bus->keys = *keys;
}

bool bus_may_complain(struct bus *bus, unsigned *more)
{
	struct mono now = clock_mono();

	if (bus->complaints.since.us && mono_diff_ms(now, bus->complaints.since) < 1000) {
		bus->complaints.count++;
		return false;
	}
	*more = bus->complaints.count;
	bus->complaints.since = now;
	bus->complaints.count = 0;
	return true;
}

int bus_start(struct bus *bus)
{
	int r;

	if (bus->started)
		return 0;
	bus_affinity_start(bus); /* nng's threads have the slice of this one */
	bus_nng_threads_make(bus->epoch);
	r = bus->server.listener.listener ? 0 : bus_serve_open(bus);
	if (r == 0 && !bus->publisher.listener.listener)
		r = bus_publish_open(bus);
	if (r == 0)
		r = bus_subscribe_open(bus);
	if (r < 0)
		return r;
	bus->started = true;
	bus_end_rest(bus);
	bus_call_ask_flush(bus);
	return 0;
}

void bus_start_serving(struct bus *bus)
{
	assert(bus->started);
	bus_serve_start(bus);
}

/* ---- drain ---- */

/* So that nobody dials a worker that is gone (bus_dial.c). */
static void remove_sockets(const struct bus *bus)
{
	char path[108];

	bus_socket_path(bus, bus->self, BUS_CALLS_SOCKET, path);
	unlink(path);
	bus_socket_path(bus, bus->self, BUS_EVENTS_SOCKET, path);
	unlink(path);
}

static void on_drain(EVENT_UNUSED, void *arg)
{
	struct bus *bus = arg;
	struct mono now = clock_mono();

	if (now.us < bus->drain.end.us &&
		(bus->server.open_requests > 0 || bus->stats.in_flight > 0 ||
			mono_diff_ms(now, bus->sent_at) < DRAIN_QUIET_MS))
		return;
	event_del(bus->drain.event);
	remove_sockets(bus);
	bus->drain.done(bus->drain.arg);
}

void bus_drain(struct bus *bus, void (*done)(void *arg), void *arg)
{
	bus_publish_flush(bus);
	bus->server.draining = true;
	bus->drain.done = done;
	bus->drain.arg = arg;
	bus->drain.end = mono_add_ms(clock_mono(), DRAIN_MOST_MS);
	event_add_ms(bus->drain.event, DRAIN_LOOK_MS);
	event_active(bus->drain.event, EV_TIMEOUT, 0); /* most often it is over at once */
}

/* ---- looking ---- */

bool bus_congested(const struct bus *bus, enum worker_id owner)
{
	return bus->peers[owner].congested;
}

void bus_on_uncongested(struct bus *bus,
	void (*on_uncongested)(void *arg, enum worker_id owner), void *arg)
{
	bus->on_uncongested = on_uncongested;
	bus->on_uncongested_arg = arg;
}

void bus_get_owner_stats(
	const struct bus *bus, enum worker_id owner, struct bus_owner_stats *out)
{
	*out = bus->peers[owner].stats;
	out->waiting = bus->peers[owner].calls;
}

void bus_get_stats(const struct bus *bus, struct bus_stats *out)
{
	*out = bus->stats;
	out->connections = atomic_load(&bus->server.listener.open) +
			   atomic_load(&bus->publisher.listener.open);
}
