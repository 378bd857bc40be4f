/* Tests of workers/fswatch/buffers/buffer_log.h. */
#include "tests/check_run.h"
#include "workers/fswatch/buffers/buffer_log.h"
#include <stdlib.h>

struct edit {
	const char *what;
	int64_t from, to;
	bool significant;
};

static const struct edit edits[] = {
	{"nothing to something", 0, 1, true},
	{"nothing to nothing", 0, 0, false},
	{"exactly half more", 100, 150, false},
	{"over half more", 100, 151, true},
	{"exactly half less", 100, 50, false},
	{"over half less", 100, 49, true},
	{"exactly 500 more", 5000, 5500, false},
	{"501 more", 5000, 5501, true},
	{"exactly 500 less", 5000, 4500, false},
	{"501 less", 5000, 4499, true},
	{"all gone", 10, 0, true},
	{"the same length", 100, 100, false},
};

static const struct buffer_log_limits limits = {.chars = 500, .ratio = 0.5};

START_TEST(significance)
{
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		const struct edit *e = &edits[i];
		struct buffer_log log = {0};
		struct buffer_log_change change = {-1, -1, -1};

		buffer_log_opened(&log, e->from);
		ck_assert_msg(buffer_log_edited(&log, &limits, e->to, &change) ==
				      e->significant,
			"%s", e->what);
		ck_assert_int_eq(change.previous, e->significant ? e->from : -1);
		ck_assert_int_eq(change.now, e->significant ? e->to : -1);
		ck_assert_int_eq(
			change.delta, e->significant ? labs(e->to - e->from) : -1);
		ck_assert_int_eq(log.logged_chars, e->significant ? e->to : e->from);
		ck_assert_int_eq(log.edits, e->significant ? 0 : 1);
	}
}
END_TEST

START_TEST(small_edits_add_up)
{
	struct buffer_log log = {0};
	struct buffer_log_change change;

	buffer_log_opened(&log, 100);
	ck_assert(!buffer_log_edited(&log, &limits, 130, &change));
	ck_assert(!buffer_log_edited(&log, &limits, 150, &change));
	ck_assert(buffer_log_edited(&log, &limits, 151, &change));
	ck_assert_int_eq(change.previous, 100);
	ck_assert_msg(!buffer_log_edited(&log, &limits, 200, &change), "from 151 now");
	ck_assert(buffer_log_edited(&log, &limits, 227, &change));
	ck_assert_int_eq(change.delta, 76);
}
END_TEST

START_TEST(limits_can_be_set)
{
	const struct buffer_log_limits wide = {.chars = 30, .ratio = 0.9};
	struct buffer_log log = {.logged_chars = 100};
	struct buffer_log_change change;

	ck_assert(!buffer_log_edited(&log, &wide, 130, &change));
	ck_assert(buffer_log_edited(&log, &wide, 132, &change));
}
END_TEST

START_TEST(summaries)
{
	struct buffer_log log = {0};
	struct buffer_log_change change;
	struct buffer_log_summary summary;

	buffer_log_opened(&log, 1000);
	ck_assert(!buffer_log_edited(&log, &limits, 1010, &change));
	ck_assert(!buffer_log_edited(&log, &limits, 1040, &change));
	ck_assert(!buffer_log_edited(&log, &limits, 980, &change));
	ck_assert(buffer_log_timer(&log, 980, &summary));
	ck_assert_int_eq(summary.edits, 3);
	ck_assert_int_eq(summary.delta, -20);
	ck_assert_int_eq(summary.chars, 980);
	/* Not again until it is edited (P4.6), whatever is opened and closed meanwhile. */
	ck_assert(!buffer_log_timer(&log, 980, &summary));
	buffer_log_opened(&log, 0);
	ck_assert(!buffer_log_timer(&log, 980, &summary));
	buffer_log_opened(&log, 980);
	ck_assert(!buffer_log_timer(&log, 980, &summary));
	ck_assert(!buffer_log_edited(&log, &limits, 990, &change));
	ck_assert(buffer_log_timer(&log, 990, &summary));
	ck_assert_int_eq(summary.edits, 1);
	ck_assert_int_eq(summary.delta, 10);
}
END_TEST

START_TEST(what_was_typed_before_a_file_is_closed_is_summed_up)
{
	struct buffer_log log = {0};
	struct buffer_log_change change;
	struct buffer_log_summary summary;

	buffer_log_opened(&log, 1000);
	ck_assert(!buffer_log_edited(&log, &limits, 1010, &change));
	buffer_log_opened(&log, 0);
	buffer_log_opened(&log, 1000);
	ck_assert(buffer_log_timer(&log, 1010, &summary));
	ck_assert_int_eq(summary.edits, 1);
	ck_assert_int_eq(summary.delta, 10);
}
END_TEST

START_TEST(a_significant_change_is_not_summed_up_again)
{
	struct buffer_log log = {.logged_chars = 100};
	struct buffer_log_change change;
	struct buffer_log_summary summary;

	ck_assert(buffer_log_edited(&log, &limits, 300, &change));
	ck_assert(!buffer_log_timer(&log, 300, &summary));
	ck_assert(!buffer_log_timer(&log, 300, &summary));
	ck_assert(!buffer_log_edited(&log, &limits, 310, &change));
	ck_assert(buffer_log_timer(&log, 310, &summary));
	ck_assert_int_eq(summary.edits, 1);
	ck_assert_int_eq(summary.delta, 10);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("buffer_log");

	tcase_add_test(tc, significance);
	tcase_add_test(tc, small_edits_add_up);
	tcase_add_test(tc, limits_can_be_set);
	tcase_add_test(tc, summaries);
	tcase_add_test(tc, what_was_typed_before_a_file_is_closed_is_summed_up);
	tcase_add_test(tc, a_significant_change_is_not_summed_up_again);
	return check_run(tc);
}
