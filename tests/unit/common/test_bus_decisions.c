/* What the bus decides: fate of calls, pauses, when to dial, gaps in events, order of batches. */
#include "common/bus/bus_dial.h"
#include "common/bus/bus_retry.h"
#include "common/bus/rules/bus_order.h"
#include "common/bus/rules/bus_seq.h"
#include "tests/check_run.h"
#include <stdlib.h>

/* ---- calls whose owner went away ---- */

START_TEST(fate)
{
	static const struct {
		const char *what;
		unsigned flags;
		bool sent;
		int64_t left_us;
		enum bus_fate fate;
	} cases[] = {
		{"a read is repeated", METHOD_READ, true, 1, BUS_FATE_REPEAT},
		{"a keyed write is repeated", METHOD_KEYED, true, 1, BUS_FATE_REPEAT},
		{"in batches too", METHOD_KEYED | METHOD_BATCH, true, 1, BUS_FATE_REPEAT},
		{"what may happen once is not", METHOD_ONCE, true, 1, BUS_FATE_RESET},
		{"no flag is as good as once", 0, true, 1, BUS_FATE_RESET},
		{"unless it never left", METHOD_ONCE, false, 1, BUS_FATE_REPEAT},
		{"too late for a read", METHOD_READ, true, 0, BUS_FATE_TIMEOUT},
		{"too late for a write", METHOD_KEYED, true, -1, BUS_FATE_TIMEOUT},
		{"too late before all else", METHOD_ONCE, true, 0, BUS_FATE_TIMEOUT},
	};
	const struct mono now = {1000};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(bus_fate_of(cases[i].flags, cases[i].sent,
				      (struct mono){now.us + cases[i].left_us},
				      now) == cases[i].fate,
			"%s", cases[i].what);
}
END_TEST

START_TEST(pauses_grow_and_end)
{
	static const int expected[] = {5, 5, 10, 20, 40, 80, 160, 200, 200};

	for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		ck_assert_int_eq(bus_pause_ms(i), expected[i]);
	ck_assert_int_eq(bus_pause_ms(4000000000u), 200);
}
END_TEST

/* ---- when an owner is dialed ---- */

START_TEST(an_owner_is_dialed_when_it_has_made_its_socket)
{
	static const struct {
		const char *what;
		ino_t ino;
		long made; /* ns */
		bool lost, dials, due;
		int ms; /* from the start */
	} steps[] = {
		{"the first socket", 1, 1, .due = true, .ms = 0},
		{"nng dials", 1, 1, .dials = true, .ms = 999},
		{"it may have given up", 1, 1, .dials = true, .due = true, .ms = 1000},
		{"the time runs anew", 1, 1, .dials = true, .ms = 1999},
		{"a new socket while nng dials", 2, 1, .dials = true, .ms = 1999},
		{"which has its own time", 2, 1, .dials = true, .ms = 2998},
		{"and no more", 2, 1, .dials = true, .due = true, .ms = 2999},
		{"just lost: the owner may be dying", 2, 1, .lost = true, .ms = 5000},
		{"its old socket is still there", 2, 1, .ms = 5199},
		{"it has made a new one", 3, 1, .due = true, .ms = 5199},
		{"lost again", 3, 1, .lost = true, .ms = 6000},
		{"the owner did not end", 3, 1, .due = true, .ms = 6200},
		{"another with the same number", 3, 2, .due = true, .ms = 6201},
	};
	struct bus_dial dial = {.ino = 0};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct stat found = {
			.st_ino = steps[i].ino, .st_ctim = {1, steps[i].made}};
		struct mono now = mono_add_ms((struct mono){1}, steps[i].ms);

		if (steps[i].lost)
			dial.since = now;
		ck_assert_msg(bus_dial_is_due(&dial, &found, steps[i].dials, now) ==
				      steps[i].due,
			"%s", steps[i].what);
	}
}
END_TEST

START_TEST(failures_name_worker_and_method)
{
	static const enum bus_status all[] = {
		BUS_TIMEOUT, BUS_RESET, BUS_REFUSED, BUS_STOPPED, BUS_TOO_BIG};
	char text[BUS_FAILURE_SIZE];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		bus_failure_text(all[i], METHOD_FS_OPEN, text);
		ck_assert_msg(
			strstr(text, "fswatch") && strstr(text, "fs.open"), "%s", text);
		ck_assert_str_ne(bus_failure_code(all[i]), "INTERNAL_ERROR");
	}
	bus_failure_text(BUS_NOT_ENABLED, METHOD_AGENT_MESSAGE, text);
	ck_assert_str_eq(text, "agent is not running: AGENT_COMMAND is not set");
	ck_assert_str_eq(bus_failure_code(BUS_NOT_ENABLED), "NOT_FOUND");
}
END_TEST

/* ---- events ---- */

enum heard { CONNECT, EVENT, BEACON };

struct step {
	enum heard heard;
	uint64_t incarnation, seq;
	bool deliver, gap, anew;
	uint64_t missed;
};

static const struct {
	const char *what;
	struct step steps[6];
} stories[] = {
	{"a beacon greets, then events follow each other",
		{{CONNECT, 0, 0, 0, 0, 0, 0}, {BEACON, 1, 0, 0, 1, 0, 0},
			{EVENT, 1, 1, 1, 0, 0, 0}, {EVENT, 1, 2, 1, 0, 0, 0},
			{BEACON, 1, 2, 0, 0, 0, 0}}},
	{"connecting to a publisher that has long been there",
		{{CONNECT, 0, 0, 0, 0, 0, 0}, {BEACON, 1, 500, 0, 1, 0, 0},
			{EVENT, 1, 501, 1, 0, 0, 0}}},
	{"an event before the beacon",
		{{CONNECT, 0, 0, 0, 0, 0, 0}, {EVENT, 1, 7, 1, 1, 0, 0},
			{BEACON, 1, 7, 0, 0, 0, 0}, {EVENT, 1, 8, 1, 0, 0, 0}}},
	{"a loss in the middle is counted",
		{{CONNECT, 0, 0, 0, 0, 0, 0}, {EVENT, 1, 1, 1, 1, 0, 0},
			{EVENT, 1, 5, 1, 1, 0, 3}, {EVENT, 1, 6, 1, 0, 0, 0}}},
	{"a loss at the end is seen by the beacon",
		{{CONNECT, 0, 0, 0, 0, 0, 0}, {EVENT, 1, 1, 1, 1, 0, 0},
			{BEACON, 1, 3, 0, 1, 0, 2}, {EVENT, 1, 4, 1, 0, 0, 0}}},
	{"a reconnect to the same process tells what was missed",
		{{EVENT, 1, 1, 1, 1, 0, 0}, {CONNECT, 0, 0, 0, 0, 0, 0},
			{BEACON, 1, 4, 0, 1, 0, 3}, {EVENT, 1, 5, 1, 0, 0, 0}}},
	{"a reconnect is told even when nothing was missed",
		{{EVENT, 1, 1, 1, 1, 0, 0}, {CONNECT, 0, 0, 0, 0, 0, 0},
			{BEACON, 1, 1, 0, 1, 0, 0}, {EVENT, 1, 2, 1, 0, 0, 0}}},
	{"a publisher started anew",
		{{EVENT, 1, 9, 1, 1, 0, 0}, {CONNECT, 0, 0, 0, 0, 0, 0},
			{BEACON, 2, 0, 0, 1, 1, 0}, {EVENT, 2, 1, 1, 0, 0, 0}}},
	{"started anew without a connection in between",
		{{EVENT, 1, 9, 1, 1, 0, 0}, {EVENT, 2, 1, 1, 1, 1, 0},
			{EVENT, 2, 2, 1, 0, 0, 0}}},
	{"the same event twice is delivered once",
		{{EVENT, 1, 9, 1, 1, 0, 0}, {EVENT, 1, 9, 0, 0, 0, 0},
			{EVENT, 1, 8, 0, 0, 0, 0}, {EVENT, 1, 10, 1, 0, 0, 0}}},
};

START_TEST(gaps)
{
	struct bus_seq seq = {0};

	for (size_t i = 0; i < 6; i++) {
		const struct step *s = &stories[_i].steps[i];
		struct bus_seq_verdict v = {0};

		if (s->heard == CONNECT)
			bus_seq_connected(&seq);
		else if (s->heard == EVENT && s->seq)
			v = bus_seq_event(&seq, s->incarnation, s->seq);
		else if (s->heard == BEACON)
			v = bus_seq_beacon(&seq, s->incarnation, s->seq);
		ck_assert_msg(v.deliver == s->deliver && v.gap == s->gap &&
				      v.anew == s->anew && v.missed == s->missed,
			"%s: step %zu: deliver %d gap %d anew %d missed %llu",
			stories[_i].what, i + 1, v.deliver, v.gap, v.anew,
			(unsigned long long)v.missed);
	}
}
END_TEST

/* ---- order of batches ---- */

START_TEST(batches_run_in_order)
{
	struct bus_order o = {0};

	ck_assert(bus_order_reset(&o, 77, 1));
	ck_assert_int_eq(bus_order_take(&o, 1, 2), BUS_ORDER_HOLD);
	ck_assert_int_eq(bus_order_take(&o, 1, 1), BUS_ORDER_RUN);
	bus_order_begun(&o);
	ck_assert_uint_eq(o.next, 2);
	bus_order_begun(&o);
	ck_assert(!bus_order_reset(&o, 77, 2));
	ck_assert_int_eq(bus_order_take(&o, 2, 3), BUS_ORDER_RUN);
}
END_TEST

START_TEST(a_batch_runs_once)
{
	struct bus_order o = {0};

	bus_order_reset(&o, 77, 1);
	ck_assert_int_eq(bus_order_take(&o, 1, 1), BUS_ORDER_RUN);
	bus_order_begun(&o);
	ck_assert_int_eq(bus_order_take(&o, 1, 1), BUS_ORDER_REPEAT);
	bus_order_replied(&o);
	ck_assert_int_eq(bus_order_take(&o, 1, 1), BUS_ORDER_REPEAT);
	/* Once the caller has moved on, nobody waits for it. */
	ck_assert_int_eq(bus_order_take(&o, 2, 2), BUS_ORDER_RUN);
	ck_assert_int_eq(bus_order_take(&o, 1, 1), BUS_ORDER_REFUSE);
}
END_TEST

START_TEST(a_new_owner_begins_at_base)
{
	struct bus_order o = {0};

	/* The owner was killed with batches 41 and 42 under way; 42 arrives first. */
	bus_order_reset(&o, 77, 41);
	ck_assert_int_eq(bus_order_take(&o, 41, 42), BUS_ORDER_HOLD);
	ck_assert_int_eq(bus_order_take(&o, 41, 41), BUS_ORDER_RUN);
}
END_TEST

START_TEST(a_new_caller_begins_anew)
{
	struct bus_order o = {0};

	bus_order_reset(&o, 77, 41);
	ck_assert_int_eq(bus_order_take(&o, 41, 41), BUS_ORDER_RUN);
	bus_order_begun(&o);
	ck_assert(bus_order_reset(&o, 78, 1));
	ck_assert_int_eq(bus_order_take(&o, 1, 1), BUS_ORDER_RUN);
}
END_TEST

START_TEST(given_up_batches_are_skipped)
{
	struct bus_order o = {0};

	bus_order_reset(&o, 77, 1);
	ck_assert_int_eq(bus_order_take(&o, 5, 5), BUS_ORDER_RUN);
	ck_assert_uint_eq(o.reply_next, 5);
}
END_TEST

START_TEST(outside_the_window_is_refused)
{
	struct bus_order o = {0};

	bus_order_reset(&o, 77, 1);
	ck_assert_int_eq(bus_order_take(&o, 1, 1 + BUS_WINDOW), BUS_ORDER_REFUSE);
	ck_assert_int_eq(bus_order_take(&o, 2, 1), BUS_ORDER_REFUSE);
	ck_assert_int_eq(bus_order_take(&o, UINT64_MAX, 1), BUS_ORDER_REFUSE);
	ck_assert_uint_eq(o.base, 1);
}
END_TEST

START_TEST(a_newer_base_frees_what_was_held)
{
	struct bus_order o = {0};

	/* 40 was sent while 39 was not answered yet, waited for the connection to a new
	 * owner, and came alone: the new owner knows nothing of 39. */
	bus_order_reset(&o, 77, 39);
	ck_assert_int_eq(bus_order_take(&o, 39, 40), BUS_ORDER_HOLD);
	ck_assert_int_eq(bus_order_take(&o, 40, 41), BUS_ORDER_HOLD);
	ck_assert_uint_eq(o.next, 40);
}
END_TEST

START_TEST(an_older_message_behind_a_newer_one)
{
	struct bus_order o = {0};

	bus_order_reset(&o, 77, 1);
	ck_assert_int_eq(bus_order_take(&o, 1, 1), BUS_ORDER_RUN);
	bus_order_begun(&o);
	/* 3 was sent after the reply to 1; 2, sent before, arrives later. */
	ck_assert_int_eq(bus_order_take(&o, 2, 3), BUS_ORDER_HOLD);
	ck_assert_int_eq(bus_order_take(&o, 1, 2), BUS_ORDER_RUN);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("bus_decisions");

	tcase_add_test(tc, fate);
	tcase_add_test(tc, pauses_grow_and_end);
	tcase_add_test(tc, an_owner_is_dialed_when_it_has_made_its_socket);
	tcase_add_test(tc, failures_name_worker_and_method);
	check_add_table(tc, gaps, stories);
	tcase_add_test(tc, batches_run_in_order);
	tcase_add_test(tc, a_batch_runs_once);
	tcase_add_test(tc, a_new_owner_begins_at_base);
	tcase_add_test(tc, a_new_caller_begins_anew);
	tcase_add_test(tc, given_up_batches_are_skipped);
	tcase_add_test(tc, outside_the_window_is_refused);
	tcase_add_test(tc, a_newer_base_frees_what_was_held);
	tcase_add_test(tc, an_older_message_behind_a_newer_one);
	return check_run(tc);
}
