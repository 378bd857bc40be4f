/* The pure half of the Claude client: models and prices, retries, events, answers. */
#include "common/base/buf.h"
#include "prompts/models.h"
#include "tests/check_run.h"
#include "workers/llm/claude/model_reply.h"
#include "workers/llm/claude/retry.h"
#include "workers/llm/claude/sse.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- models ---- */

static struct wall day(const char *date)
{
	char text[40];
	struct wall t;

	snprintf(text, sizeof(text), "%s%s", date,
		strlen(date) > 10 ? "" : "T00:00:00.000Z");
	ck_assert_int_eq(wall_parse(str_of(text), &t), 0);
	return t;
}

START_TEST(a_model_that_has_ended_is_never_the_first)
{
	static const struct {
		const char *now, *gone, *preferred, *sonnet;
	} cases[] = {
		{"2026-10-01", NULL, NULL, "claude-sonnet-4-5-20250929"},
		{"2026-11-29T23:59:59.999Z", NULL, NULL, "claude-sonnet-4-5-20250929"},
		{"2026-11-30", NULL, NULL, "claude-sonnet-4-6"},
		{"2031-01-01", NULL, "", "claude-sonnet-4-6"},
		{"2031-01-01", "claude-sonnet-4-6", NULL, "claude-sonnet-5-5"},
		{"1970-01-01", NULL, NULL, "claude-sonnet-4-5-20250929"},
		/* Who names it in a setting gets it. */
		{"2031-01-01", NULL, "claude-sonnet-4-5-20250929",
			"claude-sonnet-4-5-20250929"},
		{"2031-01-01", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929",
			"claude-sonnet-4-6"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct models_gone gone = {0};

		if (cases[i].gone)
			model_gone(&gone, MODEL_SONNET, cases[i].gone);
		ck_assert_str_eq(model_choose(&gone, MODEL_SONNET, cases[i].preferred,
					 day(cases[i].now)),
			cases[i].sonnet);
		ck_assert_str_eq(
			model_choose(&gone, MODEL_HAIKU, NULL, day(cases[i].now)),
			"claude-haiku-4-5-20251001");
	}
}
END_TEST

START_TEST(a_model_that_is_gone_is_replaced_once)
{
	const struct wall now = day("2026-10-01");
	struct models_gone gone = {0};
	const char *first = model_choose(&gone, MODEL_SONNET, NULL, now), *second;

	ck_assert(model_gone(&gone, MODEL_SONNET, first));
	second = model_choose(&gone, MODEL_SONNET, NULL, now);
	ck_assert_str_ne(first, second);
	ck_assert_msg(!model_gone(&gone, MODEL_SONNET, first),
		"a late answer about the first one");
	ck_assert_str_eq(model_choose(&gone, MODEL_SONNET, NULL, now), second);
	for (int i = 0; i < 10; i++)
		model_gone(&gone, MODEL_SONNET,
			model_choose(&gone, MODEL_SONNET, NULL, now));
	ck_assert_str_eq(
		model_choose(&gone, MODEL_SONNET, NULL, now), "claude-sonnet-5-5");
	ck_assert_str_eq(
		model_choose(&gone, MODEL_HAIKU, NULL, now), "claude-haiku-4-5-20251001");
}
END_TEST

START_TEST(settings_put_a_model_first)
{
	const struct wall now = day("2026-10-01");
	struct models_gone gone = {0};
	int turns = 0;

	ck_assert_str_eq(model_choose(&gone, MODEL_HAIKU, "mine", now), "mine");
	ck_assert(model_gone(&gone, MODEL_HAIKU, "mine"));
	ck_assert(!model_gone(&gone, MODEL_HAIKU, "mine"));
	ck_assert_str_eq(model_choose(&gone, MODEL_HAIKU, "mine", now),
		"claude-haiku-4-5-20251001");
	ck_assert_str_eq(model_choose(&gone, MODEL_HAIKU, "another", now), "another");
	ck_assert(model_gone(&gone, MODEL_SONNET, "claude-sonnet-5-5"));
	while (model_gone(&gone, MODEL_SONNET,
		model_choose(&gone, MODEL_SONNET, "claude-sonnet-5-5", now)))
		turns++;
	ck_assert_int_eq(turns, 2);
}
END_TEST

START_TEST(cost_is_tokens_times_prices)
{
	static const struct {
		const char *what;
		enum model_tier tier;
		const char *id;
		struct model_usage usage;
		double dollars;
	} cases[] = {
		{"sonnet", MODEL_SONNET, "claude-sonnet-4-5-20250929",
			{1500, 300, 0, 0, 0}, 0.009},
		{"haiku", MODEL_HAIKU, "claude-haiku-4-5-20251001",
			{12345, 6789, 0, 0, 0}, 0.037032},
		{"not listed: like the first of its tier", MODEL_SONNET, "mine",
			{1000000, 0, 0, 0, 0}, 3},
		{"cache and searches", MODEL_SONNET, "claude-sonnet-4-5-20250929",
			{0, 0, 1000, 10000, 3}, 0.00375 + 0.003 + 0.03},
		{"nothing", MODEL_HAIKU, "claude-haiku-4-5-20251001", {0}, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_double_eq_tol(
			model_cost(cases[i].tier, cases[i].id, &cases[i].usage),
			cases[i].dollars, 1e-12);
}
END_TEST

/* ---- retries ---- */

START_TEST(retries_follow_the_vendor)
{
	static const struct {
		int status;
		const char *asked;
		int64_t ms;
	} too_long[] = {{429, "60", 0}, {429, "3600", 3600000}, {529, "61", 61000},
		{400, "3600", 0}, {429, "1e9", 0},
		{429, "Tue, 14 Nov 2023 23:13:20 GMT", 3600000}};
	const struct wall now = {1700000000000000};
	static const struct {
		const char *what;
		struct attempt a;
		int done;
		double chance;
		int64_t wait;
	} cases[] = {
		{"no answer", {.status = 0}, 0, 0, 500},
		{"doubles", {.status = 500}, 1, 0, 1000},
		{"at most 8 s", {.status = 500}, 9, 0, 8000},
		{"a quarter less at most", {.status = 529}, 0, 0.9999999, 375},
		{"408", {.status = 408}, 0, 0, 500},
		{"409", {.status = 409}, 0, 0, 500},
		{"429", {.status = 429}, 0, 0, 500},
		{"a cut answer", {.status = 200, .cut = true}, 0, 0, 500},
		{"overloaded inside 200", {.status = 200, .overloaded = true}, 0, 0, 500},
		{"400 lasts", {.status = 400}, 0, 0, -1},
		{"401 lasts", {.status = 401}, 0, 0, -1},
		{"404 lasts", {.status = 404}, 0, 0, -1},
		{"x-should-retry true", {.status = 400, .should_retry = {"true", 4}}, 0,
			0, 500},
		{"x-should-retry false", {.status = 500, .should_retry = {"false", 5}}, 0,
			0, -1},
		{"retry-after-ms", {.status = 529, .retry_after_ms = {"50", 2}}, 0, 0,
			50},
		{"retry-after-ms before retry-after",
			{.status = 529,
				.retry_after_ms = {"50", 2},
				.retry_after = {"3", 1}},
			0, 0, 50},
		{"retry-after in seconds", {.status = 429, .retry_after = {"1.5", 3}}, 0,
			0, 1500},
		{"retry-after as a date",
			{.status = 429,
				.retry_after = {"Tue, 14 Nov 2023 22:13:25 GMT", 29}},
			0, 0, 5000},
		{"a date that is over",
			{.status = 429,
				.retry_after = {"Tue, 14 Nov 2023 22:13:15 GMT", 29}},
			0, 0, 500},
		{"nonsense", {.status = 429, .retry_after = {"soon", 4}}, 0, 0, 500},
		{"a minute", {.status = 429, .retry_after = {"60", 2}}, 0, 0, 60000},
		{"over a minute", {.status = 429, .retry_after = {"61", 2}}, 0, 0, -1},
		{"over a minute, told to retry",
			{.status = 529,
				.should_retry = {"true", 4},
				.retry_after = {"3600", 4}},
			0, 0, -1},
		{"an hour by date",
			{.status = 429,
				.retry_after = {"Tue, 14 Nov 2023 23:13:20 GMT", 29}},
			0, 0, -1},
		{"a time that cannot be meant",
			{.status = 429, .retry_after = {"1e9", 3}}, 0, 0, 500},
		{"zero", {.status = 429, .retry_after = {"0", 1}}, 0, 0, 500},
		{"too long", {.status = 429, .retry_after = {"99999999999", 11}}, 0, 0,
			500},
		{"not a number", {.status = 429, .retry_after = {"nan", 3}}, 0, 0, 500},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(retry_wait_ms(&cases[i].a, cases[i].done, 10, 500,
				      cases[i].chance, now) == cases[i].wait,
			"%s: %lld", cases[i].what,
			(long long)retry_wait_ms(&cases[i].a, cases[i].done, 10, 500,
				cases[i].chance, now));
	ck_assert_int_eq(retry_wait_ms(&cases[0].a, 2, 2, 500, 0, now), -1);
	for (size_t i = 0; i < sizeof(too_long) / sizeof(too_long[0]); i++)
		ck_assert_int_eq(
			retry_asked_too_long_ms(
				&(struct attempt){.status = too_long[i].status,
					.retry_after = str_of(too_long[i].asked)},
				now),
			too_long[i].ms);
}
END_TEST

/* ---- events and answers ---- */

static void note(void *arg, struct str event, struct str data)
{
	buf_printf(arg, "[%.*s|%.*s]", STR_ARG(event), STR_ARG(data));
}

START_TEST(events_are_taken_apart_wherever_they_are_cut)
{
	static const char stream[] =
		": hello\n\nevent: a\ndata: 1\n\ndata:2\r\ndata: 3\r\n\r\nevent:b\rdata: "
		"\r\r"
		"id: 7\ndata: x:y\n\nevent: lost\n\ndata: not ended\n";
	static const char want[] = "[a|1][|2\n3][b|][|x:y]";

	for (size_t cut = 1; cut < sizeof(stream); cut++) {
		struct sse s = {0};
		struct buf got = {0};

		for (size_t i = 0; i < sizeof(stream) - 1; i += cut) {
			size_t n = sizeof(stream) - 1 - i < cut ? sizeof(stream) - 1 - i
								: cut;

			sse_feed(&s, (struct str){stream + i, n}, note, &got);
		}
		ck_assert_msg(str_is(buf_str(&got), want), "pieces of %zu: %.*s", cut,
			STR_ARG(buf_str(&got)));
		buf_free(&got);
		sse_fini(&s);
	}
}
END_TEST

START_TEST(whole_answers_are_read)
{
	static const struct {
		const char *what, *body, *text;
		enum stop_reason stop;
		int result;
		const char *error;
		int64_t input, output;
	} cases[] = {
		{"plain",
			"{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":"
			"\"{}\"}],\"stop_reason\":"
			"\"end_turn\",\"usage\":{\"input_tokens\":5,\"output_tokens\":7,"
			"\"cache_read_input_tokens\":null}}",
			"{}", STOP_END_TURN, 0, "", 5, 7},
		{"text behind the last tool result, in two blocks",
			"{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":"
			"\"Let me see\"},{\"type\":"
			"\"server_tool_use\",\"id\":\"s\"},{\"type\":\"web_search_tool_"
			"result\",\"content\":[]},"
			"{\"type\":\"text\",\"text\":\"{\\\"a\\\":\"},{\"type\":\"text\","
			"\"text\":\"1}\"}],"
			"\"stop_reason\":\"end_turn\"}",
			"{\"a\":1}", STOP_END_TURN, 0, "", 0, 0},
		{"refusal",
			"{\"type\":\"message\",\"content\":[],\"stop_reason\":"
			"\"refusal\"}",
			"", STOP_REFUSAL, 0, "", 0, 0},
		{"paused",
			"{\"type\":\"message\",\"content\":[],\"stop_reason\":\"pause_"
			"turn\"}",
			"", STOP_PAUSE_TURN, 0, "", 0, 0},
		{"a reason of the future",
			"{\"type\":\"message\",\"content\":[],\"stop_reason\":\"bored\"}",
			"", STOP_OTHER, 0, "", 0, 0},
		{"an error",
			"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
			"\"message\":\"m\"}}",
			"", STOP_NONE, 0, "overloaded_error", 0, 0},
		{"no message", "{\"type\":\"list\"}", "", STOP_NONE, -22, "", 0, 0},
		{"HTML", "<html>", "", STOP_NONE, -22, "", 0, 0},
		{"empty", "", "", STOP_NONE, -22, "", 0, 0},
		{"content of another kind", "{\"type\":\"message\",\"content\":7}", "",
			STOP_NONE, -22, "", 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct model_reply r = {0};

		ck_assert_msg(
			model_reply_read(&r, str_of(cases[i].body)) == cases[i].result,
			"%s", cases[i].what);
		ck_assert_msg(
			str_is(buf_str(&r.text), cases[i].text), "%s", cases[i].what);
		ck_assert_msg(r.stop == cases[i].stop, "%s", cases[i].what);
		ck_assert_str_eq(r.error_type, cases[i].error);
		ck_assert_int_eq(r.usage.input, cases[i].input);
		ck_assert_int_eq(r.usage.output, cases[i].output);
		model_reply_fini(&r);
	}
}
END_TEST

START_TEST(streamed_answers_are_put_together)
{
	static const char *const events[][2] = {
		{"message_start", "{\"message\":{\"usage\":{\"input_tokens\":9,\"output_"
				  "tokens\":1}}}"},
		{"ping", "{}"},
		{"content_block_start",
			"{\"content_block\":{\"type\":\"text\",\"text\":\"\"}}"},
		{"content_block_delta",
			"{\"delta\":{\"type\":\"text_delta\",\"text\":\"{\\\"a\\\"\"}}"},
		{"content_block_delta",
			"{\"delta\":{\"type\":\"text_delta\",\"text\":\":1}\"}}"},
		{"content_block_stop", "{}"},
		{"something_new",
			"{\"delta\":{\"type\":\"text_delta\",\"text\":\"no\"}}"},
		{"message_delta", "{\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{"
				  "\"output_tokens\":12}}"},
		{"message_stop", "{}"},
	};
	const size_t n = sizeof(events) / sizeof(events[0]);

	for (size_t count = 0; count <= n; count++) {
		struct model_reply r = {0};

		for (size_t i = 0; i < count; i++)
			model_reply_event(&r, str_of(events[i][0]), str_of(events[i][1]));
		ck_assert_msg(r.complete == (count == n),
			"complete only at the very end (%zu)", count);
		if (count == n) {
			ck_assert(str_is(buf_str(&r.text), "{\"a\":1}"));
			ck_assert_int_eq(r.stop, STOP_END_TURN);
			ck_assert_int_eq(r.usage.input, 9);
			ck_assert_int_eq(r.usage.output, 12);
		}
		model_reply_fini(&r);
	}
}
END_TEST

START_TEST(an_error_in_a_stream_is_seen)
{
	struct model_reply r = {0};

	model_reply_event(&r, str_of("error"),
		str_of("{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}"));
	ck_assert_str_eq(r.error_type, "overloaded_error");
	ck_assert(model_error_is_transient(r.error_type));
	ck_assert(!model_error_is_transient("invalid_request_error"));
	model_reply_fini(&r);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("claude_api");

	tcase_add_test(tcase, a_model_that_has_ended_is_never_the_first);
	tcase_add_test(tcase, a_model_that_is_gone_is_replaced_once);
	tcase_add_test(tcase, settings_put_a_model_first);
	tcase_add_test(tcase, cost_is_tokens_times_prices);
	tcase_add_test(tcase, retries_follow_the_vendor);
	tcase_add_test(tcase, events_are_taken_apart_wherever_they_are_cut);
	tcase_add_test(tcase, whole_answers_are_read);
	tcase_add_test(tcase, streamed_answers_are_put_together);
	tcase_add_test(tcase, an_error_in_a_stream_is_seen);
	return check_run(tcase);
}
