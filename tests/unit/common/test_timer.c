/* Timers that come in step: how long they wait; timers of no time: what a turn does. */
#include "common/loop/timer.h"
#include "tests/check_run.h"
#include <stdbool.h>
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

/* ---- in the next turn ---- */

static struct event_base *base;
static struct event *again;
static int came;

static void on_once(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	came++;
	ck_assert_int_eq(event_once_ms(base, on_once, NULL, 0), 0);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	came++;
	ck_assert_int_eq(event_add_ms(again, 0), 0);
}

/* Work that is cut into slices is spread over as many turns. */
static const bool with_once[] = {false, true};

START_TEST(a_timer_of_no_time_comes_once_in_a_turn)
{
	base = event_base_new();
	again = event_new(base, -1, 0, on_again, NULL);
	if (with_once[_i])
		ck_assert_int_eq(event_once_ms(base, on_once, NULL, 0), 0);
	else
		ck_assert_int_eq(event_add_ms(again, 0), 0);
	ck_assert_int_eq(came, 0);
	for (int turns = 1; turns <= 5; turns++) {
		ck_assert_int_eq(event_base_loop(base, EVLOOP_ONCE), 0);
		ck_assert_int_eq(came, turns);
	}
	event_free(again);
	event_base_free(base);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("timer");

	check_add_table(tc, waits_for_the_next_step, waits);
	check_add_table(tc, a_timer_of_no_time_comes_once_in_a_turn, with_once);
	return check_run(tc);
}
