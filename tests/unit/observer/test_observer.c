/* When the Observer looks, when it holds back, and what it tells the model (story 10). */
#include "tests/check_run.h"
#include "workers/observer/decisions.h"
#include "workers/observer/policy.h"
#include "workers/observer/snapshot.h"
#include <stdlib.h>

#define START 1700000000000 /* ms */

static const struct policy_config config = {
	.cooldown_ms = 120000,
	.flow_window_ms = 60000,
	.flow_actions = 10,
	.idle_ms = 300000,
	.buffer_updates = 5,
	.min_confidence = 0.7,
};

/* One step of a story: what happens, how long after the start, and what must come of it.
 */
struct step {
	enum policy_event event;
	int64_t at_ms;
	enum policy_verdict verdict;
};

static void play(
	const char *what, struct policy *p, const struct step *steps, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		enum policy_verdict got = policy_step(p, steps[i].event,
			START + steps[i].at_ms, START + steps[i].at_ms);

		ck_assert_msg(got == steps[i].verdict, "%s: step %zu gave %d, not %d",
			what, i, got, steps[i].verdict);
	}
}

#define PLAY(what, p, ...)                                                               \
	play(what, p, (const struct step[]){__VA_ARGS__},                                \
		sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step))

START_TEST(triggers_ask_and_the_rest_does_not)
{
	struct policy p;

	policy_init(&p, &config, START);
	PLAY("activity", &p, {POLICY_ACTIVITY, 1, POLICY_NOTHING},
		{POLICY_IDLE_CHECK, 2, POLICY_NOTHING}, {POLICY_TRIGGER, 3, POLICY_ASK},
		{POLICY_TRIGGER, 4, POLICY_NOTHING} /* EC-65 */);
	policy_failed(&p);
	PLAY("after a failure", &p, {POLICY_PHASE, 5, POLICY_ASK});
	policy_fini(&p);
}
END_TEST

START_TEST(the_fifth_and_the_tenth_edit_ask)
{
	struct policy p;

	policy_init(&p, &config, START);
	PLAY("first five", &p, {POLICY_BUFFER_UPDATE, 1, POLICY_NOTHING},
		{POLICY_BUFFER_UPDATE, 2, POLICY_NOTHING},
		{POLICY_BUFFER_UPDATE, 3, POLICY_NOTHING},
		{POLICY_BUFFER_UPDATE, 4, POLICY_NOTHING},
		{POLICY_BUFFER_UPDATE, 5, POLICY_ASK});
	ck_assert_int_eq(policy_answered(&p, false, 0, true, START + 6), POLICY_NO_NUDGE);
	PLAY("next five", &p, {POLICY_BUFFER_UPDATE, 7, POLICY_NOTHING},
		{POLICY_BUFFER_UPDATE, 8, POLICY_NOTHING},
		{POLICY_BUFFER_UPDATE, 9, POLICY_NOTHING},
		{POLICY_BUFFER_UPDATE, 10, POLICY_NOTHING},
		{POLICY_BUFFER_UPDATE, 11, POLICY_ASK});
	policy_fini(&p);
}
END_TEST

START_TEST(more_than_ten_actions_in_a_minute_are_flow)
{
	struct policy p;

	policy_init(&p, &config, START);
	for (int i = 0; i < 9; i++)
		policy_step(&p, POLICY_ACTIVITY, START + i, START + i);
	PLAY("the tenth is none", &p, {POLICY_TRIGGER, 100, POLICY_ASK});
	policy_failed(&p);
	PLAY("the eleventh is", &p, {POLICY_TRIGGER, 200, POLICY_FLOW},
		{POLICY_TRIGGER, 300, POLICY_FLOW});
	PLAY("the window has run empty", &p, {POLICY_TRIGGER, 60301, POLICY_ASK});
	policy_fini(&p);
}
END_TEST

START_TEST(edits_held_back_are_told_once)
{
	struct policy_config few = config;
	struct policy p;

	few.flow_actions = 3;
	policy_init(&p, &few, START);
	for (int i = 0; i < 4; i++)
		policy_step(&p, POLICY_BUFFER_UPDATE, START + i, START + i);
	PLAY("one crossing", &p, {POLICY_BUFFER_UPDATE, 5, POLICY_FLOW},
		{POLICY_BUFFER_UPDATE, 6, POLICY_NOTHING},
		{POLICY_BUFFER_UPDATE, 7, POLICY_NOTHING});
	PLAY("asked as soon as it may be", &p, {POLICY_BUFFER_UPDATE, 70000, POLICY_ASK});
	policy_fini(&p);
}
END_TEST

START_TEST(the_cooldown_ends_on_time)
{
	struct policy p;

	policy_init(&p, &config, START);
	PLAY("first", &p, {POLICY_TRIGGER, 0, POLICY_ASK});
	ck_assert_int_eq(policy_answered(&p, true, 0.7, false, START + 10), POLICY_NUDGE);
	PLAY("exactly the cooldown is over", &p,
		{POLICY_TRIGGER, 120009, POLICY_COOLDOWN},
		{POLICY_TRIGGER, 120010, POLICY_ASK});
	policy_fini(&p);
}
END_TEST

START_TEST(not_now_begins_the_cooldown_anew)
{
	struct policy p;

	policy_init(&p, &config, START);
	PLAY("first", &p, {POLICY_TRIGGER, 0, POLICY_ASK});
	ck_assert_int_eq(policy_answered(&p, true, 0.7, false, START), POLICY_NUDGE);
	policy_not_now(&p, START + 100000);
	PLAY("the cooldown counts from the answer", &p,
		{POLICY_TRIGGER, 120000, POLICY_COOLDOWN},
		{POLICY_TRIGGER, 219999, POLICY_COOLDOWN},
		{POLICY_TRIGGER, 220000, POLICY_ASK});
	policy_fini(&p);
}
END_TEST

START_TEST(an_older_not_now_does_not_shorten_the_cooldown)
{
	struct policy p;

	policy_init(&p, &config, START);
	PLAY("first", &p, {POLICY_TRIGGER, 100000, POLICY_ASK});
	ck_assert_int_eq(
		policy_answered(&p, true, 0.7, false, START + 100000), POLICY_NUDGE);
	policy_not_now(&p, START + 50000);
	PLAY("the nudge counts", &p, {POLICY_TRIGGER, 219999, POLICY_COOLDOWN},
		{POLICY_TRIGGER, 220000, POLICY_ASK});
	policy_fini(&p);
}
END_TEST

START_TEST(what_is_heard_of_late_counts_from_when_it_happened)
{
	const int64_t now = START + 400000;
	struct policy p;

	policy_init(&p, &config, START);
	/* Twenty actions of five minutes, in one moment. */
	for (int i = 0; i < 20; i++)
		policy_step(&p, POLICY_ACTIVITY, START + 15000 * i, now);
	ck_assert_int_eq(p.last_activity_ms, START + 285000);
	ck_assert_int_eq(
		policy_step(&p, POLICY_TRIGGER, START + 300000, now), POLICY_ASK);
	policy_failed(&p);
	/* Eleven of the last minute are flow, however late. */
	for (int i = 0; i < 10; i++)
		policy_step(&p, POLICY_ACTIVITY, now - 50000 + i, now);
	ck_assert_int_eq(policy_step(&p, POLICY_TRIGGER, now - 40000, now), POLICY_FLOW);
	/* Nothing lies ahead. */
	policy_step(&p, POLICY_ACTIVITY, now + 1000000, now);
	ck_assert_int_eq(p.last_activity_ms, now);
	policy_fini(&p);
}
END_TEST

START_TEST(idleness_is_looked_at_once)
{
	struct policy p;

	policy_init(&p, &config, START);
	PLAY("exactly five minutes are no idleness", &p,
		{POLICY_IDLE_CHECK, 300000, POLICY_NOTHING},
		{POLICY_IDLE_CHECK, 300001, POLICY_ASK});
	policy_answered(&p, true, 0.9, false, START + 300100);
	PLAY("not again", &p, {POLICY_IDLE_CHECK, 330000, POLICY_NOTHING},
		{POLICY_IDLE_CHECK, 900000, POLICY_NOTHING});
	PLAY("after activity", &p, {POLICY_ACTIVITY, 900001, POLICY_NOTHING},
		{POLICY_IDLE_CHECK, 1200002, POLICY_ASK});
	policy_fini(&p);
}
END_TEST

START_TEST(idleness_that_was_held_back_is_asked_later)
{
	struct policy_config c = config;
	struct policy p;

	c.idle_ms = 1000;
	policy_init(&p, &c, START);
	PLAY("a nudge", &p, {POLICY_TRIGGER, 0, POLICY_ASK});
	policy_answered(&p, true, 1, false, START);
	PLAY("told once, asked when the cooldown is over", &p,
		{POLICY_IDLE_CHECK, 2000, POLICY_COOLDOWN},
		{POLICY_IDLE_CHECK, 3000, POLICY_NOTHING},
		{POLICY_IDLE_CHECK, 120000, POLICY_ASK},
		{POLICY_IDLE_CHECK, 121000, POLICY_NOTHING});
	policy_fini(&p);
}
END_TEST

START_TEST(muted_is_silent_but_listens)
{
	struct policy p;

	policy_init(&p, &config, START);
	p.muted = true;
	PLAY("muted", &p, {POLICY_TRIGGER, 250000, POLICY_NOTHING},
		{POLICY_IDLE_CHECK, 400000, POLICY_NOTHING});
	p.muted = false;
	PLAY("activity while muted counted", &p,
		{POLICY_IDLE_CHECK, 500000, POLICY_NOTHING},
		{POLICY_IDLE_CHECK, 550001, POLICY_ASK});
	policy_fini(&p);
}
END_TEST

START_TEST(answers_are_judged)
{
	static const struct {
		const char *what;
		bool should, none;
		double confidence;
		enum policy_outcome outcome;
	} cases[] = {
		{"no", false, false, 1, POLICY_NO_NUDGE},
		{"sure", true, false, 0.85, POLICY_NUDGE},
		{"exactly sure enough", true, false, 0.7, POLICY_NUDGE},
		{"not quite", true, false, 0.6999, POLICY_LOW_CONFIDENCE},
		{"a contradiction, however sure", true, true, 0.99, POLICY_CONTRADICTION},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct policy p;

		policy_init(&p, &config, START);
		ck_assert_msg(policy_answered(&p, cases[i].should, cases[i].confidence,
				      cases[i].none, START + 5) == cases[i].outcome,
			"%s", cases[i].what);
		ck_assert_int_eq(p.last_nudge_ms,
			cases[i].outcome == POLICY_NUDGE ? START + 5 : 0);
		ck_assert_int_eq(p.last_evaluation_ms, START + 5);
		policy_fini(&p);
	}
}
END_TEST

START_TEST(times_are_short)
{
	static const struct {
		int64_t ms;
		const char *text;
	} cases[] = {{0, "0s"}, {-5, "0s"}, {999, "0s"}, {12000, "12s"}, {59999, "59s"},
		{60000, "1m"}, {192000, "3m12s"}, {240000, "4m"}, {3723000, "62m3s"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[AGO_SIZE];

		ago_text(START, START + cases[i].ms, text);
		ck_assert_str_eq(text, cases[i].text);
	}
}
END_TEST

START_TEST(the_snapshot_has_the_last_twenty_actions)
{
	struct observer_context context = {.dreyfus_stage = STR_LIT("novice")};
	struct observer_triage_request request;
	struct buf rows = {0}, json = {0};
	struct arena arena = {0};
	struct policy p;
	yyjson_doc *doc;

	policy_init(&p, &config, START);
	buf_add_char(&rows, '[');
	for (int i = 0; i < 25; i++)
		buf_printf(&rows,
			"%s{\"type\":\"tab_switch\",\"data\":{\"fromPath\":\"f\","
			"\"toPath\":\"t%d\"},"
			"\"createdAt\":\"2023-11-14T22:13:%02d.000Z\"}",
			i ? "," : "", i, i);
	buf_add_str(&rows, STR_LIT("]"));
	doc = yyjson_read(rows.data, rows.len, 0);
	context.recent_actions.val = yyjson_doc_get_root(doc);
	request = snapshot_make(&context, &p, START + 60000, &arena);
	ck_assert_uint_eq(request.recent_actions.count, SNAPSHOT_ACTIONS);
	ck_assert(str_is(request.recent_actions.items[0].path, "t5"));
	ck_assert(str_is(request.recent_actions.items[19].path, "t24"));
	ck_assert(str_is(request.time_since_last_save, "never"));
	ck_assert(str_is(request.time_since_last_nudge, "never"));
	proto_encode(observer_triage_request_type(), &request, &json);
	ck_assert(str_starts(buf_str(&json),
		"{\"current_phase\":null,\"recent_actions\":[{\"type\":\"tab_switch\","));
	buf_free(&json);
	buf_free(&rows);
	yyjson_doc_free(doc);
	arena_free(&arena);
	policy_fini(&p);
}
END_TEST

/* "newest..oldest (count) next, forgotten", numbers counted from the first. */
static void page_is(const struct decisions *d, int64_t before, int64_t limit,
	int64_t newest, int64_t oldest, size_t count, int64_t next, int64_t forgotten)
{
	const struct observer_decisions_query query = {.before = before,
		.has_before = before != 0,
		.limit = limit,
		.has_limit = limit != 0};
	struct arena arena = {0};
	struct observer_decisions page;

	decisions_page(d, &query, &arena, &page);
	ck_assert_uint_eq(page.decisions.count, count);
	if (count > 0) {
		ck_assert_int_eq(page.decisions.items[0].n, newest);
		ck_assert_int_eq(page.decisions.items[count - 1].n, oldest);
	}
	ck_assert_int_eq(page.has_next ? page.next : 0, next);
	ck_assert_int_eq(page.has_forgotten ? page.forgotten : 0, forgotten);
	arena_free(&arena);
}

START_TEST(decisions_are_remembered_up_to_a_number)
{
	static struct decisions d;
	const struct wall now = {START * 1000};
	struct observer_decision one = {
		.session_id = STR_LIT("s"), .verdict = OBSERVER_COOLDOWN};

	page_is(&d, 0, 0, 0, 0, 0, 0, 0);
	for (int i = 0; i < DECISIONS_KEPT; i++)
		decisions_add(&d, &one, now);
	page_is(&d, START + 156, 200, START + 155, START, 156, 0, 0);
	for (int i = 0; i < 10; i++)
		decisions_add(&d, &one, now);
	page_is(&d, 0, 256, START + 1009, START + 754, 256, START + 754, 0);
	page_is(&d, 0, 0, START + 1009, START + 910, 100, START + 910, 0);
	page_is(&d, START + 166, 200, START + 165, START + 10, 156, 0, 10);
	page_is(&d, START + 166, 156, START + 165, START + 10, 156, 0, 10);
	page_is(&d, START + 10, 1, 0, 0, 0, 0, 10);
	/* A worker that was started anew goes on with higher numbers. */
	d = (struct decisions){0};
	ck_assert_int_eq(decisions_add(&d, &one, (struct wall){(START + 5000) * 1000})->n,
		START + 5000);
}
END_TEST

START_TEST(long_reasoning_is_cut_between_characters)
{
	static struct decisions d;
	char text[1024];
	struct observer_decision one = {
		.session_id = STR_LIT("s"), .reasoning = {text, sizeof(text)}};
	const struct observer_decision *kept;

	memset(text, 'x', sizeof(text));
	memcpy(text + DECISION_REASONING_BYTES - 1, "\xc3\xa9", 2);
	kept = decisions_add(&d, &one, (struct wall){START * 1000});
	ck_assert_uint_eq(kept->reasoning.len, DECISION_REASONING_BYTES - 1);
	ck_assert(kept->reasoning.ptr != text);
	one.reasoning = (struct str){NULL, 0};
	ck_assert_ptr_null(
		decisions_add(&d, &one, (struct wall){START * 1000})->reasoning.ptr);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("observer");

	tcase_add_test(tcase, triggers_ask_and_the_rest_does_not);
	tcase_add_test(tcase, the_fifth_and_the_tenth_edit_ask);
	tcase_add_test(tcase, more_than_ten_actions_in_a_minute_are_flow);
	tcase_add_test(tcase, edits_held_back_are_told_once);
	tcase_add_test(tcase, the_cooldown_ends_on_time);
	tcase_add_test(tcase, not_now_begins_the_cooldown_anew);
	tcase_add_test(tcase, an_older_not_now_does_not_shorten_the_cooldown);
	tcase_add_test(tcase, what_is_heard_of_late_counts_from_when_it_happened);
	tcase_add_test(tcase, idleness_is_looked_at_once);
	tcase_add_test(tcase, idleness_that_was_held_back_is_asked_later);
	tcase_add_test(tcase, muted_is_silent_but_listens);
	tcase_add_test(tcase, answers_are_judged);
	tcase_add_test(tcase, times_are_short);
	tcase_add_test(tcase, the_snapshot_has_the_last_twenty_actions);
	tcase_add_test(tcase, decisions_are_remembered_up_to_a_number);
	tcase_add_test(tcase, long_reasoning_is_cut_between_characters);
	return check_run(tcase);
}
