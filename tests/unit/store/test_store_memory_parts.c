/* The pure parts of memories: vectors, words, ranks. */
#include "tests/check_run.h"
#include "workers/store/memory/memory_rank.h"
#include "workers/store/memory/memory_vector.h"
#include "workers/store/memory/memory_words.h"
#include <errno.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdlib.h>

static struct arena arena;

static void setup(void)
{
	arena = (struct arena){0};
}

static void teardown(void)
{
	arena_free(&arena);
}

static struct str base64_of(struct arena *a, const void *bytes, size_t len)
{
	unsigned char *text = arena_alloc(a, len * 4 / 3 + 8);
	int n = EVP_EncodeBlock(text, bytes, (int)len);

	return (struct str){(const char *)text, (size_t)n};
}

/* ---- vectors ---- */

START_TEST(vectors_are_read_and_brought_to_length_1)
{
	const float three[] = {3, 0, 4};
	const float zero[] = {0, 0}, nan[] = {NAN, 1}, inf[] = {INFINITY};
	struct arena *a = &arena;
	struct memory_vector v = {0};
	float *big = arena_array(a, MEMORY_VECTOR_MAX + 1, sizeof(float));

	ck_assert_int_eq(
		memory_vector_read(base64_of(a, three, sizeof(three)), a, &v), 0);
	ck_assert_uint_eq(v.size, 3);
	ck_assert_float_eq_tol(v.values[0], 0.6f, 1e-6);
	ck_assert_float_eq_tol(v.values[2], 0.8f, 1e-6);
	v = (struct memory_vector){0};
	ck_assert_int_eq(
		memory_vector_read(base64_of(a, zero, sizeof(zero)), a, &v), -EINVAL);
	ck_assert_int_eq(
		memory_vector_read(base64_of(a, nan, sizeof(nan)), a, &v), -EINVAL);
	ck_assert_int_eq(
		memory_vector_read(base64_of(a, inf, sizeof(inf)), a, &v), -EINVAL);
	ck_assert_int_eq(memory_vector_read(base64_of(a, three, 7), a, &v), -EINVAL);
	ck_assert_int_eq(memory_vector_read(STR_LIT(""), a, &v), -EINVAL);
	ck_assert_int_eq(memory_vector_read(STR_LIT("AAA"), a, &v), -EINVAL);
	ck_assert_int_eq(memory_vector_read(STR_LIT("!!!!"), a, &v), -EINVAL);
	big[0] = 1;
	ck_assert_int_eq(
		memory_vector_read(
			base64_of(a, big, MEMORY_VECTOR_MAX * sizeof(float)), a, &v),
		0);
	ck_assert_int_eq(
		memory_vector_read(
			base64_of(a, big, (MEMORY_VECTOR_MAX + 1) * sizeof(float)), a,
			&v),
		-EINVAL);
}
END_TEST

START_TEST(cosines_are_those_of_a_plain_sum)
{
	enum { SIZES = 70 };
	float a[SIZES], copy[SIZES];
	char anywhere[SIZES * sizeof(float) + 3];

	for (size_t size = 1; size <= SIZES; size++) {
		struct memory_vector v = {a, size};
		double sum = 0;

		for (size_t i = 0; i < size; i++) {
			a[i] = (float)i * 0.25f - 3;
			copy[i] = 1.0f / (float)(i + 1);
			sum += (double)a[i] * (double)copy[i];
		}
		memcpy(anywhere + size % 4, copy, size * sizeof(float));
		ck_assert_double_eq_tol(
			(double)memory_vector_cosine(&v, anywhere + size % 4), sum, 1e-3);
	}
}
END_TEST

/* ---- words ---- */

START_TEST(words_become_a_query_without_syntax)
{
	static const struct {
		const char *text, *query;
	} cases[] = {
		{"", ""},
		{" ,;- ", ""},
		{"OAuth", "\"OAuth\""},
		{"race condition in auth-flow",
			"\"race\" OR \"condition\" OR \"auth\" OR \"flow\""},
		{"a AND b OR c NOT d NEAR(e)",
			"\"b\" OR \"c\" OR \"d\" OR \"NEAR\" OR \"e\""},
		{"say \"hello\" * ^ : {x}", "\"say\" OR \"hello\" OR \"x\""},
		{"content:foo", "\"content\" OR \"foo\""},
		{"the of and", "\"the\" OR \"of\" OR \"and\""}, /* better than nothing */
		{"same same Same", "\"same\" OR \"Same\""},
		{"na\xc3\xafve e\xcc\x81t\xc3\xa9 \xe6\xbc\xa2\xe5\xad\x97",
			"\"na\xc3\xafve\" OR \"e\xcc\x81t\xc3\xa9\" OR "
			"\"\xe6\xbc\xa2\xe5\xad\x97\""},
		{"bad\xff\xfeutf8", "\"bad\" OR \"utf8\""},
		{"snake_case camelCase 42",
			"\"snake\" OR \"case\" OR \"camelCase\" OR \"42\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf query = {0};

		memory_words(str_of(cases[i].text), &query);
		ck_assert_msg(str_is(buf_str(&query), cases[i].query), "%s: %.*s",
			cases[i].text, STR_ARG(buf_str(&query)));
		buf_free(&query);
	}
}
END_TEST

START_TEST(a_long_text_gives_few_words)
{
	struct buf text = {0}, query = {0};
	size_t words = 1;

	for (int i = 0; i < 5000; i++)
		buf_printf(&text, "w%d ", i);
	for (int i = 0; i < 300; i++)
		buf_add_char(&text, 'x');
	memory_words(buf_str(&text), &query);
	for (size_t i = 0; i + 4 <= query.len; i++)
		words += memcmp(query.data + i, " OR ", 4) == 0;
	ck_assert_uint_eq(words, MEMORY_WORDS_MAX);
	buf_free(&text);
	buf_free(&query);
}
END_TEST

/* ---- ranks ---- */

START_TEST(the_best_of_many_are_kept_in_order)
{
	enum { MANY = 1000, ROOM = 10 };
	struct memory_best best;

	memory_best_init(&best, ROOM, &arena);
	for (int i = 0; i < MANY; i++)
		memory_best_offer(&best, i,
			(double)(i * 7919 % MANY) / 2); /* each twice but for halves */
	memory_best_sort(&best);
	ck_assert_uint_eq(best.count, ROOM);
	for (size_t i = 0; i < ROOM; i++)
		ck_assert_double_eq(best.items[i].score, (double)(MANY - 1 - (int)i) / 2);
	memory_best_init(&best, ROOM, &arena);
	for (int i = 0; i < 3; i++)
		memory_best_offer(&best, i, 1);
	memory_best_sort(&best);
	ck_assert_uint_eq(best.count, 3);
	ck_assert_int_eq(best.items[0].number, 2); /* the newest of equals */
	ck_assert_int_eq(best.items[2].number, 0);
}
END_TEST

START_TEST(rankings_are_fused_by_reciprocal_ranks)
{
	const struct memory_scored near[] = {{1, 0.9}, {2, 0.8}, {3, 0.7}};
	const int64_t words[] = {3, 4, 1};
	struct memory_scored out[8];
	size_t n = memory_fuse(near, 3, words, 3, out, 8, &arena);

	ck_assert_uint_eq(n, 4);
	/* 1: 1/61 + 1/63 = 3: 1/63 + 1/61; the nearer first. 2: 1/62 = 4: 1/62; the same.
	 */
	ck_assert_int_eq(out[0].number, 1);
	ck_assert_int_eq(out[1].number, 3);
	ck_assert_int_eq(out[2].number, 2);
	ck_assert_int_eq(out[3].number, 4);
	ck_assert_double_eq_tol(out[0].score, 1.0 / 61 + 1.0 / 63, 1e-12);
	ck_assert_uint_eq(memory_fuse(near, 3, words, 3, out, 2, &arena), 2);
	ck_assert_uint_eq(memory_fuse(near, 0, words, 3, out, 8, &arena), 3);
	ck_assert_int_eq(out[0].number, 3);
	ck_assert_uint_eq(memory_fuse(near, 0, words, 0, out, 8, &arena), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("memory parts");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, vectors_are_read_and_brought_to_length_1);
	tcase_add_test(tc, cosines_are_those_of_a_plain_sum);
	tcase_add_test(tc, words_become_a_query_without_syntax);
	tcase_add_test(tc, a_long_text_gives_few_words);
	tcase_add_test(tc, the_best_of_many_are_kept_in_order);
	tcase_add_test(tc, rankings_are_fused_by_reciprocal_ranks);
	return check_run(tc);
}
