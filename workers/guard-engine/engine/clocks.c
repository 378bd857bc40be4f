/* clocks.c - see clocks.h. */
#include "workers/guard-engine/engine/clocks.h"
#include "common/base/clock.h"
#include "common/base/file_io.h"
#include "common/base/ids.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static const clockid_t kernel_clocks[CLOCKS_COUNT] = {
	[MACHINE_CLOCK_BOOT] = CLOCK_BOOTTIME,
	[MACHINE_CLOCK_AWAKE] = CLOCK_MONOTONIC,
};

static int64_t raw_now_ms(enum machine_clock clock)
{
	struct timespec t;

	clock_gettime(kernel_clocks[clock], &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct moment clocks_now(const struct clocks *c, enum machine_clock clock)
{
	const int64_t wall = wall_ms(clock_wall());

	return (struct moment){
		.boot_id = str_of(c->boot_id),
		.raw_ms = raw_now_ms(clock),
		/* Times of streams are not negative: before 1970 it is 1970. */
		.wall_ms = wall > 0 ? wall : 0,
	};
}

/* Sets the timer for the next alarm; a time that has passed fires at once. */
static void arm(struct clock_alarms *k)
{
	const struct alarm *first = alarms_first(&k->alarms);
	int64_t at_ms = first ? first->at_ms : MACHINE_NEVER;
	struct itimerspec when = {0};

	if (at_ms == k->set_for_ms)
		return;
	k->set_for_ms = at_ms;
	if (first) {
		if (at_ms < 1)
			at_ms = 1; /* zero would disarm it */
		when.it_value.tv_sec = (time_t)(at_ms / 1000);
		when.it_value.tv_nsec = (long)(at_ms % 1000) * 1000000;
	}
	timerfd_settime(k->fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct clocks *c = arg;
	uint64_t times;

	(void)what;
	for (int i = 0; i < CLOCKS_COUNT; i++) {
		struct clock_alarms *k = &c->by_clock[i];
		struct alarm *first;

		if (k->fd != fd)
			continue;
		if (read(fd, &times, sizeof(times)) < 0 && errno != EAGAIN)
			return;
		k->set_for_ms = MACHINE_NEVER;
		while ((first = alarms_first(&k->alarms)) &&
			first->at_ms <= raw_now_ms(k->clock)) {
			alarms_clear(&k->alarms, first);
			c->on_alarm(c->arg, first);
		}
		arm(k);
	}
}

void clocks_set(
	struct clocks *c, enum machine_clock clock, struct alarm *a, int64_t raw_ms)
{
	struct clock_alarms *k = &c->by_clock[clock];

	if (raw_ms == MACHINE_NEVER)
		alarms_clear(&k->alarms, a);
	else
		alarms_set(&k->alarms, a, raw_ms);
	arm(k);
}

/* Without one every process counts as a boot of its own: streams go on by the wall clock.
 */
static void read_boot_id(char out[TIMELINE_BOOT_SIZE])
{
	AUTO_FD fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, out, TIMELINE_BOOT_SIZE - 1);

	out[len > 0 ? len : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	if (!out[0])
		uuid4(out);
}

int clocks_init(struct clocks *c, struct event_base *base,
	void (*on_alarm)(void *arg, struct alarm *a), void *arg)
{
	*c = (struct clocks){.on_alarm = on_alarm, .arg = arg};
	read_boot_id(c->boot_id);
	for (int i = 0; i < CLOCKS_COUNT; i++) {
		struct clock_alarms *k = &c->by_clock[i];

		k->clock = (enum machine_clock)i;
		k->set_for_ms = MACHINE_NEVER;
		k->fd = timerfd_create(kernel_clocks[i], TFD_NONBLOCK | TFD_CLOEXEC);
		if (k->fd < 0)
			return -errno;
		k->event = event_new(base, k->fd, EV_READ | EV_PERSIST, on_timer, c);
		if (!k->event || event_add(k->event, NULL) < 0)
			return -ENOMEM;
	}
	return 0;
}
