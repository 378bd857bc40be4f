/*
 * timer.h - libevent's timers in milliseconds.
 *
 * For what links libevent. Negative times count as 0: the timer comes in the next turn of
 * the loop.
 */
#ifndef PAIGE_COMMON_LOOP_TIMER_H
#define PAIGE_COMMON_LOOP_TIMER_H

#include <event2/event.h>
#include <stdint.h>

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

/* Calls fn once; 0, or -1 when memory is out. */
static inline int event_once_ms(
	struct event_base *base, event_callback_fn fn, void *arg, int64_t ms)
{
	const struct timeval tv = timeval_ms(ms);

	return event_base_once(base, -1, EV_TIMEOUT, fn, arg, &tv);
}

#endif
