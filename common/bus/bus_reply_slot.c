/*
 * bus_reply_slot.c - where requests arrive and replies leave: one nng context each, some of
 * them always waiting for a request. Called by bus_serve.c and bus_answer.c, which hold a
 * slot from the request to the reply.
 */
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include <stdlib.h>

/* Slots that wait for a request at any time, and the most there may be. */
#define REPLY_SLOTS_LISTENING 8
#define REPLY_SLOTS_MAX 1024

static void on_received(struct loop_task *task);

struct reply_slot {
	struct bus_reception reception;
	struct bus *bus;
};

/* ---- reply slots: where a request arrives and its reply leaves ---- */

static void listen_at(struct bus *bus, struct bus_reception *reply_slot)
{
	bus->server.listening++;
	bus_reception_wait(reply_slot);
}

void bus_serve_drop_reply_slot(struct bus *bus, struct bus_reception *reply_slot)
{
	if (reply_slot)
		listen_at(bus, reply_slot);
}

void bus_serve_answered(struct bus *bus, struct bus_reception *reply_slot)
{
	struct bus_server *s = &bus->server;

	reply_slot->next = NULL;
	if (s->answered_last)
		s->answered_last->next = reply_slot;
	else
		s->answered = reply_slot;
	s->answered_last = reply_slot;
}

static struct bus_reception *reply_slot_get(struct bus *bus)
{
	struct bus_server *s = &bus->server;
	struct bus_reception *free_one = s->answered;
	struct reply_slot *p;

	if (free_one && bus_reception_free(free_one)) {
		s->answered = free_one->next;
		if (!s->answered)
			s->answered_last = NULL;
		return free_one;
	}
	if (s->receptions >= REPLY_SLOTS_MAX)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p || bus_reception_init(
			  &p->reception, &s->listener, &bus->post, on_received) < 0)
		abort();
	p->bus = bus;
	s->receptions++;
	return &p->reception;
}

void bus_serve_tick(struct bus *bus)
{
	struct bus_reception *reply_slot;

	if (!bus->server.serving || bus->server.draining)
		return;
	while (bus->server.listening < REPLY_SLOTS_LISTENING &&
		(reply_slot = reply_slot_get(bus)))
		listen_at(bus, reply_slot);
}

static void on_received(struct loop_task *task)
{
	struct bus_reception *reply_slot =
		CONTAINER_OF(task, struct bus_reception, received);
	struct bus *bus = CONTAINER_OF(reply_slot, struct reply_slot, reception)->bus;
	struct nng_msg *message = bus_reception_take(reply_slot);

	bus->server.listening--;
	if (!message)
		log_error("receiving a request failed", NULL);
	else if (bus->server.draining)
		bus_message_free(message); /* no reply: the caller sees us go */
	else
		bus_serve_take(bus, message, reply_slot);
	bus_serve_tick(bus);
}

void bus_serve_start(struct bus *bus)
{
	bus->server.serving = true;
	bus_serve_tick(bus);
}
