/* bus_nng_threads.c - how nng's threads are placed (bus_nng_threads.h). */
#include "common/bus/nng/bus_nng_threads.h"
#include <nng/nng.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* nng's own rule: two per processor, at most so many. */
#define TASK_THREADS_MAX 16
/* How long a task may take to run while parking, and in how many watches later on. */
#define PROBE_MS 200
#define PROBE_WATCHES 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool awake; /* under lock: nobody sleeps any more */

/* Where this process may run, and where nng's threads do; used only if placed. */
static cpu_set_t everywhere, home;
static bool placed;

static atomic_bool probe_under_way;
static nng_aio *probe;
static int overdue;

/* Runs on a task thread, for as long as the process unless the watch fires. */
static void sleep_here(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	while (!awake)
		pthread_cond_wait(&wake, &lock);
	pthread_mutex_unlock(&lock);
}

/* The working task thread waits until the one that woke it has gone to sleep. 0 is the
 * thread itself: a confined worker may name no other, not even by its own number. */
static void wait_your_turn(void)
{
	static _Thread_local bool done;
	const struct sched_param none = {0};

	if (!done)
		sched_setscheduler(0, SCHED_BATCH, &none);
	done = true;
}

static void probed(void *arg)
{
	(void)arg;
	wait_your_turn();
	atomic_store(&probe_under_way, false);
}

/* Has the callback run on a task thread. */
static void run_task(nng_aio *aio)
{
	if (nng_aio_begin(aio))
		nng_aio_finish(aio, 0);
}

static void wake_all(void)
{
	pthread_mutex_lock(&lock);
	awake = true;
	pthread_cond_broadcast(&wake);
	pthread_mutex_unlock(&lock);
}

static bool tasks_run(void)
{
	const struct timespec pause = {0, 20000};

	atomic_store(&probe_under_way, true);
	run_task(probe);
	for (int i = 0; i < PROBE_MS * 10 && atomic_load(&probe_under_way); i++)
		nanosleep(&pause, NULL);
	return !atomic_load(&probe_under_way);
}

static void park(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN) * 2;
	nng_aio *sleeper;

	if (count > TASK_THREADS_MAX)
		count = TASK_THREADS_MAX;
	for (long i = 1; i < count; i++) {
		if (nng_aio_alloc(&sleeper, sleep_here, NULL) != 0)
			return;
		run_task(sleeper);
		if (!tasks_run()) {
			wake_all();
			return;
		}
	}
}

/* One of the processors that this process may use, but not the first if there are others:
 * most interrupts go there, and a call takes half as long again. */
static cpu_set_t choose(const cpu_set_t *allowed, uint64_t seed)
{
	uint64_t count = (uint64_t)CPU_COUNT(allowed);
	uint64_t skip = count > 1 ? 1 + seed % (count - 1) : 0;
	cpu_set_t one;

	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, allowed) && skip-- == 0) {
			CPU_SET(cpu, &one);
			break;
		}
	}
	return one;
}

void bus_nng_threads_make(uint64_t seed)
{
	if (probe)
		return;
	/* Threads begin where the one that makes them may run. Fails beyond 1024
	 * processors. */
	if (sched_getaffinity(0, sizeof(everywhere), &everywhere) == 0) {
		home = choose(&everywhere, seed);
		placed = sched_setaffinity(0, sizeof(home), &home) == 0;
	}
	if (nng_aio_alloc(&probe, probed, NULL) == 0)
		park();
	bus_nng_threads_leave();
}

bool bus_nng_threads_join(void)
{
	return placed && sched_setaffinity(0, sizeof(home), &home) == 0;
}

void bus_nng_threads_leave(void)
{
	if (placed)
		sched_setaffinity(0, sizeof(everywhere), &everywhere);
}

bool bus_nng_threads_watch(bool look)
{
	if (awake || !probe)
		return false;
	if (!atomic_load(&probe_under_way)) {
		overdue = 0;
		if (look) {
			atomic_store(&probe_under_way, true);
			run_task(probe);
		}
		return false;
	}
	if (++overdue < PROBE_WATCHES)
		return false;
	wake_all();
	return true;
}
