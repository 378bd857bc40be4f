/* When workers are started, stopped and ended: scripts of events with made-up times. */
#include "supervisor/paiged/process/policy.h"
#include "tests/check_run.h"
#include <stdlib.h>

#define START_DEADLINE 30000
#define GRACE 6000

enum { EVENTS_MAX = 24, END = -1, ANY = -1 };

/* One step: at `at_ms` comes `event`; then the state, what to do, and the deadline (0
 * none, ANY). */
struct line {
	int64_t at_ms;
	int event;
	enum policy_state state;
	unsigned actions;
	int64_t deadline_ms;
	bool parks;
};

struct script {
	const char *what;
	struct line lines[EVENTS_MAX];
};

#define UP                                                                               \
	{                                                                                \
		1000, POLICY_WANT_UP, POLICY_STARTING, POLICY_DO_SPAWN, 31000, false     \
	}
#define UP_AND_READY                                                                     \
	UP,                                                                              \
	{                                                                                \
		1050, POLICY_GOT_READY, POLICY_READY, 0, 11050, false                    \
	}
#define LAST                                                                             \
	{                                                                                \
		.event = END                                                             \
	}

static const struct script scripts[] = {
	{"start, ready, stop, exit",
		{UP_AND_READY,
			{2000, POLICY_WANT_DOWN, POLICY_STOPPING, POLICY_DO_SEND_STOP,
				3000, false},
			{2010, POLICY_EXITED, POLICY_DOWN, 0, 0, false},
			{2020, POLICY_TIME, POLICY_DOWN, 0, 0, false}, LAST}},
	{"a stop that is not heard: TERM after a second, KILL at the end of the grace, "
	 "then given up",
		{UP_AND_READY,
			{2000, POLICY_WANT_DOWN, POLICY_STOPPING, POLICY_DO_SEND_STOP,
				3000, false},
			{2999, POLICY_TIME, POLICY_STOPPING, 0, 3000, false},
			{3000, POLICY_TIME, POLICY_STOPPING, POLICY_DO_TERM, 8000, false},
			{8000, POLICY_TIME, POLICY_STOPPING, POLICY_DO_KILL, 13000,
				false},
			{13000, POLICY_TIME, POLICY_STOPPING, POLICY_DO_ABANDON, ANY,
				false},
			{13000, POLICY_EXITED, POLICY_DOWN, 0, 0, false}, LAST}},
	{"a worker that is only starting is ended at once",
		{UP,
			{1010, POLICY_WANT_DOWN, POLICY_STOPPING,
				POLICY_DO_SEND_STOP | POLICY_DO_TERM, 7010, false},
			{1020, POLICY_GOT_READY, POLICY_STOPPING, 0, 7010, false},
			{7010, POLICY_TIME, POLICY_STOPPING, POLICY_DO_KILL, 12010,
				false},
			LAST}},
	{"hurry shortens the grace, and sends TERM once",
		{UP_AND_READY,
			{2000, POLICY_WANT_DOWN, POLICY_STOPPING, POLICY_DO_SEND_STOP,
				3000, false},
			{2100, POLICY_HURRY, POLICY_STOPPING, POLICY_DO_TERM, 2600,
				false},
			{2200, POLICY_HURRY, POLICY_STOPPING, 0, 2600, false},
			{2600, POLICY_TIME, POLICY_STOPPING, POLICY_DO_KILL, 7600, false},
			LAST}},
	{"hurry means nothing to who is not stopping",
		{UP_AND_READY, {2000, POLICY_HURRY, POLICY_READY, 0, 11050, false},
			LAST}},
	{"the first restart is at once, then the pause doubles",
		{UP_AND_READY,
			{2000, POLICY_EXITED, POLICY_STARTING, POLICY_DO_SPAWN, 32000,
				false},
			{2100, POLICY_EXITED, POLICY_BACKOFF, 0, 2350, false},
			{2349, POLICY_TIME, POLICY_BACKOFF, 0, 2350, false},
			{2350, POLICY_TIME, POLICY_STARTING, POLICY_DO_SPAWN, 32350,
				false},
			{2400, POLICY_GOT_READY, POLICY_READY, 0, 12400, false},
			{2500, POLICY_EXITED, POLICY_BACKOFF, 0, 3000, false},
			{3000, POLICY_TIME, POLICY_STARTING, POLICY_DO_SPAWN, 33000,
				false},
			{3000, POLICY_EXITED, POLICY_BACKOFF, 0, 4000, false}, LAST}},
	{"a minute of READY forgets the failures",
		{UP_AND_READY,
			{2000, POLICY_EXITED, POLICY_STARTING, POLICY_DO_SPAWN, 32000,
				false},
			{2100, POLICY_GOT_READY, POLICY_READY, 0, 12100, false},
			{62100, POLICY_EXITED, POLICY_STARTING, POLICY_DO_SPAWN, 92100,
				false},
			LAST}},
	{"a minute less a moment does not",
		{UP_AND_READY,
			{2000, POLICY_EXITED, POLICY_STARTING, POLICY_DO_SPAWN, 32000,
				false},
			{2100, POLICY_GOT_READY, POLICY_READY, 0, 12100, false},
			{62099, POLICY_EXITED, POLICY_BACKOFF, 0, 62349, false}, LAST}},
	{"a minute of STARTING does not either",
		{UP,
			{1000, POLICY_EXITED, POLICY_STARTING, POLICY_DO_SPAWN, 31000,
				false},
			{90000, POLICY_EXITED, POLICY_BACKOFF, 0, 90250, false}, LAST}},
	{"a configuration error parks, whenever it comes; somebody frees it",
		{UP_AND_READY, {2000, POLICY_EXITED, POLICY_PARKED, 0, 0, true},
			{99000, POLICY_TIME, POLICY_PARKED, 0, 0, false},
			{99100, POLICY_WANT_UP, POLICY_STARTING, POLICY_DO_SPAWN, 129100,
				false},
			{99200, POLICY_EXITED, POLICY_PARKED, 0, 0, true},
			{99300, POLICY_RESTART, POLICY_STARTING, POLICY_DO_SPAWN, 129300,
				false},
			{99400, POLICY_EXITED, POLICY_PARKED, 0, 0, true},
			{99500, POLICY_WANT_DOWN, POLICY_DOWN, 0, 0, false}, LAST}},
	{"never READY: aborted, killed, started again",
		{UP, {31000, POLICY_TIME, POLICY_HUNG, POLICY_DO_ABORT, 36000, false},
			{36000, POLICY_TIME, POLICY_HUNG, POLICY_DO_KILL, 41000, false},
			{41000, POLICY_TIME, POLICY_HUNG, POLICY_DO_KILL, 46000, false},
			{41010, POLICY_EXITED, POLICY_STARTING, POLICY_DO_SPAWN, 71010,
				false},
			LAST}},
	{"no sign of life: a backtrace, then ABRT, then KILL",
		{UP_AND_READY, {3000, POLICY_GOT_SIGN, POLICY_READY, 0, 13000, false},
			{13000, POLICY_TIME, POLICY_READY, POLICY_DO_BACKTRACE, 33000,
				false},
			{33000, POLICY_TIME, POLICY_HUNG, POLICY_DO_ABORT, 38000, false},
			{34000, POLICY_GOT_SIGN, POLICY_HUNG, 0, 38000, false},
			{38000, POLICY_TIME, POLICY_HUNG, POLICY_DO_KILL, 43000, false},
			{38010, POLICY_EXITED, POLICY_STARTING, POLICY_DO_SPAWN, 68010,
				false},
			LAST}},
	{"a sign of life after the backtrace starts the count anew",
		{UP_AND_READY,
			{11050, POLICY_TIME, POLICY_READY, POLICY_DO_BACKTRACE, 31050,
				false},
			{31040, POLICY_GOT_SIGN, POLICY_READY, 0, 41040, false},
			{41040, POLICY_TIME, POLICY_READY, POLICY_DO_BACKTRACE, 61040,
				false},
			LAST}},
	{"nobody is judged for time in which the supervisor did not run",
		{UP_AND_READY,
			{11050, POLICY_TIME, POLICY_READY, POLICY_DO_BACKTRACE, 31050,
				false},
			{31049, POLICY_LATE, POLICY_READY, 0, 41049, false},
			{31050, POLICY_TIME, POLICY_READY, 0, 41049, false}, LAST}},
	{"also when a deadline comes up before anybody saw that the supervisor slept",
		{UP_AND_READY, {12051, POLICY_TIME, POLICY_READY, 0, 22051, false},
			LAST}},
	{"a deadline that comes a little late is one",
		{UP_AND_READY,
			{12050, POLICY_TIME, POLICY_READY, POLICY_DO_BACKTRACE, 31050,
				false},
			LAST}},
	{"nor is a start",
		{UP, {30999, POLICY_LATE, POLICY_STARTING, 0, 60999, false}, LAST}},
	{"an operator's restart: stopped, and started when it has gone",
		{UP_AND_READY,
			{2000, POLICY_RESTART, POLICY_STOPPING, POLICY_DO_SEND_STOP, 3000,
				false},
			{2100, POLICY_RESTART, POLICY_STOPPING, 0, 3000, false},
			{2200, POLICY_EXITED, POLICY_STARTING, POLICY_DO_SPAWN, 32200,
				false},
			LAST}},
	{"a stop overtakes a restart",
		{UP_AND_READY,
			{2000, POLICY_RESTART, POLICY_STOPPING, POLICY_DO_SEND_STOP, 3000,
				false},
			{2100, POLICY_WANT_DOWN, POLICY_STOPPING, 0, 3000, false},
			{2200, POLICY_EXITED, POLICY_DOWN, 0, 0, false}, LAST}},
	{"a restart ends a pause and forgets the failures",
		{UP_AND_READY,
			{2000, POLICY_EXITED, POLICY_STARTING, POLICY_DO_SPAWN, 32000,
				false},
			{2100, POLICY_EXITED, POLICY_BACKOFF, 0, 2350, false},
			{2200, POLICY_RESTART, POLICY_STARTING, POLICY_DO_SPAWN, 32200,
				false},
			{2300, POLICY_EXITED, POLICY_STARTING, POLICY_DO_SPAWN, 32300,
				false},
			LAST}},
	{"a stop during a pause is at once",
		{UP_AND_READY,
			{2000, POLICY_EXITED, POLICY_STARTING, POLICY_DO_SPAWN, 32000,
				false},
			{2100, POLICY_EXITED, POLICY_BACKOFF, 0, 2350, false},
			{2200, POLICY_WANT_DOWN, POLICY_DOWN, 0, 0, false},
			{2350, POLICY_TIME, POLICY_DOWN, 0, 0, false}, LAST}},
	{"a stop while it hangs: it is being ended already",
		{UP_AND_READY,
			{11050, POLICY_TIME, POLICY_READY, POLICY_DO_BACKTRACE, 31050,
				false},
			{31050, POLICY_TIME, POLICY_HUNG, POLICY_DO_ABORT, 36050, false},
			{31100, POLICY_WANT_DOWN, POLICY_HUNG, 0, 36050, false},
			{31200, POLICY_HURRY, POLICY_HUNG, 0, 31700, false},
			{31700, POLICY_TIME, POLICY_HUNG, POLICY_DO_KILL, 36700, false},
			{31710, POLICY_EXITED, POLICY_DOWN, 0, 0, false}, LAST}},
	{"wanted up again while stopping",
		{UP_AND_READY,
			{2000, POLICY_WANT_DOWN, POLICY_STOPPING, POLICY_DO_SEND_STOP,
				3000, false},
			{2100, POLICY_WANT_UP, POLICY_STOPPING, 0, 3000, false},
			{2200, POLICY_EXITED, POLICY_STARTING, POLICY_DO_SPAWN, 32200,
				false},
			LAST}},
};

static struct mono at(int64_t ms)
{
	return (struct mono){ms * 1000};
}

START_TEST(plays_the_script)
{
	const struct script *s = &scripts[_i];
	struct policy p = {.start_deadline_ms = START_DEADLINE,
		.stop_grace_ms = GRACE,
		.backoff_cap_ms = POLICY_BACKOFF_CAP_MS};

	for (int i = 0; s->lines[i].event != END; i++) {
		const struct line *l = &s->lines[i];
		struct policy_event event = {
			.kind = (enum policy_event_kind)l->event, .parks = l->parks};
		unsigned actions = policy_step(&p, event, at(l->at_ms));

		ck_assert_msg(p.state == l->state, "%s, line %d: %s, expected %s",
			s->what, i, policy_state_name(p.state),
			policy_state_name(l->state));
		ck_assert_msg(actions == l->actions,
			"%s, line %d: actions %#x, expected %#x", s->what, i, actions,
			l->actions);
		ck_assert_msg(
			l->deadline_ms == ANY || p.deadline.us == l->deadline_ms * 1000,
			"%s, line %d: deadline %lld, expected %lld", s->what, i,
			(long long)p.deadline.us / 1000, (long long)l->deadline_ms);
	}
}
END_TEST

static const struct {
	int failures, cap_ms;
	double jitter;
	int64_t ms;
} pauses[] = {
	{0, 30000, 1, 0},
	{1, 30000, 0, 250},
	{1, 30000, 1, 300},
	{1, 30000, -1, 200},
	{2, 30000, 0, 500},
	{7, 30000, 0, 16000},
	{8, 30000, 0, 30000},
	{8, 30000, 1, 30000},
	{8, 30000, -1, 24000},
	{1000000, 30000, 0, 30000},
	{6, 5000, 0, 5000},
	{1000000, 5000, 1, 5000},
};

START_TEST(pauses_grow_to_the_cap)
{
	ck_assert_int_eq(policy_backoff_ms(pauses[_i].failures, pauses[_i].cap_ms,
				 pauses[_i].jitter),
		pauses[_i].ms);
}
END_TEST

/* However often it dies, it is started again, never later than the cap. */
START_TEST(never_gives_up)
{
	struct policy p = {.start_deadline_ms = START_DEADLINE,
		.stop_grace_ms = GRACE,
		.backoff_cap_ms = POLICY_BACKOFF_CAP_MS};
	struct mono now = at(1);

	policy_step(&p, (struct policy_event){.kind = POLICY_WANT_UP}, now);
	for (int i = 0; i < 5000; i++) {
		struct mono died = now;

		policy_step(&p, (struct policy_event){.kind = POLICY_EXITED, .jitter = 1},
			now);
		if (p.state == POLICY_BACKOFF) {
			now = p.deadline;
			policy_step(&p, (struct policy_event){.kind = POLICY_TIME}, now);
		}
		ck_assert_int_eq(p.state, POLICY_STARTING);
		ck_assert_int_le(mono_diff_ms(now, died), POLICY_BACKOFF_CAP_MS);
	}
	ck_assert_uint_eq(policy_restarts(&p), 5000);
}
END_TEST

START_TEST(counts_restarts_in_a_window)
{
	struct policy p = {.start_deadline_ms = START_DEADLINE, .backoff_cap_ms = 1};

	ck_assert_uint_eq(policy_restarts(&p), 0);
	policy_step(&p, (struct policy_event){.kind = POLICY_WANT_UP}, at(1));
	ck_assert_uint_eq(policy_restarts(&p), 0);
	ck_assert_uint_eq(policy_restarts_in_window(&p, at(1)), 0);
	policy_step(&p, (struct policy_event){.kind = POLICY_RESTART}, at(1000));
	policy_step(&p, (struct policy_event){.kind = POLICY_EXITED}, at(1000));
	policy_step(&p, (struct policy_event){.kind = POLICY_RESTART}, at(50000));
	policy_step(&p, (struct policy_event){.kind = POLICY_EXITED}, at(50000));
	ck_assert_uint_eq(policy_restarts(&p), 2);
	ck_assert_uint_eq(policy_restarts_in_window(&p, at(60000)), 2);
	ck_assert_uint_eq(policy_restarts_in_window(&p, at(61001)), 1);
	ck_assert_uint_eq(policy_restarts_in_window(&p, at(999999)), 0);
	for (int i = 0; i < 100; i++) {
		policy_step(
			&p, (struct policy_event){.kind = POLICY_RESTART}, at(999999));
		policy_step(&p, (struct policy_event){.kind = POLICY_EXITED}, at(999999));
	}
	ck_assert_uint_eq(policy_restarts(&p), 102);
	ck_assert_uint_eq(policy_restarts_in_window(&p, at(999999)), POLICY_RING);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("policy");

	check_add_table(tests, plays_the_script, scripts);
	check_add_table(tests, pauses_grow_to_the_cap, pauses);
	tcase_add_test(tests, never_gives_up);
	tcase_add_test(tests, counts_restarts_in_a_window);
	return check_run(tests);
}
