/*
 * bus_affinity.c - where and how soon the loops of gateway and fswatch run: people wait
 * for their answers. A trick for speed; its figures are in docs/architecture.md.
 *
 * The loop is bound to the processor of nng's threads, which then pass a message on
 * without waking another processor. Large requests are faster when caller and owner run in
 * parallel: after one, both are unbound until a whole tick has passed without another. The
 * loop is bound at the first tick and not before, so that the work of the start is spread.
 *
 * From Linux 6.12 on a thread may ask for a short time slice. Its share of the processor
 * does not grow, but it runs at once when it wakes, also beside busy processes. Threads
 * that it starts later have the same slice.
 *
 * Called on the loop's thread: at the start, by the tick, and wherever a request leaves or
 * arrives.
 */
#include "common/bus/bus_private.h"
#include "common/bus/nng/bus_nng_threads.h"
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Reading so many bytes takes longer than waking a processor. */
#define LARGE_REQUEST (32u * 1024)
/* The shortest that the kernel accepts. */
#define SLICE_NS 100000

/* What sched_setattr(2) takes; glibc declares it from 2.41 on. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static bool takes_part(enum worker_id worker)
{
	return worker == WORKER_GATEWAY || worker == WORKER_FSWATCH;
}

void bus_affinity_start(const struct bus *bus)
{
	struct attributes a = {.size = sizeof(a)};

	/* Another policy was chosen by whoever runs the daemon. */
	if (!takes_part(bus->self) ||
		syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) < 0 ||
		a.policy != SCHED_OTHER)
		return;
	a.runtime = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &a, 0);
}

void bus_affinity_request(struct bus *bus, enum worker_id with, size_t request_bytes)
{
	if (request_bytes < LARGE_REQUEST || !takes_part(with) || !takes_part(bus->self))
		return;
	bus->affinity.large = true;
	if (bus->affinity.bound)
		bus_nng_threads_leave();
	bus->affinity.bound = false;
}

void bus_affinity_tick(struct bus *bus)
{
	if (takes_part(bus->self) && !bus->affinity.large && !bus->affinity.bound)
		bus->affinity.bound = bus_nng_threads_join();
	bus->affinity.large = false;
}
