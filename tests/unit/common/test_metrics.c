/* Tests of what a worker counts (common/worker/metrics.h). */
#include "common/worker/metrics.h"
#include "tests/check_run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *printed(void)
{
	struct buf out = {0};
	char *text;

	metrics_print(WORKER_LLM, &out);
	text = strndup(out.data, out.len);
	buf_free(&out);
	return text;
}

static void assert_printed(const char *lines)
{
	char *text = printed();

	ck_assert_msg(strstr(text, lines) != NULL, "%s\nis not in\n%s", lines, text);
	free(text);
}

static struct metric_labels of(const char *kind, const char *outcome)
{
	struct metric_labels labels = {.len = 0};

	metric_label(&labels, "kind", kind);
	metric_label(&labels, "outcome", outcome);
	return labels;
}

START_TEST(adds_up_what_has_the_same_labels)
{
	const struct metric_labels ok = of("a", "ok"), failed = of("a", "network");

	metric_add(METRIC_CLAUDE_CALLS, &ok, 1);
	metric_add(METRIC_CLAUDE_CALLS, &failed, 1);
	metric_add(METRIC_CLAUDE_CALLS, &ok, 1);
	metric_add(METRIC_CLAUDE_COST, &ok, 0.25);
	metric_add(METRIC_CLAUDE_COST, &ok, 0.5);
	assert_printed("# TYPE paige_claude_calls_total counter\n"
		       "paige_claude_calls_total{kind=\"a\",outcome=\"ok\"} 2\n"
		       "paige_claude_calls_total{kind=\"a\",outcome=\"network\"} 1\n# ");
	assert_printed(
		"paige_claude_cost_dollars_total{kind=\"a\",outcome=\"ok\"} 0.75\n");
}
END_TEST

START_TEST(buckets_are_cumulative_and_include_their_limit)
{
	const struct metric_labels labels = of("a", "ok");

	metric_observe(METRIC_CLAUDE_CALL_SECONDS, &labels, 0.25);
	metric_observe(METRIC_CLAUDE_CALL_SECONDS, &labels, 0.26);
	metric_observe(METRIC_CLAUDE_CALL_SECONDS, &labels, 400);
#define AT "paige_claude_call_seconds_bucket{kind=\"a\",outcome=\"ok\",le="
	assert_printed(AT "\"0.25\"} 1\n" AT "\"0.5\"} 2\n" AT "\"1\"} 2\n");
	assert_printed(
		AT "\"300\"} 2\n" AT "\"+Inf\"} 3\n"
		   "paige_claude_call_seconds_sum{kind=\"a\",outcome=\"ok\"} 400.51\n"
		   "paige_claude_call_seconds_count{kind=\"a\",outcome=\"ok\"} 3\n");
}
END_TEST

START_TEST(without_labels)
{
	metric_add(METRIC_CLAUDE_COST, NULL, 1);
	metric_add(METRIC_CLAUDE_COST, NULL, 2);
	assert_printed("# TYPE paige_claude_cost_dollars_total "
		       "counter\npaige_claude_cost_dollars_total 3\n");
}
END_TEST

START_TEST(a_metric_that_was_not_counted_is_named)
{
	assert_printed("# TYPE paige_claude_calls_total counter\n# HELP ");
}
END_TEST

START_TEST(a_hostile_value_stays_a_value)
{
	struct metric_labels labels = {.len = 0};

	metric_label(&labels, "model", "a\"b\\c\nd");
	metric_add(METRIC_CLAUDE_CALLS, &labels, 1);
	assert_printed("paige_claude_calls_total{model=\"a\\\"b\\\\c\\nd\"} 1\n");
}
END_TEST

/* Whatever is too long is cut, and the label is closed. */
START_TEST(long_values_are_cut)
{
	char value[METRIC_LABELS_SIZE * 2];

	memset(value, '"', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	for (size_t n = METRIC_LABELS_SIZE / 2 - 10; n < sizeof(value); n++) {
		struct metric_labels labels = {.len = 0};

		metric_label(&labels, "x", value + sizeof(value) - 1 - n);
		ck_assert_uint_le(labels.len, METRIC_LABELS_SIZE);
		ck_assert_int_eq(labels.text[labels.len - 1], '"');
		metric_label(&labels, "y", "z"); /* fits, or is left out whole */
		ck_assert_uint_le(labels.len, METRIC_LABELS_SIZE);
		ck_assert_int_eq(labels.text[labels.len - 1], '"');
	}
}
END_TEST

START_TEST(the_number_of_series_is_bounded)
{
	char *text;
	size_t lines = 0;

	for (int i = 0; i < 1000; i++) {
		char model[20];
		struct metric_labels labels = {.len = 0};

		snprintf(model, sizeof(model), "m%d", i);
		metric_label(&labels, "model", model);
		metric_add(METRIC_CLAUDE_CALLS, &labels, 1);
	}
	text = printed();
	for (const char *at = text; (at = strstr(at, "{model=")); at++)
		lines++;
	free(text);
	ck_assert_uint_eq(lines, METRIC_SERIES_MAX);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("metrics");

	tcase_add_checked_fixture(tc, metrics_reset, NULL);
	tcase_add_test(tc, adds_up_what_has_the_same_labels);
	tcase_add_test(tc, buckets_are_cumulative_and_include_their_limit);
	tcase_add_test(tc, without_labels);
	tcase_add_test(tc, a_metric_that_was_not_counted_is_named);
	tcase_add_test(tc, a_hostile_value_stays_a_value);
	tcase_add_test(tc, long_values_are_cut);
	tcase_add_test(tc, the_number_of_series_is_bounded);
	return check_run(tc);
}
