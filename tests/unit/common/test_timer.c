/* Timers that come in step: how long they wait. */
#include "common/loop/timer.h"
#include "tests/check_run.h"
#include <stdlib.h>

static const struct {
	uint64_t phase;
	int64_t now_ms, period_ms, wait_ms;
} waits[] = {
	{0, 0, 1000, 1000},
	{0, 1, 1000, 999},
	{0, 600, 1000, 400},
	{0, 5000, 2000, 1000},
	{0, 875, 1000, 125},
	/* It came a little early: the next one is meant. */
	{0, 876, 1000, 1124},
	{0, 999, 1000, 1001},
	{0, 1751, 2000, 2249},
	/* Another daemon, at other times. */
	{300, 0, 1000, 700},
	{300, 700, 1000, 1000},
	/* A phase is a random number of 64 bits, the same for all periods. */
	{UINT64_MAX, 0, 1000, 385},
	{UINT64_MAX, 0, 2000, 385},
	{UINT64_MAX, INT64_MAX / 1000, 2000, 1610},
};

START_TEST(waits_for_the_next_step)
{
	timer_set_phase(waits[_i].phase);
	ck_assert_int_eq(
		timer_step_ms(waits[_i].now_ms, waits[_i].period_ms), waits[_i].wait_ms);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("timer");

	check_add_table(tc, waits_for_the_next_step, waits);
	return check_run(tc);
}
