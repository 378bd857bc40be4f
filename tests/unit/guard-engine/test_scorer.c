/* Tests of workers/guard-engine/session/scorer.h. */
#include "tests/check_run.h"
#include "workers/guard-engine/session/scorer.h"
#include <math.h>
#include <stdlib.h>

#define SAMPLES 50

/* A repeatable source of numbers from 0 to 1. */
static uint64_t seed;

static double any(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 33) / 2147483648.0;
}

static void add(struct scorer_trait *t, double r, double w)
{
	ck_assert_int_eq(scorer_add(t, r, w, NULL), 0);
}

struct sample {
	double r, w;
};

START_TEST(test_order_does_not_matter)
{
	struct sample samples[SAMPLES];
	struct scorer_trait first;

	seed = 42;
	for (int i = 0; i < SAMPLES; i++)
		samples[i] = (struct sample){any(), i % 7 ? any() : 0};
	scorer_init(&first);
	for (int i = 0; i < SAMPLES; i++)
		add(&first, samples[i].r, samples[i].w);
	for (int round = 0; round < 1000; round++) {
		struct scorer_trait t;

		for (int i = SAMPLES - 1; i > 0; i--) {
			int j = (int)(any() * (i + 1));
			struct sample other = samples[i];

			samples[i] = samples[j];
			samples[j] = other;
		}
		scorer_init(&t);
		for (int i = 0; i < SAMPLES; i++)
			add(&t, samples[i].r, samples[i].w);
		ck_assert_double_le(fabs(t.s - first.s), 1e-12);
		ck_assert_double_le(fabs(t.w - first.w), 1e-12);
		ck_assert_int_eq(t.n, first.n);
	}
}
END_TEST

START_TEST(test_merge_is_one_batch)
{
	struct scorer_trait none, a, b, all, merged;

	seed = 7;
	for (int cut = 0; cut <= SAMPLES; cut++) {
		scorer_init(&a);
		scorer_init(&b);
		scorer_init(&all);
		for (int i = 0; i < SAMPLES; i++) {
			double r = any(), w = any();

			add(i < cut ? &a : &b, r, w);
			add(&all, r, w);
		}
		merged = scorer_merge(a, b);
		ck_assert_double_le(fabs(merged.s - all.s), 1e-12);
		ck_assert_double_le(fabs(merged.w - all.w), 1e-12);
		ck_assert_int_eq(merged.n, all.n);
		merged = scorer_merge(b, a);
		ck_assert_double_le(fabs(merged.s - all.s), 1e-12);
	}
	scorer_init(&none);
	merged = scorer_merge(none, none);
	ck_assert_double_eq(merged.s, SCORER_INITIAL_SCORE);
	ck_assert_double_eq(merged.w, 0);
}
END_TEST

struct weight_case {
	double d, q, ind, rec, w;
};

static const struct weight_case weights[] = {
	{1, 1, 1, 1, 1},
	{1, 0.5, 1, 1, 0.5},
	{0.5, 0.5, 1, 0, 0.125},
	{1, 1, 0, 0, 0},
	{0, 1, 1, 1, 0},
	{2, 3, 4, 5, 1},
	{-1, 1, 1, 1, 0},
	{1, INFINITY, 1, 1, 1},
};

START_TEST(test_weight)
{
	const struct weight_case *c = &weights[_i];
	double w = -1;

	ck_assert_int_eq(scorer_weight(c->d, c->q, c->ind, c->rec, &w), 0);
	ck_assert_double_eq(w, c->w);
}
END_TEST

START_TEST(test_what_is_no_number_changes_nothing)
{
	struct scorer_trait t, before;
	struct scorer_change change = {.r = 9};
	double w = 9;

	scorer_init(&t);
	add(&t, 0.8, 0.5);
	before = t;
	ck_assert_int_lt(scorer_add(&t, NAN, 0.5, &change), 0);
	ck_assert_int_lt(scorer_add(&t, 0.5, NAN, &change), 0);
	ck_assert(t.s == before.s && t.w == before.w && t.n == before.n);
	ck_assert_double_eq(change.r, 9);
	ck_assert_int_lt(scorer_weight(1, NAN, 1, 1, &w), 0);
	ck_assert_int_lt(scorer_weight(NAN, 1, 1, 1, &w), 0);
	ck_assert_int_lt(scorer_weight(1, 1, NAN, 1, &w), 0);
	ck_assert_int_lt(scorer_weight(1, 1, 1, NAN, &w), 0);
	ck_assert_double_eq(w, 9);
}
END_TEST

START_TEST(test_change)
{
	struct scorer_trait t;
	struct scorer_change c;

	scorer_init(&t);
	ck_assert_int_eq(scorer_add(&t, 1.5, 0.5, &c), 0);
	ck_assert(c.r == 1 && c.w == 0.5);
	ck_assert(c.before.s == 0.5 && c.before.w == 0 && c.before.n == 0);
	ck_assert(c.after.s == 1 && c.after.w == 0.5 && c.after.n == 1);
	ck_assert_int_eq(scorer_add(&t, 0.5, 0.25, &c), 0);
	/* (0.5 * 1 + 0.25 * 0.5) / 0.75 */
	ck_assert_double_le(fabs(c.after.s - 0.625 / 0.75), 1e-15);
	/* No weight, no sample. */
	ck_assert_int_eq(scorer_add(&t, 0, 0, &c), 0);
	ck_assert(c.after.s == c.before.s && c.after.w == c.before.w &&
		  c.after.n == c.before.n);
	ck_assert_int_eq(scorer_add(&t, 0, -3, &c), 0);
	ck_assert_int_eq(c.after.n, 2);
}
END_TEST

START_TEST(test_confidence)
{
	struct scorer_trait t;
	double last = -1;

	scorer_init(&t);
	ck_assert_double_eq(scorer_confidence(&t, 2), 0);
	for (int i = 0; i < 100; i++) {
		double before = scorer_confidence(&t, 2);

		ck_assert_double_gt(before, last);
		add(&t, 0.3, 0);
		ck_assert_double_eq(scorer_confidence(&t, 2), before);
		add(&t, 0.3, 0.1);
		last = before;
	}
	ck_assert_double_lt(last, 1);
}
END_TEST

START_TEST(test_gate)
{
	struct scorer_trait traits[3];

	for (int i = 0; i < 3; i++)
		scorer_init(&traits[i]);
	ck_assert(!scorer_gate(traits, 3, 1, 0, 0)); /* nothing was ever seen */
	for (int i = 0; i < 3; i++)
		add(&traits[i], 1, 1);
	ck_assert(!scorer_gate(traits, 3, 1, 0.5, 2)); /* one sample */
	ck_assert(scorer_gate(traits, 3, 1, 0.5, 1));  /* tau is reached exactly */
	for (int i = 0; i < 3; i++)
		add(&traits[i], 1, 1);
	ck_assert(scorer_gate(traits, 3, 1, 0.5, 2));
	/* The constants of G10: five perfect answers. */
	for (int n = 3; n <= 5; n++) {
		for (int i = 0; i < 3; i++)
			add(&traits[i], 1, 1);
		ck_assert(scorer_gate(traits, 3, 2, 0.7, 2) == (n == 5));
	}
	scorer_init(&traits[2]);
	ck_assert(!scorer_gate(traits, 3, 2, 0.7, 2));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	tcase_add_test(tcase, test_order_does_not_matter);
	tcase_add_test(tcase, test_merge_is_one_batch);
	check_add_table(tcase, test_weight, weights);
	tcase_add_test(tcase, test_what_is_no_number_changes_nothing);
	tcase_add_test(tcase, test_change);
	tcase_add_test(tcase, test_confidence);
	tcase_add_test(tcase, test_gate);
	return check_run(tcase);
}
