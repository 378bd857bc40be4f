/*
 * bus_canary.c - whether our listeners still accept.
 *
 * nng 1.5.2 stops accepting for ever when a peer vanishes during the handshake (nng
 * 1518). The transport goes on to greet, so a peer takes itself for connected and is
 * never heard. Every few seconds, or every ten minutes while the bus is at rest, a plain
 * socket connects to each of our listeners, says the eight bytes of greeting that a peer
 * would say, and leaves once nng has told of a new connection, which is safe. Two misses
 * in a row: close the listener and listen again. nng closes the connections of a listener
 * with it: they come again, and calls under way are sent again as when their owner dies
 * (bus_retry.h).
 */
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include "common/bus/rules/bus_folder.h"
#include "common/loop/timer.h"
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CANARY_EVERY_TICKS 5
#define CANARY_WAIT_MS 500
#define CANARY_MISSES 2

/* Protocol numbers of the SP handshake. */
#define PROTO_REQ 0x30
#define PROTO_SUB 0x21

static void leave(struct bus_canary *c)
{
	event_del(c->timer);
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

static void relisten(struct bus_canary *c)
{
	int r;

	c->misses = 0;
	c->deaf = true;
	c->bus->stats.deaf_relistens++;
	log_warn("listener is deaf; listening again", "socket", "%s", c->suffix, NULL);
	r = bus_listener_relisten(c->listener);
	if (r < 0)
		log_error("cannot listen again", "socket", "%s", c->suffix, "error", "%s",
			strerror(-r), NULL);
}

/* Connects and greets. 0, or -errno when not even that works. */
static int greet(struct bus_canary *c)
{
	const unsigned char greeting[8] = {
		0, 'S', 'P', 0, 0, (unsigned char)c->proto, 0, 0};
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	bus_socket_path(c->bus, c->bus->self, c->suffix, address.sun_path);
	c->connections = atomic_load(&c->listener->connections);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return -errno;
	if (connect(c->fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		send(c->fd, greeting, sizeof(greeting), MSG_NOSIGNAL) !=
			sizeof(greeting)) {
		int r = -errno;

		leave(c);
		return r;
	}
	event_add_ms(c->timer, CANARY_WAIT_MS);
	return 0;
}

static void missed(struct bus_canary *c)
{
	leave(c);
	c->misses++;
	/* The second try follows at once: a deaf listener keeps others waiting. */
	if (c->misses < CANARY_MISSES && greet(c) == 0)
		return;
	relisten(c);
}

/* A connection of somebody else shows as well that the listener accepts. */
static bool accepted(struct bus_canary *c)
{
	if (atomic_load(&c->listener->connections) == c->connections)
		return false;
	leave(c);
	c->misses = 0;
	if (c->deaf)
		log_info("listener accepts again", "socket", "%s", c->suffix, NULL);
	c->deaf = false;
	return true;
}

static void on_timer(EVENT_UNUSED, void *arg)
{
	struct bus_canary *c = arg;

	if (!accepted(c))
		missed(c);
}

void bus_canary_connected(struct bus *bus)
{
	for (int i = 0; i < 2; i++)
		if (bus->canaries[i].fd >= 0)
			accepted(&bus->canaries[i]);
}

void bus_canary_tick(struct bus *bus)
{
	if (bus->ticks % CANARY_EVERY_TICKS != 0)
		return;
	for (int i = 0; i < 2; i++) {
		struct bus_canary *c = &bus->canaries[i];

		if (c->fd < 0 && greet(c) < 0)
			missed(c);
	}
}

int bus_canary_init(struct bus *bus)
{
	bus->canaries[0] = (struct bus_canary){.bus = bus,
		.listener = &bus->server.listener,
		.suffix = BUS_CALLS_SOCKET,
		.proto = PROTO_REQ,
		.fd = -1};
	bus->canaries[1] = (struct bus_canary){.bus = bus,
		.listener = &bus->publisher.listener,
		.suffix = BUS_EVENTS_SOCKET,
		.proto = PROTO_SUB,
		.fd = -1};
	for (int i = 0; i < 2; i++) {
		struct bus_canary *c = &bus->canaries[i];

		c->timer = evtimer_new(bus->base, on_timer, c);
		if (!c->timer)
			return -ENOMEM;
	}
	return 0;
}
