/* Tests of the guards' clocks: the timeline of a stream, and which of many alarms is
 * next. */
#include "tests/check_run.h"
#include "workers/guard-engine/engine/alarms.h"
#include "workers/guard-engine/engine/engine.h"
#include "workers/guard-engine/engine/timeline.h"
#include <limits.h>
#include <stdlib.h>

#define MIN INT64_C(60000)
#define HOUR (60 * MIN)
#define WALL INT64_C(1767225600000)

static struct moment at(const char *boot, int64_t raw_ms, int64_t wall_ms)
{
	return (struct moment){
		.boot_id = str_of(boot), .raw_ms = raw_ms, .wall_ms = wall_ms};
}

/* A stream begins with the wall clock, and no change of it moves it (R51, "clock jumps
 * both ways"). */
START_TEST(test_wall_clock_is_not_followed)
{
	struct moment start = at("b1", 5 * HOUR, WALL);
	struct timeline t = timeline_new(&start);
	struct moment jumped = at("b1", 5 * HOUR + MIN, WALL - 2 * HOUR),
		      ahead = at("b1", 5 * HOUR + MIN, WALL + 48 * HOUR);

	ck_assert_int_eq(timeline_now(&t, &start), WALL);
	ck_assert_int_eq(timeline_now(&t, &jumped), WALL + MIN);
	ck_assert_int_eq(timeline_now(&t, &ahead), WALL + MIN);
	ck_assert_int_eq(timeline_raw(&t, WALL + 4 * MIN), 5 * HOUR + 4 * MIN);
}
END_TEST

struct resume_case {
	const char *what;
	const char *boot; /* of the stream */
	struct moment now;
	int64_t last_ms, shows_ms;
};

/* A stream of boot b1 that began at raw 1 h with the wall clock WALL. */
static const struct resume_case resumes[] = {
	{"another process of the same boot goes on (R53)", "b1",
		{{"b1", 2}, HOUR + 5 * MIN, WALL + 5 * MIN}, WALL + MIN, WALL + 5 * MIN},
	{"the same, though the wall clock was set back", "b1",
		{{"b1", 2}, HOUR + 5 * MIN, WALL - HOUR}, WALL + MIN, WALL + 5 * MIN},
	{"the same, though it was set ahead", "b1",
		{{"b1", 2}, HOUR + 5 * MIN, WALL + 50 * HOUR}, WALL + MIN,
		WALL + 5 * MIN},
	{"after a reboot the wall clock tells how long it was off", "b1",
		{{"b2", 2}, 10000, WALL + 20 * MIN}, WALL + MIN, WALL + 20 * MIN},
	{"but time never runs backwards", "b1", {{"b2", 2}, 10000, WALL - HOUR},
		WALL + MIN, WALL + MIN},
	{"a stream that never knew its boot", "", {{"b2", 2}, 10000, WALL + HOUR},
		WALL + MIN, WALL + HOUR},
};

START_TEST(test_resume)
{
	const struct resume_case *c = &resumes[_i];
	struct timeline t =
		timeline_resume(str_of(c->boot), WALL - HOUR, c->last_ms, &c->now);
	struct moment later = c->now;

	ck_assert_msg(timeline_now(&t, &c->now) == c->shows_ms, "%s: %lld", c->what,
		(long long)(timeline_now(&t, &c->now) - WALL));
	later.raw_ms += MIN;
	ck_assert_int_eq(timeline_now(&t, &later), c->shows_ms + MIN);
	/* Resumed once more it shows the same. */
	t = timeline_resume(str_of(t.boot_id), t.offset_ms, c->last_ms, &later);
	ck_assert_int_eq(timeline_now(&t, &later), c->shows_ms + MIN);
}
END_TEST

/* ---- alarms ---- */

#define COUNT 500

START_TEST(test_alarms)
{
	static struct alarm alarms[COUNT];
	static bool set[COUNT];
	struct alarms heap = {0};
	unsigned seed = 3;

	for (int round = 0; round < 20000; round++) {
		int which;
		int64_t first = INT64_MAX;

		seed = seed * 1103515245u + 12345u;
		which = (int)(seed >> 8) % COUNT;
		if ((seed >> 4) % 3) {
			alarms_set(&heap, &alarms[which], (int64_t)(seed >> 12) % 1000);
			set[which] = true;
		} else {
			alarms_clear(&heap, &alarms[which]);
			set[which] = false;
		}
		for (int i = 0; i < COUNT && round % 50 == 0; i++) {
			if (set[i] && alarms[i].at_ms < first)
				first = alarms[i].at_ms;
			ck_assert(set[i] == (alarms[i].place != 0));
		}
		if (round % 50 == 0)
			ck_assert_int_eq(alarms_first(&heap) ? alarms_first(&heap)->at_ms
							     : INT64_MAX,
				first);
	}
	/* Taken out one by one they come in order. */
	for (int64_t last = 0; alarms_first(&heap);) {
		struct alarm *a = alarms_first(&heap);

		ck_assert_int_ge(a->at_ms, last);
		last = a->at_ms;
		alarms_clear(&heap, a);
		ck_assert_uint_eq(a->place, 0);
	}
	alarms_fini(&heap);
}
END_TEST

/* ---- pauses before a store that failed is asked again ---- */

START_TEST(test_pauses)
{
	const int wanted[] = {5000, 10000, 20000, 40000, 60000, 60000};

	for (int i = 0; i < (int)(sizeof(wanted) / sizeof(wanted[0])); i++)
		ck_assert_int_eq(engine_pause_ms(ENGINE_STREAMS_AWAY_MS,
					 ENGINE_STREAMS_AWAY_MAX_MS, i + 1),
			wanted[i]);
	ck_assert_int_eq(engine_pause_ms(500, 4000, INT_MAX), 4000);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	tcase_add_test(tcase, test_wall_clock_is_not_followed);
	check_add_table(tcase, test_resume, resumes);
	tcase_add_test(tcase, test_alarms);
	tcase_add_test(tcase, test_pauses);
	return check_run(tcase);
}
