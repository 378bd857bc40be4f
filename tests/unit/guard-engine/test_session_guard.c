/*
 * Tests of workers/guard-engine/session/session_guard.h beyond the golden streams: a hundred
 * simulated interviews (SG-T3, SG-T6), and what holds in every one of
 * many random streams.
 */
#include "tests/check_run.h"
#include "tests/unit/guard-engine/guard_script.h"
#include "workers/guard-engine/session/session_guard.h"
#include <stdio.h>
#include <stdlib.h>

static uint64_t seed;

static int any(int below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % (uint64_t)below);
}

static const struct session_guard *state_of(const struct script *s)
{
	return s->stream.state;
}

/* The time of the first row of a type, in ms after the creation; -1 for none. */
static int64_t first_row(const struct script *s, const char *type)
{
	for (size_t i = 0; i < script_row_count(s); i++) {
		struct stream_row row = script_row_at(s, i);

		if (str_is(row.type, type))
			return row.at - SCRIPT_START_MS;
	}
	return -1;
}

static int count_rows(const struct script *s, const char *type)
{
	int n = 0;

	for (size_t i = 0; i < script_row_count(s); i++)
		n += str_is(script_row_at(s, i).type, type);
	return n;
}

static int64_t send(struct script *s, int64_t at_ms, const char *json)
{
	ck_assert_int_eq(script_event(s, STREAM_CLIENT, at_ms, at_ms, str_of(json)), 0);
	return at_ms;
}

static const char *const questions[] = {
	"Tell me about a challenging project you worked on.",
	"What trade-offs did you weigh in that system?",
	"How did your team agree on that change?",
	"What would you do differently today?",
	"How did you implement the cache, and what broke first?",
	"Tell me about a coding challenge you faced.",
};

/* One turn of an interview: a question, an answer, its score. The weak candidate brings
 * little. */
static int64_t take_turn(struct script *s, int64_t at_ms, bool weak)
{
	char json[300];
	int base = weak && any(3) ? 1 : 100;

	at_ms = send(s, at_ms + 200 + any(800), "{\"type\":\"response_started\"}");
	snprintf(json, sizeof(json), "{\"type\":\"assistant_message\",\"text\":\"%s\"}",
		questions[any(sizeof(questions) / sizeof(questions[0]))]);
	at_ms = send(s, at_ms + 100, json);
	at_ms = send(s, at_ms + 1500 + any(6000), "{\"type\":\"response_done\"}");
	if (any(8) == 0)
		return at_ms + any(9000); /* the candidate is silent */
	at_ms = send(s, at_ms + 300 + any(2000), "{\"type\":\"speech_started\"}");
	at_ms = send(s, at_ms + 2000 + any(15000), "{\"type\":\"speech_ended\"}");
	if (state_of(s)->phase == SESSION_GUARD_CODING)
		return at_ms;
	snprintf(json, sizeof(json),
		"{\"type\":\"control_result\",\"pillars\":{\"adaptability\":%d,"
		"\"creativity\":%d,"
		"\"reasoning\":%d}}",
		any(base), any(3) ? any(base) : 0, any(base));
	script_event(s, STREAM_CLIENT, at_ms + 700, at_ms + 700, str_of(json));
	return at_ms + 700;
}

/*
 * A hundred interviews: no invitation to code before the switch; each ends in the coding
 * phase, by the clock within a second of the limit when nobody spoke then, else within a
 * second of the end of it.
 */
START_TEST(test_hundred_interviews)
{
	int by_clock = 0, on_time = 0;

	for (int n = 0; n < 100; n++) {
		struct script s;
		int64_t at_ms = 0, started, ended;

		seed = (uint64_t)n * 977 + 13;
		script_init(&s, GUARD_SESSION);
		s.quiet = true;
		script_create(&s, "{}", 0);
		started = at_ms = send(
			&s, 500, "{\"type\":\"question_asked\",\"text\":\"And you?\"}");
		while (state_of(&s)->phase == SESSION_GUARD_BACKGROUND) {
			at_ms = take_turn(&s, at_ms, n % 2);
			script_until(&s, at_ms, at_ms);
			ck_assert_int_lt(at_ms, started + 300000);
		}
		ended = first_row(&s, "transition") - started;
		ck_assert_int_eq(count_rows(&s, "violation"), 0);
		ck_assert_int_eq(count_rows(&s, "transition"), 1);
		ck_assert_int_le(count_rows(&s, "ask_another_project"), 1);
		if (state_of(&s)->reasons & SESSION_GUARD_TIMEBOX) {
			by_clock++;
			on_time += ended <= 241000;
		}
		script_check_replay(&s);
		script_fini(&s);
	}
	printf("%d interviews ended by the clock, %d of them within a second of it\n",
		by_clock, on_time);
	ck_assert_int_gt(by_clock, 30);
}
END_TEST

/* Test case 6: nobody speaks when the time is up; 100 of 100 within the second, whatever
 * happened before. */
START_TEST(test_timebox_accuracy)
{
	for (int n = 0; n < 100; n++) {
		struct script s;
		int64_t started, ended;

		seed = (uint64_t)n + 1;
		script_init(&s, GUARD_SESSION);
		s.quiet = true;
		script_create(&s, "{}", 0);
		started = send(&s, any(5000),
			"{\"type\":\"question_asked\",\"text\":\"And you?\"}");
		send(&s, started + 1000 + any(100000), "{\"type\":\"speech_started\"}");
		send(&s, started + 110000 + any(129800), "{\"type\":\"speech_ended\"}");
		script_until(&s, started + 300000, started + 300000);
		ended = first_row(&s, "transition") - started;
		ck_assert_int_ge(ended, 240000);
		ck_assert_int_le(ended, 241000);
		script_fini(&s);
	}
}
END_TEST

/* ---- random streams ---- */

static const char *const events[] = {
	"{\"type\":\"question_asked\",\"text\":\"q\"}",
	"{\"type\":\"response_started\"}",
	"{\"type\":\"response_done\"}",
	"{\"type\":\"speech_started\"}",
	"{\"type\":\"speech_ended\"}",
	"{\"type\":\"answer\",\"question\":\"q\",\"answer\":\"a\"}",
	"{\"type\":\"control_result\",\"pillars\":{\"adaptability\":0,\"creativity\":0,"
	"\"reasoning\":0}}",
	"{\"type\":\"control_result\",\"pillars\":{\"adaptability\":20,\"creativity\":0,"
	"\"reasoning\":3.5}}",
	"{\"type\":\"control_result\",\"pillars\":{\"adaptability\":100,\"creativity\":"
	"90,\"reasoning\":80}}",
	"{\"type\":\"assistant_message\",\"text\":\"Please implement it.\"}",
	"{\"type\":\"assistant_message\",\"text\":\"Why?\"}",
};

/* What holds after every event. */
static void check_state(const struct script *s, const struct session_guard *before)
{
	const struct session_guard *g = state_of(s);
	int64_t limit = g->started_at_ms + g->timebox_ms + g->reply_wait_ms +
			g->speech_wait_ms + g->settle_ms;

	ck_assert_int_ge(g->zero_runs, 0);
	ck_assert_int_ge(g->projects_used, before->projects_used);
	ck_assert_int_le(g->projects_used, g->project_cap + 1);
	if (before->phase == SESSION_GUARD_CODING)
		ck_assert_int_eq(g->phase, SESSION_GUARD_CODING);
	if (before->started)
		ck_assert_int_eq(g->started_at_ms, before->started_at_ms);
	if (g->phase == SESSION_GUARD_CODING)
		ck_assert(g->reasons != 0);
	else if (g->started)
		ck_assert_int_lt(g->base.at_ms, limit);
	for (int i = 0; i < SESSION_GUARD_TRAITS; i++) {
		ck_assert(g->traits[i].s >= 0 && g->traits[i].s <= 1);
		ck_assert(g->traits[i].w >= before->traits[i].w);
	}
}

START_TEST(test_random_streams)
{
	static struct session_guard before;

	for (int round = 0; round < 60; round++) {
		struct script s;
		int64_t at_ms = 0;

		seed = (uint64_t)(_i * 1000 + round);
		script_init(&s, GUARD_SESSION);
		s.quiet = true;
		script_create(&s,
			"{\"timeboxMs\":20000,\"replyWaitMs\":3000,\"speechWaitMs\":5000,"
			"\"autoScore\":true}",
			0);
		for (int i = 0; i < 60; i++) {
			before = *state_of(&s);
			at_ms += any(4) ? any(400) : any(3000);
			script_event(&s, STREAM_CLIENT, at_ms, at_ms,
				str_of(events[any(sizeof(events) / sizeof(events[0]))]));
			check_state(&s, &before);
		}
		script_until(&s, at_ms + 60000, at_ms + 60000);
		ck_assert(!state_of(&s)->started ||
			  state_of(&s)->phase == SESSION_GUARD_CODING);
		ck_assert_int_le(count_rows(&s, "transition"), 1);
		ck_assert_int_le(count_rows(&s, "ask_another_project"), 1);
		script_check_replay(&s);
		script_fini(&s);
	}
}
END_TEST

/* The transition never falls on somebody who speaks, unless the wait for the end is over.
 */
START_TEST(test_never_interrupts)
{
	for (int round = 0; round < 300; round++) {
		struct script s;
		int64_t at_ms = 0;
		bool ai = false, user = false;

		seed = (uint64_t)round + 5000;
		script_init(&s, GUARD_SESSION);
		s.quiet = true;
		script_create(&s, "{\"timeboxMs\":5000}", 0);
		at_ms = send(&s, 0, "{\"type\":\"question_asked\",\"text\":\"q\"}");
		while (at_ms < 20000 && state_of(&s)->phase == SESSION_GUARD_BACKGROUND) {
			const char *const turns[] = {"{\"type\":\"response_started\"}",
				"{\"type\":\"response_done\"}",
				"{\"type\":\"speech_started\"}",
				"{\"type\":\"speech_ended\"}"};
			int turn = any(4);

			at_ms += any(1200);
			script_until(&s, at_ms, at_ms);
			if (state_of(&s)->phase == SESSION_GUARD_CODING)
				break;
			if (turn < 2)
				ai = turn == 0;
			else
				user = turn == 2;
			script_event(
				&s, STREAM_CLIENT, at_ms, at_ms, str_of(turns[turn]));
			ck_assert(!(ai || user) ||
				  state_of(&s)->phase == SESSION_GUARD_BACKGROUND);
		}
		if (state_of(&s)->phase == SESSION_GUARD_CODING)
			ck_assert(!ai && !user);
		script_fini(&s);
	}
}
END_TEST

struct bad_config {
	const char *config, *error;
};

static const struct bad_config bad_configs[] = {
	{"{\"timeboxMs\":0}",
		"config.timeboxMs: expected an integer from 1 to 86400000, got 0"},
	{"{\"tau\":1.5}", "config.tau: expected a number from 0 to 1, got 1.5"},
	{"{\"c\":0}", "config.c: expected a number from 1e-06 to 1000000, got 0"},
	{"{\"zeroRunLimit\":\"2\"}", "config.zeroRunLimit: expected an integer"},
	{"{\"autoScore\":1}", "config.autoScore: expected a boolean"},
	{"{\"timebox\":5}", "config.timebox: unknown field, did you mean \"timeboxMs\"?"},
	{"{\"settleMs\":900}",
		"config.settleMs: expected an integer from 0 to 800, got 900"},
};

START_TEST(test_bad_config)
{
	static struct session_guard state;
	struct stream s = {.machine = machine_of(GUARD_SESSION), .state = &state};
	struct machine_defaults defaults = {
		.timebox_ms = 1, .zero_run_limit = 1, .project_cap = 1};
	struct arena arena = {0};
	struct proto_error error;
	yyjson_doc *doc = proto_parse(str_of(bad_configs[_i].config), &error);

	ck_assert_int_lt(
		stream_new(&s, yyjson_doc_get_root(doc), &defaults, &arena, &error), 0);
	ck_assert_str_eq(error.text, bad_configs[_i].error);
	yyjson_doc_free(doc);
	arena_free(&arena);
}
END_TEST

struct minutes_case {
	int64_t left_ms;
	const char *text;
};

static const struct minutes_case minutes[] = {{240000, "4:00"}, {239999, "3:59"},
	{63850, "1:03"}, {7999, "0:07"}, {999, "0:00"}, {0, "0:00"}, {-5, "0:00"},
	{3600000, "60:00"}, {INT64_MIN, "0:00"}};

START_TEST(test_minutes)
{
	char text[MACHINE_CLOCK_TEXT];

	machine_minutes(minutes[_i].left_ms, text);
	ck_assert_str_eq(text, minutes[_i].text);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	tcase_add_test(tcase, test_hundred_interviews);
	tcase_add_test(tcase, test_timebox_accuracy);
	tcase_add_loop_test(tcase, test_random_streams, 0, 4);
	tcase_add_test(tcase, test_never_interrupts);
	check_add_table(tcase, test_bad_config, bad_configs);
	check_add_table(tcase, test_minutes, minutes);
	tcase_set_timeout(tcase, 60);
	return check_run(tcase);
}
