/*
 * Tests of common/machine/idle_check.h: every case of the table of decisions,
 * and the clamp of C2.
 */
#include "common/machine/idle_check.h"
#include "tests/check_run.h"
#include <stdlib.h>

#define MIN INT64_C(60000)

static const struct idle_limits limits = {
	.idle_timeout_ms = 5 * MIN,
	.max_idle_ms = 30 * MIN,
	.stale_output_ms = 10 * MIN,
	.recheck_ms = IDLE_RECHECK_MS,
};

#define GRACE "grace period — CC finished working, restarting idle countdown"

/* ---- guards that a test can steer ---- */

static int looked[3];

static struct idle_opinion no(
	const struct idle_session *s, const struct idle_limits *l, int64_t now_ms)
{
	(void)s;
	(void)l;
	(void)now_ms;
	looked[0]++;
	return (struct idle_opinion){.keep = false};
}

static struct idle_opinion yes(
	const struct idle_session *s, const struct idle_limits *l, int64_t now_ms)
{
	(void)s;
	(void)l;
	(void)now_ms;
	looked[1]++;
	return (struct idle_opinion){.keep = true, .reason = "busy", .recheck_ms = 7000};
}

static struct idle_opinion other(
	const struct idle_session *s, const struct idle_limits *l, int64_t now_ms)
{
	(void)s;
	(void)l;
	(void)now_ms;
	looked[2]++;
	return (struct idle_opinion){.keep = true, .reason = "also busy"};
}

static const struct idle_guard guard_no = {"no", no}, guard_yes = {"yes", yes},
			       guard_other = {"other", other};

struct check_case {
	const char *what;
	struct idle_session session;
	int64_t now_ms;
	const struct idle_guard *guards[3];
	bool kill, deferred;
	int64_t delay_ms;
	const char *reason;
	int looked[3];
};

#define IDLE_AT_0 .idle_start_ms = 0
#define TURN .turn_in_progress = true, .has_output = true
#define ACTIVE &idle_active_turn

static const struct check_case cases[] = {
	{"baseline: no guard, nothing to wait for", {IDLE_AT_0}, 5 * MIN, {0}, true,
		false, 0, "idle timeout", {0}},
	{"called early without guards it ends all the same", {IDLE_AT_0}, 1000, {0}, true,
		false, 0, "idle timeout", {0}},
	{"over the cap", {IDLE_AT_0}, 30 * MIN + 1, {&guard_yes}, true, false, 0,
		"safety cap exceeded", {0}},
	{"exactly at the cap a guard is still asked", {IDLE_AT_0}, 30 * MIN, {&guard_yes},
		false, true, 7000, "kept alive by yes: busy", {0, 1, 0}},
	{"recheck interval from the guard", {IDLE_AT_0}, 5 * MIN, {&guard_yes}, false,
		true, 7000, "kept alive by yes: busy", {0, 1, 0}},
	{"recheck interval by default", {IDLE_AT_0}, 5 * MIN, {&guard_other}, false, true,
		IDLE_RECHECK_MS, "kept alive by other: also busy", {0, 0, 1}},
	{"the first guard that keeps wins, later ones are not asked", {IDLE_AT_0},
		5 * MIN, {&guard_yes, &guard_other}, false, true, 7000,
		"kept alive by yes: busy", {0, 1, 0}},
	{"one that does not keep falls through to the next", {IDLE_AT_0}, 5 * MIN,
		{&guard_no, &guard_other}, false, true, IDLE_RECHECK_MS,
		"kept alive by other: also busy", {1, 0, 1}},
	{"no guard keeps and none did before", {IDLE_AT_0}, 5 * MIN, {&guard_no}, true,
		false, 0, "idle timeout", {1, 0, 0}},
	{"a guard kept it before: grace", {IDLE_AT_0, .guard_was_deferred = true},
		6 * MIN, {&guard_no}, false, false, 5 * MIN, GRACE, {1, 0, 0}},
	{"after the grace", {IDLE_AT_0, .guard_was_deferred = false}, 11 * MIN,
		{&guard_no}, true, false, 0, "idle timeout", {1, 0, 0}},
	{"active again in the grace", {IDLE_AT_0, .guard_was_deferred = false}, 8 * MIN,
		{&guard_yes}, false, true, 7000, "kept alive by yes: busy", {0, 1, 0}},
	{"the cap beats grace too", {IDLE_AT_0, .guard_was_deferred = true}, 30 * MIN + 1,
		{&guard_no}, true, false, 0, "safety cap exceeded", {0}},
	{"active turn: none", {IDLE_AT_0}, 5 * MIN, {ACTIVE}, true, false, 0,
		"idle timeout", {0}},
	{"active turn: output a moment ago",
		{TURN, .last_output_ms = 5 * MIN - 1, IDLE_AT_0}, 5 * MIN, {ACTIVE},
		false, true, IDLE_RECHECK_MS, "kept alive by active-turn: CC is mid-turn",
		{0}},
	{"active turn: silent for 9:59", {TURN, .last_output_ms = 0, IDLE_AT_0},
		10 * MIN - 1000, {ACTIVE}, false, true, IDLE_RECHECK_MS,
		"kept alive by active-turn: CC is mid-turn", {0}},
	{"active turn: exactly stale still keeps", {TURN, .last_output_ms = 0, IDLE_AT_0},
		10 * MIN, {ACTIVE}, false, true, IDLE_RECHECK_MS,
		"kept alive by active-turn: CC is mid-turn", {0}},
	{"active turn: silent for 10:01", {TURN, .last_output_ms = 0, IDLE_AT_0},
		10 * MIN + 1000, {ACTIVE}, true, false, 0, "idle timeout", {0}},
	{"active turn: stale after a deferral gets its grace (C1)",
		{TURN, .last_output_ms = 0, IDLE_AT_0, .guard_was_deferred = true},
		10 * MIN + 1, {ACTIVE}, false, false, 5 * MIN, GRACE, {0}},
	{"active turn: no output yet keeps", {.turn_in_progress = true, IDLE_AT_0},
		25 * MIN, {ACTIVE}, false, true, IDLE_RECHECK_MS,
		"kept alive by active-turn: CC is mid-turn", {0}},
	{"the cap beats an active turn", {TURN, .last_output_ms = 30 * MIN, IDLE_AT_0},
		30 * MIN + 1, {ACTIVE}, true, false, 0, "safety cap exceeded", {0}},
	{"finished: output of a turn that is over keeps nothing",
		{.has_output = true, .last_output_ms = 5 * MIN, IDLE_AT_0}, 5 * MIN,
		{ACTIVE}, true, false, 0, "idle timeout", {0}},
};

START_TEST(test_check)
{
	const struct check_case *c = &cases[_i];
	struct idle_action a;
	int count = 0;

	while (count < 3 && c->guards[count])
		count++;
	looked[0] = looked[1] = looked[2] = 0;
	idle_check(&c->session, &limits, c->guards, count, c->now_ms, &a);
	ck_assert_msg(a.kill == c->kill && a.guard_deferred == c->deferred &&
			      a.delay_ms == c->delay_ms,
		"%s", c->what);
	ck_assert_str_eq(a.reason, c->reason);
	for (int i = 0; i < 3; i++)
		ck_assert_msg(looked[i] == c->looked[i],
			"%s: guard %d was asked %d times", c->what, i, looked[i]);
}
END_TEST

START_TEST(test_guards)
{
	struct idle_session s = {TURN, .last_output_ms = 0};
	struct idle_opinion o = idle_active_turn.look(&s, &limits, 11 * MIN);

	ck_assert_int_eq(idle_guard_count, 1);
	ck_assert_ptr_eq(idle_guards[0], &idle_active_turn);
	ck_assert_str_eq(idle_active_turn.name, "active-turn");
	ck_assert(!o.keep);
	ck_assert_str_eq(o.reason, "mid-turn but stale — likely stuck");
}
END_TEST

/* Working, finished, grace, the end: the session as its owner would keep it. */
START_TEST(test_life)
{
	struct idle_session s = {TURN, .last_output_ms = 4 * MIN, .idle_start_ms = 0};
	struct idle_action a;

	idle_check(&s, &limits, idle_guards, 1, 5 * MIN, &a);
	ck_assert(!a.kill && a.guard_deferred);
	s.guard_was_deferred = a.guard_deferred;
	s.turn_in_progress = false;
	idle_check(&s, &limits, idle_guards, 1, 5 * MIN + IDLE_RECHECK_MS, &a);
	ck_assert(!a.kill && !a.guard_deferred);
	ck_assert_int_eq(a.delay_ms, limits.idle_timeout_ms);
	s.guard_was_deferred = a.guard_deferred;
	idle_check(&s, &limits, idle_guards, 1, 10 * MIN + IDLE_RECHECK_MS, &a);
	ck_assert(a.kill && !a.cap);
}
END_TEST

struct clamp_case {
	int64_t now_ms, delay_ms, next_ms;
};

/* C2: the answer of checkIdle stays as it is, the scheduler looks again as soon as the
 * cap is exceeded. */
static const struct clamp_case clamps[] = {
	{1000, 5 * MIN, 1000 + 5 * MIN},
	{29 * MIN, 30000, 29 * MIN + 30000},
	{29 * MIN, 5 * MIN, 30 * MIN + 1001},
	{30 * MIN + 1000, 30000, 30 * MIN + 1001},
};

START_TEST(test_clamp)
{
	struct idle_session s = {.idle_start_ms = 1000};

	ck_assert_int_eq(
		idle_next_check(&s, &limits, clamps[_i].now_ms, clamps[_i].delay_ms),
		clamps[_i].next_ms);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	check_add_table(tcase, test_check, cases);
	tcase_add_test(tcase, test_guards);
	tcase_add_test(tcase, test_life);
	check_add_table(tcase, test_clamp, clamps);
	return check_run(tcase);
}
