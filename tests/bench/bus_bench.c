/*
 * bus_bench.c - how fast the bus is between two processes on this machine.
 *
 *   bus_bench [latency|pipeline|alone|events] [seconds]
 *
 * One process plays the file worker and answers at once, the other plays the gateway:
 *   latency   one call at a time, also with pauses between them as an editor makes them
 *   pipeline  256 calls in flight that may share messages
 *   alone     64 calls in flight, each in a message of its own
 *   events    publishes as fast as 1000 events per millisecond turn are taken
 * Not run by the tests.
 */
#include "common/base/log.h"
#include "common/bus/bus.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define EPOCH 1
#define SAMPLES_MAX 2000000

struct bench {
	struct event_base *base;
	struct bus *bus;
	enum method method;
	unsigned depth;
	int pause_us;
	struct mono end;
	struct mono begun; /* of the sequential call */
	uint64_t done, failed;
	int64_t *samples; /* ns */
	size_t count;
	unsigned in_flight;
	struct event *again;
};

static char directory[] = "/tmp/bus-bench-XXXXXX";

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* ---- the file worker ---- */

static void on_call(void *arg, struct bus_request *request, const void *message)
{
	(void)arg;
	(void)message;
	bus_answer(request, STR_LIT("{\"files\":[\"src/main.c\",\"src/other.c\"]}"));
}

static void publish_some(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	for (int i = 0; i < 20; i++)
		bus_publish(
			arg, "ui/fs:tree_update", STR_LIT("{\"path\":\"src/main.c\"}"));
}

static void run_server(bool events)
{
	struct event_base *base = event_base_new();
	struct bus *bus = bus_open(base, WORKER_FSWATCH, directory, EPOCH);
	const struct timeval millisecond = {0, 1000};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!bus || bus_start(bus) < 0)
		exit(1);
	for (int i = 0; i < METHOD_COUNT; i++)
		bus_serve(bus, (enum method)i, on_call, NULL);
	bus_start_serving(bus);
	if (events) {
		struct event *e = event_new(base, -1, EV_PERSIST, publish_some, bus);

		event_add(e, &millisecond);
	}
	event_base_dispatch(base);
	_exit(1);
}

/* ---- the gateway ---- */

static void call(struct bench *b);

static void on_reply(void *arg, const struct bus_reply *reply)
{
	struct bench *b = arg;

	if (b->depth == 1 && b->count < SAMPLES_MAX)
		b->samples[b->count++] = now_ns() - b->begun.us;
	b->done++;
	b->in_flight--;
	if (reply->status != BUS_OK)
		b->failed++;
	if (clock_mono().us >= b->end.us) {
		if (b->in_flight == 0)
			event_base_loopbreak(b->base);
	} else if (b->pause_us) {
		struct timeval pause = {0, b->pause_us};

		event_add(b->again, &pause);
	} else {
		call(b);
	}
}

static void call(struct bench *b)
{
	static const char body[] = "{\"path\":\"src/some/directory/file.c\"}";

	b->begun.us = now_ns();
	b->in_flight++;
	bus_call(b->bus, b->method, (struct str){NULL, 0}, STR_LIT(body), 0, on_reply, b);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	call(arg);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static double cpu_seconds(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void measure(struct bench *b, const char *name, enum method method, unsigned depth,
	int pause_us, int64_t ms)
{
	double cpu = cpu_seconds(RUSAGE_SELF);
	int64_t begin = now_ns();
	double seconds;

	b->method = method;
	b->depth = depth;
	b->pause_us = pause_us;
	b->count = b->done = b->failed = 0;
	b->end = mono_add_ms(clock_mono(), ms);
	for (unsigned i = 0; i < depth; i++)
		call(b);
	event_base_dispatch(b->base);
	seconds = (double)(now_ns() - begin) / 1e9;
	cpu = cpu_seconds(RUSAGE_SELF) - cpu;
	printf("%-28s %9.0f calls/s  caller %5.1f us CPU each  failed %llu", name,
		(double)b->done / seconds, cpu * 1e6 / (double)b->done,
		(unsigned long long)b->failed);
	if (b->count) {
		qsort(b->samples, b->count, sizeof(*b->samples), by_value);
		printf("  p50 %.1f  p90 %.1f  p99 %.1f us",
			(double)b->samples[b->count / 2] / 1e3,
			(double)b->samples[b->count * 9 / 10] / 1e3,
			(double)b->samples[b->count * 99 / 100] / 1e3);
	}
	printf("\n");
	fflush(stdout);
}

static void on_event(void *arg, const struct bus_event *event)
{
	(void)event;
	++*(uint64_t *)arg;
}

static void measure_events(struct bench *b, int64_t ms, const uint64_t *received)
{
	double cpu = cpu_seconds(RUSAGE_SELF);
	struct timeval wait = {ms / 1000, ms % 1000 * 1000};
	struct bus_stats stats;
	uint64_t before;

	event_base_loopexit(b->base, &(struct timeval){0, 200000});
	event_base_dispatch(b->base);
	before = *received;
	event_base_loopexit(b->base, &wait);
	event_base_dispatch(b->base);
	bus_get_stats(b->bus, &stats);
	printf("%-28s %9.0f events/s  subscriber %5.1f us CPU each  gaps %llu\n",
		"events, 20 each ms", (double)(*received - before) * 1000 / (double)ms,
		(cpu_seconds(RUSAGE_SELF) - cpu) * 1e6 / (double)(*received - before),
		(unsigned long long)stats.gaps);
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	int64_t ms = (argc > 2 ? atoi(argv[2]) : 2) * 1000;
	bool events = strcmp(only, "events") == 0;
	uint64_t received = 0;
	struct bench b = {0};
	pid_t server;

	if (!mkdtemp(directory))
		return 1;
	log_init("bus_bench", LOG_LEVEL_WARN);
	server = fork();
	if (server == 0)
		run_server(events);
	b.base = event_base_new();
	b.samples = malloc(SAMPLES_MAX * sizeof(*b.samples));
	b.again = evtimer_new(b.base, on_again, &b);
	b.bus = bus_open(b.base, WORKER_GATEWAY, directory, EPOCH);
	if (events)
		bus_subscribe(b.bus, WORKER_FSWATCH, "ui/", on_event, &received);
	if (!b.samples || !b.bus || bus_start(b.bus) < 0)
		return 1;
	if (!*only || strcmp(only, "latency") == 0) {
		measure(&b, "warm up", METHOD_FS_OPEN_FILES, 1, 0, 300);
		measure(&b, "one at a time", METHOD_FS_OPEN_FILES, 1, 0, ms);
		measure(&b, "one at a time, alone", METHOD_FS_TREE, 1, 0, ms);
		measure(&b, "one each ms", METHOD_FS_OPEN_FILES, 1, 1000, ms);
	}
	if (!*only || strcmp(only, "pipeline") == 0) {
		measure(&b, "2 in flight, batched", METHOD_FS_OPEN_FILES, 2, 0, ms);
		measure(&b, "8 in flight, batched", METHOD_FS_OPEN_FILES, 8, 0, ms);
		measure(&b, "64 in flight, batched", METHOD_FS_OPEN_FILES, 64, 0, ms);
		measure(&b, "256 in flight, batched", METHOD_FS_OPEN_FILES, 256, 0, ms);
	}
	if (!*only || strcmp(only, "alone") == 0) {
		measure(&b, "8 in flight, alone", METHOD_FS_TREE, 8, 0, ms);
		measure(&b, "64 in flight, alone", METHOD_FS_TREE, 64, 0, ms);
	}
	if (events)
		measure_events(&b, ms, &received);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	printf("server %.2f s CPU\n", cpu_seconds(RUSAGE_CHILDREN));
	_exit(0);
}
