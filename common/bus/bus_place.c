/*
 * bus_place.c - where requests arrive and replies leave: one nng context each, some of
 * them always waiting for a request. Called by bus_serve.c and bus_answer.c, which hold a
 * place from the request to the reply.
 */
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include <stdlib.h>

/* Places that wait for a request at any time, and the most there may be. */
#define PLACES_LISTENING 8
#define PLACES_MAX 1024

static void on_received(struct bus_note *note);

struct place {
	struct bus_reception reception;
	struct bus *bus;
};

/* ---- places: where a request arrives and its reply leaves ---- */

static void listen_at(struct bus *bus, struct bus_reception *place)
{
	bus->server.listening++;
	bus_reception_wait(place);
}

void bus_serve_drop_place(struct bus *bus, struct bus_reception *place)
{
	if (place)
		listen_at(bus, place);
}

void bus_serve_answered(struct bus *bus, struct bus_reception *place)
{
	struct bus_server *s = &bus->server;

	place->next = NULL;
	if (s->answered_last)
		s->answered_last->next = place;
	else
		s->answered = place;
	s->answered_last = place;
}

static struct bus_reception *place_get(struct bus *bus)
{
	struct bus_server *s = &bus->server;
	struct bus_reception *free_one = s->answered;
	struct place *p;

	if (free_one && bus_reception_free(free_one)) {
		s->answered = free_one->next;
		if (!s->answered)
			s->answered_last = NULL;
		return free_one;
	}
	if (s->receptions >= PLACES_MAX)
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
	struct bus_reception *place;

	if (!bus->server.serving || bus->server.draining)
		return;
	while (bus->server.listening < PLACES_LISTENING && (place = place_get(bus)))
		listen_at(bus, place);
}

static void on_received(struct bus_note *note)
{
	struct bus_reception *place = CONTAINER_OF(note, struct bus_reception, received);
	struct bus *bus = CONTAINER_OF(place, struct place, reception)->bus;
	struct nng_msg *message = bus_reception_take(place);

	bus->server.listening--;
	if (!message)
		log_error("receiving a request failed", NULL);
	else if (bus->server.draining)
		bus_message_free(message); /* no reply: the caller sees us go */
	else
		bus_serve_take(bus, message, place);
	bus_serve_tick(bus);
}

void bus_serve_start(struct bus *bus)
{
	bus->server.serving = true;
	bus_serve_tick(bus);
}
