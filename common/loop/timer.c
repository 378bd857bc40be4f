/* timer.c - see timer.h. */
#include "common/loop/timer.h"
#include "common/base/clock.h"

static uint64_t phase_ms;

void timer_set_phase(uint64_t phase)
{
	phase_ms = phase;
}

int64_t timer_step_ms(int64_t now_ms, int64_t period_ms)
{
	const uint64_t period = (uint64_t)period_ms;
	const uint64_t passed = ((uint64_t)now_ms + phase_ms % period) % period;
	int64_t ms = (int64_t)(period - passed);

	/* libevent's clock is coarse: the timer may have come some milliseconds early. */
	if (ms < period_ms / 8)
		ms += period_ms;
	return ms;
}

int event_add_in_step_ms(struct event *event, int64_t period_ms)
{
	return event_add_ms(event, timer_step_ms(clock_mono().us / 1000, period_ms));
}
