/* turns.c - see turns.h. */
#include "common/worker/turns.h"
#include "proto/codec/messages.h"
#include <dlfcn.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#define TURN_LIMIT(us) us,
const int64_t turn_limits_us[TURN_LIMIT_COUNT] = {TURN_LIMITS(TURN_LIMIT)};
#undef TURN_LIMIT

/* Of the loop's thread. */
static _Thread_local bool counting;

static struct {
	bool begun;
	int64_t wall_us, cpu_us; /* when the turn under way began */
	int64_t count, total_us, longest_us, longest_cpu_us;
	int64_t within[TURN_LIMIT_COUNT]; /* by the lowest limit that it keeps */
} turns;

static int64_t now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void begin(void)
{
	turns.begun = true;
	turns.wall_us = now_us(CLOCK_MONOTONIC);
	turns.cpu_us = now_us(CLOCK_THREAD_CPUTIME_ID);
}

static void end(void)
{
	int64_t wall_us = now_us(CLOCK_MONOTONIC) - turns.wall_us;
	int64_t cpu_us = now_us(CLOCK_THREAD_CPUTIME_ID) - turns.cpu_us;
	size_t i = 0;

	turns.count++;
	turns.total_us += wall_us;
	if (turns.longest_us < wall_us)
		turns.longest_us = wall_us;
	if (turns.longest_cpu_us < cpu_us)
		turns.longest_cpu_us = cpu_us;
	while (i < TURN_LIMIT_COUNT && wall_us > turn_limits_us[i])
		i++;
	if (i < TURN_LIMIT_COUNT)
		turns.within[i]++;
}

/* libevent and nng call this one; the C library's does the work. */
int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	static int (*real)(int, struct epoll_event *, int, int);
	int n;

	if (!real) {
		void *next = dlsym(RTLD_NEXT, "epoll_wait");

		memcpy(&real, &next, sizeof(real));
	}
	if (counting && turns.begun)
		end();
	n = real(fd, events, max, timeout);
	if (counting)
		begin();
	return n;
}

void turns_start(void)
{
	counting = true;
}

void turns_get(struct turns *out)
{
	static struct turns_bucket buckets[TURN_LIMIT_COUNT];

	for (size_t i = 0; i < TURN_LIMIT_COUNT; i++)
		buckets[i] = (struct turns_bucket){.limit_us = turn_limits_us[i],
			.has_limit_us = true,
			.count = turns.within[i],
			.has_count = true};
	*out = (struct turns){.count = turns.count,
		.has_count = true,
		.total_us = turns.total_us,
		.has_total_us = true,
		.longest_us = turns.longest_us,
		.has_longest_us = true,
		.longest_cpu_us = turns.longest_cpu_us,
		.has_longest_cpu_us = true,
		.buckets = {buckets, TURN_LIMIT_COUNT}};
}
