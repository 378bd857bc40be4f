/*
 * bus_affinity.c - binds the loop of a worker with `affinity` to the processor of nng's
 * threads.
 *
 * There, nng's threads pass a message to the loop without waking another processor. Large
 * requests are faster when caller and owner run in parallel: after one, both are unbound
 * until a whole tick has passed without another. The loop is bound at the first tick and
 * not before, so that the work of the start is spread as well. Called on the loop's
 * thread, by the tick and wherever a request leaves or arrives.
 */
#include "common/bus/bus_nng_threads.h"
#include "common/bus/bus_private.h"

/* Reading so many bytes takes longer than waking a processor. */
#define LARGE_REQUEST (32u * 1024)

void bus_affinity_request(struct bus *bus, enum worker_id with, size_t request_bytes)
{
	if (request_bytes < LARGE_REQUEST || !worker_infos[with].affinity)
		return;
	bus->affinity.large = true;
	if (bus->affinity.pinned)
		bus_thread_roams();
	bus->affinity.pinned = false;
}

bool bus_affinity_shared(const struct bus *bus, enum worker_id other)
{
	return bus->affinity.pinned && worker_infos[other].affinity;
}

void bus_affinity_tick(struct bus *bus)
{
	if (worker_infos[bus->self].affinity && !bus->affinity.large &&
		!bus->affinity.pinned)
		bus->affinity.pinned = bus_nng_threads_join();
	bus->affinity.large = false;
}
