/*
 * timer.h - libevent's timers in milliseconds, and handlers of its events.
 *
 * For what links libevent. Negative times count as 0: the timer comes in the next turn of
 * the loop.
 */
#pragma once

#include <event2/event.h>
#include <stdint.h>

/* What libevent gives a handler that needs its `arg` alone:
 * static void on_timer(EVENT_UNUSED, void *arg) */
#define EVENT_UNUSED                                                                     \
	__attribute__((unused)) evutil_socket_t fd, __attribute__((unused)) short what

static inline struct timeval timeval_ms(int64_t ms)
{
	if (ms < 0)
		ms = 0;
	return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

/* event_add: 0, or -1 when memory is out. */
static inline int event_add_ms(struct event *event, int64_t ms)
{
	const struct timeval tv = timeval_ms(ms);

	return event_add(event, &tv);
}

/*
 * event_add for the next of the times that are a whole number of periods apart, for what
 * comes again and again while nobody does anything. All processes of a daemon take its epoch
 * as phase: they wake together, and those of many daemons on one machine do not. To be
 * added anew each time it has come; the first wait is up to an eighth longer. 0, or -1
 * when memory is out.
 */
void timer_set_phase(uint64_t phase);
int event_add_in_step_ms(struct event *event, int64_t period_ms);
/* How long that waits at a time of the monotonic clock, in milliseconds. */
int64_t timer_step_ms(int64_t now_ms, int64_t period_ms);

/* Calls fn once; 0, or -1 when memory is out. */
static inline int event_once_ms(
	struct event_base *base, event_callback_fn fn, void *arg, int64_t ms)
{
	struct timeval tv = timeval_ms(ms);

	/* Of no time at all event_base_once makes an event of this turn of the loop, unlike
	 * event_add. */
	if (!evutil_timerisset(&tv))
		tv.tv_usec = 1;
	return event_base_once(base, -1, EV_TIMEOUT, fn, arg, &tv);
}
