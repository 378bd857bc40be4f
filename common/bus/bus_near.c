/*
 * bus_near.c - on which processor the loop of a worker that is `near` runs.
 *
 * There, a message is handed on by nng's threads without waking another processor. When
 * much is to be read at once, two such workers do better side by side: after a large
 * request between them both roam, until none came for a whole tick. From the first tick
 * on, so that the work of the start is spread, too. Called where requests leave and
 * arrive, and by the tick; on the loop's thread.
 */
#include "common/bus/bus_nng_threads.h"
#include "common/bus/bus_private.h"

/* So many bytes are work for longer than a processor takes to wake up. */
#define LARGE_REQUEST (32u * 1024)

void bus_near_note(struct bus *bus, enum worker_id with, size_t request_bytes)
{
	if (request_bytes < LARGE_REQUEST || !worker_infos[with].near)
		return;
	bus->near.large = true;
	if (bus->near.there)
		bus_thread_roams();
	bus->near.there = false;
}

bool bus_near_to(const struct bus *bus, enum worker_id other)
{
	return bus->near.there && worker_infos[other].near;
}

void bus_near_tick(struct bus *bus)
{
	if (worker_infos[bus->self].near && !bus->near.large && !bus->near.there)
		bus->near.there = bus_nng_threads_join();
	bus->near.large = false;
}
