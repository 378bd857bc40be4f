/*
 * clocks.h - the kernel's clocks that streams follow, and timers on them.
 *
 * CLOCK_BOOTTIME goes on while the computer sleeps, CLOCK_MONOTONIC does not (machine.h).
 * A timer on the first fires as soon as the computer wakes up, if its time passed
 * meanwhile, which a timeout of the event loop would not. Called by the engine.
 */
#pragma once

#include "common/machine/machine.h"
#include "workers/guard-engine/engine/alarms.h"
#include "workers/guard-engine/engine/timeline.h"
#include <event2/event.h>

#define CLOCKS_COUNT 2

/* One clock with the alarms that are set on it. */
struct clock_alarms {
	enum machine_clock clock;
	struct alarms alarms; /* in milliseconds of the clock itself */
	int fd;		      /* timerfd */
	struct event *event;
	int64_t set_for_ms; /* what the timer is set for; MACHINE_NEVER: nothing */
};

struct clocks {
	char boot_id[TIMELINE_BOOT_SIZE];
	struct clock_alarms by_clock[CLOCKS_COUNT];
	/* An alarm whose time has come; it is out of the heap. */
	void (*on_alarm)(void *arg, struct alarm *a);
	void *arg;
};

/* Before the process is confined. 0 or -errno. */
int clocks_init(struct clocks *c, struct event_base *base,
	void (*on_alarm)(void *arg, struct alarm *a), void *arg)
	__attribute__((warn_unused_result));

struct moment clocks_now(const struct clocks *c, enum machine_clock clock);

/* Sets, moves or (MACHINE_NEVER) clears an alarm; the time is the clock's own. */
void clocks_set(
	struct clocks *c, enum machine_clock clock, struct alarm *a, int64_t raw_ms);
