/* Which rows of the action log the Observer counts, by event and by answer (catch_up.h). */
#include "tests/check_run.h"
#include "workers/observer/catch_up.h"
#include <stdio.h>

#define BORN 1700000000000 /* ms */

/* One thing that happens, and what must come of it. */
struct happening {
	enum { BEGIN, IDLE, GAP, EVENT, ASK, ROW, ANSWERED, UNANSWERED } what;
	int64_t number; /* of the row, or the highest of the answer */
	int64_t at_ms;	/* since BORN */
	int result;	/* a verdict, or whether to ask */
};

static int happen(struct catch_up *c, const struct happening *h)
{
	switch (h->what) {
	case BEGIN:
		catch_up_begin(c);
		break;
	case IDLE:
		catch_up_idle(c, BORN + h->at_ms);
		break;
	case GAP:
		catch_up_missed(c);
		break;
	case EVENT:
		return catch_up_event(c, h->number);
	case ASK:
		return catch_up_ask(c);
	case ROW:
		return catch_up_row(c, h->number, BORN + h->at_ms);
	case ANSWERED:
		catch_up_answered(c, h->number);
		break;
	case UNANSWERED:
		catch_up_unanswered(c);
		break;
	}
	return h->result;
}

static void play(struct catch_up *c, const struct happening *story, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int got = happen(c, &story[i]);

		ck_assert_msg(got == story[i].result, "step %zu gave %d, not %d", i, got,
			story[i].result);
	}
}

#define PLAY(c, ...)                                                                     \
	play(c, (const struct happening[]){__VA_ARGS__},                                 \
		sizeof((const struct happening[]){__VA_ARGS__}) /                        \
			sizeof(struct happening))

#define YES 1
#define NO 0

/* Watches a session whose rows up to number 10 were there when the process started. */
static struct catch_up watching(void)
{
	struct catch_up c;

	catch_up_init(&c, BORN);
	PLAY(&c, {.what = BEGIN}, {ASK, .result = YES}, {ROW, 9, -5000, CATCH_UP_PAST},
		{ROW, 10, -1, CATCH_UP_PAST}, {ANSWERED, .number = 10},
		{ASK, .result = NO});
	return c;
}

START_TEST(events_count_once)
{
	struct catch_up c = watching();

	PLAY(&c, {EVENT, 10, 0, CATCH_UP_COUNTED}, {EVENT, 11, 0, CATCH_UP_COUNTS},
		{EVENT, 11, 0, CATCH_UP_COUNTED},
		/* Numbers between are those of rows that the Observer does not hear of. */
		{EVENT, 15, 0, CATCH_UP_COUNTS}, {EVENT, 12, 0, CATCH_UP_COUNTED},
		{ASK, .result = NO});
}
END_TEST

START_TEST(after_a_gap_rows_are_asked_for_and_count_once)
{
	struct catch_up c = watching();

	PLAY(&c, {EVENT, 11, 0, CATCH_UP_COUNTS}, {.what = GAP},
		{EVENT, 14, 0, CATCH_UP_LATER}, {ASK, .result = YES},
		{ASK, .result = NO}, /* one question at a time */
		{ROW, 11, 1, CATCH_UP_COUNTED}, {ROW, 12, 2, CATCH_UP_COUNTS},
		/* Late rows are of an earlier time. */
		{ROW, 14, -9000, CATCH_UP_COUNTS}, {ANSWERED, .number = 14},
		{ASK, .result = NO}, {EVENT, 14, 0, CATCH_UP_COUNTED},
		{EVENT, 15, 0, CATCH_UP_COUNTS});
}
END_TEST

START_TEST(what_is_heard_while_asking_is_left_to_an_answer)
{
	struct catch_up c = watching();

	/* The answer has it already. */
	PLAY(&c, {.what = GAP}, {ASK, .result = YES}, {EVENT, 12, 0, CATCH_UP_LATER},
		{ROW, 12, 1, CATCH_UP_COUNTS}, {ROW, 13, 1, CATCH_UP_COUNTS},
		{ANSWERED, .number = 13}, {ASK, .result = NO},
		{EVENT, 13, 0, CATCH_UP_COUNTED}, {EVENT, 14, 0, CATCH_UP_COUNTS});
	/* The answer is from before: the next one has it. */
	PLAY(&c, {.what = GAP}, {ASK, .result = YES}, {EVENT, 15, 0, CATCH_UP_LATER},
		{ROW, 14, 1, CATCH_UP_COUNTED}, {ANSWERED, .number = 14},
		{EVENT, 16, 0, CATCH_UP_LATER}, {ASK, .result = YES},
		{ROW, 15, 1, CATCH_UP_COUNTS}, {ROW, 16, 1, CATCH_UP_COUNTS},
		{ANSWERED, .number = 16}, {ASK, .result = NO});
}
END_TEST

START_TEST(an_answer_covers_what_was_heard_before_even_without_it)
{
	struct catch_up c = watching();

	/* Row 12 is of another session, or too old to be among the newest. */
	PLAY(&c, {.what = GAP}, {EVENT, 12, 0, CATCH_UP_LATER}, {ASK, .result = YES},
		{ROW, 10, 0, CATCH_UP_COUNTED}, {ANSWERED, .number = 10},
		{ASK, .result = NO}, {EVENT, 12, 0, CATCH_UP_COUNTED},
		{EVENT, 13, 0, CATCH_UP_COUNTS});
	PLAY(&c, {.what = GAP}, {ASK, .result = YES}, {ANSWERED, .number = 0},
		{ASK, .result = NO}, {EVENT, 14, 0, CATCH_UP_COUNTS});
}
END_TEST

START_TEST(a_gap_while_asking_is_asked_about_again)
{
	struct catch_up c = watching();

	PLAY(&c, {.what = GAP}, {ASK, .result = YES}, {.what = GAP},
		{ROW, 11, 1, CATCH_UP_COUNTS}, {ANSWERED, .number = 11},
		{ASK, .result = YES}, {ROW, 11, 1, CATCH_UP_COUNTED},
		{ROW, 12, 1, CATCH_UP_COUNTS}, {ANSWERED, .number = 12},
		{ASK, .result = NO});
}
END_TEST

START_TEST(without_an_answer_nothing_is_lost)
{
	struct catch_up c = watching();

	PLAY(&c, {.what = GAP}, {ASK, .result = YES}, {.what = UNANSWERED},
		{EVENT, 13, 0, CATCH_UP_LATER}, {ASK, .result = YES},
		{ROW, 12, 1, CATCH_UP_COUNTS}, {ROW, 13, 1, CATCH_UP_COUNTS},
		{ANSWERED, .number = 13}, {ASK, .result = NO});
}
END_TEST

START_TEST(at_the_start_what_an_earlier_process_may_have_counted_is_past)
{
	struct catch_up c;

	catch_up_init(&c, BORN);
	PLAY(&c, {.what = GAP}, {.what = BEGIN}, {ASK, .result = YES},
		{ROW, 7, -1, CATCH_UP_PAST}, {ROW, 8, 0, CATCH_UP_COUNTS},
		{ANSWERED, .number = 8}, {ASK, .result = NO},
		{EVENT, 8, 0, CATCH_UP_COUNTED});
	/* Whatever is written behind the first event that was heard nobody has counted. */
	catch_up_init(&c, BORN);
	PLAY(&c, {.what = BEGIN}, {ASK, .result = YES}, {EVENT, 8, 0, CATCH_UP_LATER},
		{ROW, 7, -2, CATCH_UP_PAST}, {ROW, 8, -2, CATCH_UP_COUNTS},
		{ROW, 9, -1, CATCH_UP_COUNTS}, {ANSWERED, .number = 9},
		{ASK, .result = NO});
}
END_TEST

START_TEST(a_session_that_goes_on_begins_with_its_past)
{
	struct catch_up c = watching();

	/* Another one began and ended, and this one is resumed. */
	PLAY(&c, {IDLE, .at_ms = 1000}, {EVENT, 12, 0, CATCH_UP_COUNTS}, {.what = BEGIN},
		{ASK, .result = YES}, {EVENT, 13, 0, CATCH_UP_LATER},
		{ROW, 10, -1, CATCH_UP_PAST}, {ROW, 13, 2000, CATCH_UP_COUNTS},
		{ANSWERED, .number = 13}, {ASK, .result = NO},
		{EVENT, 14, 0, CATCH_UP_COUNTS});
}
END_TEST

START_TEST(what_was_missed_of_a_session_that_ended_is_past_when_it_is_resumed)
{
	struct catch_up c = watching();

	PLAY(&c, {.what = GAP}, {ASK, .result = YES}, {IDLE, .at_ms = 5000},
		{.what = UNANSWERED}, {ASK, .result = NO}, {.what = BEGIN},
		{ASK, .result = YES}, {ROW, 11, 4000, CATCH_UP_PAST},
		{ROW, 12, 6000, CATCH_UP_COUNTS}, {ANSWERED, .number = 12},
		{ASK, .result = NO});
}
END_TEST

START_TEST(a_session_that_began_in_a_gap_counts_from_its_beginning)
{
	struct catch_up c = watching();

	PLAY(&c, {.what = GAP}, {ASK, .result = YES}, {.what = BEGIN},
		{ROW, 12, 10, CATCH_UP_COUNTS}, {ROW, 13, 11, CATCH_UP_COUNTS},
		{ANSWERED, .number = 13}, {ASK, .result = NO});
	/* A gap that nobody has asked about outlives the end of a session. */
	PLAY(&c, {.what = GAP}, {IDLE, .at_ms = 20}, {ASK, .result = YES});
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("catch_up");

	tcase_add_test(tcase, events_count_once);
	tcase_add_test(tcase, after_a_gap_rows_are_asked_for_and_count_once);
	tcase_add_test(tcase, what_is_heard_while_asking_is_left_to_an_answer);
	tcase_add_test(tcase, an_answer_covers_what_was_heard_before_even_without_it);
	tcase_add_test(tcase, a_gap_while_asking_is_asked_about_again);
	tcase_add_test(tcase, without_an_answer_nothing_is_lost);
	tcase_add_test(
		tcase, at_the_start_what_an_earlier_process_may_have_counted_is_past);
	tcase_add_test(tcase, a_session_that_goes_on_begins_with_its_past);
	tcase_add_test(tcase,
		what_was_missed_of_a_session_that_ended_is_past_when_it_is_resumed);
	tcase_add_test(tcase, a_session_that_began_in_a_gap_counts_from_its_beginning);
	return check_run(tcase);
}
