/* bus_nng_threads.c - keeps all but one of nng's task threads asleep (bus_nng_threads.h).
 */
#include "common/bus_nng_threads.h"
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

/*
 * nng wakes its task thread while it holds the locks that the task needs: a thread that
 * gets the processor at once only runs into them, twice for each message. As a batch
 * thread it waits until the one that woke it has gone to sleep.
 */
static void wait_your_turn(void)
{
	static _Thread_local bool done;
	const struct sched_param none = {0};

	if (!done)
		pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
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

void bus_nng_threads_park(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN) * 2;
	nng_aio *sleeper;

	if (probe || nng_aio_alloc(&probe, probed, NULL) != 0)
		return;
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

bool bus_nng_threads_watch(void)
{
	if (awake || !probe)
		return false;
	if (!atomic_load(&probe_under_way)) {
		overdue = 0;
		atomic_store(&probe_under_way, true);
		run_task(probe);
		return false;
	}
	if (++overdue < PROBE_WATCHES)
		return false;
	wake_all();
	return true;
}
