/*
 * Memories are found by meaning and by words. The figures need the sentence model
 * (EMBEDDING_MODEL_DIR, or where scripts/setup puts it); without it the feature hash
 * alone is judged.
 */
#include "common/base/buf.h"
#include "common/base/log.h"
#include "tests/check_run.h"
#include "workers/llm/memory/embedder.h"
#include "workers/llm/memory/feature_hash.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <yyjson.h>

static char model_dir[4096];

static float cosine(struct embedder *e, const char *a, const char *b)
{
	float x[EMBEDDING_MAX], y[EMBEDDING_MAX], sum = 0;

	embed(e, str_of(a), x);
	embed(e, str_of(b), y);
	for (int i = 0; i < embedder_size(e); i++)
		sum += x[i] * y[i];
	return sum;
}

START_TEST(every_text_has_a_vector_of_length_one)
{
	static const char *const texts[] = {"", " ", "a", "?!", "OAuth",
		"\xC5\xBElu\xC5\xA5ou\xC4\x8Dk\xC3\xBD", "\xF0\x9F\xA6\x84",
		"\xFF\xFE not UTF-8"};
	struct embedder *e = embedder_open(model_dir);

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(fabsf(cosine(e, texts[i], texts[i]) - 1) < 1e-4f, "\"%s\"",
			texts[i]);
	embedder_close(e);
}
END_TEST

START_TEST(composed_and_decomposed_text_is_the_same)
{
	struct embedder *e = embedder_open(model_dir);

	ck_assert_float_gt(cosine(e, "caf\xC3\xA9", "cafe\xCC\x81"), 0.9999f);
	embedder_close(e);
}
END_TEST

START_TEST(a_long_text_is_cut_and_not_overrun)
{
	struct embedder *e = embedder_open(model_dir);
	struct buf b = {0};
	float out[EMBEDDING_MAX];

	for (int i = 0; i < 20000; i++)
		buf_add(&b, "word \xE2\x82\xAC ", 9);
	embed(e, buf_str(&b), out);
	ck_assert(isfinite(out[0]));
	buf_free(&b);
	embedder_close(e);
}
END_TEST

/* A question about a race in logins is nearer to one in OAuth than to CSS. */
START_TEST(the_related_memory_is_nearer)
{
	struct embedder *with = embedder_open(model_dir), *without = embedder_open(NULL);
	static const char query[] = "race condition in auth flow";

	for (int i = 0; i < 2; i++) {
		struct embedder *e = i ? without : with;

		ck_assert_float_gt(cosine(e, query, "OAuth callback race condition"),
			cosine(e, query, "CSS grid layout"));
	}
	embedder_close(with);
	embedder_close(without);
}
END_TEST

/* Rank of the right document for a query, 1 for the first. */
static int rank_of(
	const float *query, const float *docs, size_t count, int size, size_t right)
{
	int rank = 1;
	float best = 0;

	for (size_t i = 0; i < count; i++) {
		float sum = 0;

		for (int j = 0; j < size; j++)
			sum += query[j] * docs[i * (size_t)size + (size_t)j];
		if (i == right)
			best = sum;
	}
	for (size_t i = 0; i < count; i++) {
		float sum = 0;

		for (int j = 0; j < size; j++)
			sum += query[j] * docs[i * (size_t)size + (size_t)j];
		rank += i != right && sum > best;
	}
	return rank;
}

static size_t index_of(yyjson_val *docs, const char *id)
{
	size_t i, max;
	yyjson_val *one;

	yyjson_arr_foreach(docs, i, max,
		one) if (strcmp(yyjson_get_str(yyjson_arr_get(one, 0)), id) ==
			 0) return i;
	ck_abort_msg("no document %s", id);
	return 0;
}

static void judge(struct embedder *e, double *recall, double *mrr)
{
	yyjson_doc *doc = yyjson_read_file(TEST_DATA "/retrieval.json", 0, NULL, NULL);
	yyjson_val *docs = yyjson_obj_get(yyjson_doc_get_root(doc), "docs"), *one;
	yyjson_val *queries = yyjson_obj_get(yyjson_doc_get_root(doc), "queries");
	size_t n = yyjson_arr_size(docs), i, max;
	float *vectors = calloc(n, sizeof(float) * EMBEDDING_MAX), query[EMBEDDING_MAX];
	int size = embedder_size(e), first = 0;
	double sum = 0;

	ck_assert_uint_gt(n, 20);
	yyjson_arr_foreach(docs, i, max, one)
		embed(e, str_of(yyjson_get_str(yyjson_arr_get(one, 1))),
			vectors + i * (size_t)size);
	yyjson_arr_foreach(queries, i, max, one)
	{
		yyjson_val *rights = yyjson_arr_get(one, 1), *right;
		size_t j, count;
		int rank = INT_MAX;

		embed(e, str_of(yyjson_get_str(yyjson_arr_get(one, 0))), query);
		yyjson_arr_foreach(rights, j, count, right)
		{
			size_t at = index_of(docs, yyjson_get_str(right));
			int found = rank_of(query, vectors, n, size, at);

			rank = found < rank ? found : rank;
		}
		first += rank == 1;
		sum += 1.0 / rank;
	}
	*recall = (double)first / (double)yyjson_arr_size(queries);
	*mrr = sum / (double)yyjson_arr_size(queries);
	printf("%s: recall@1 %.2f, MRR %.2f\n", embedder_name(e), *recall, *mrr);
	free(vectors);
	yyjson_doc_free(doc);
}

START_TEST(memories_are_found)
{
	struct embedder *e = embedder_open(model_dir);
	double recall, mrr;

	judge(e, &recall, &mrr);
	if (embedder_size(e) == EMBEDDING_MAX) {
		ck_assert_double_ge(recall, 0.50);
		ck_assert_double_ge(mrr, 0.60);
	}
	embedder_close(e);
	e = embedder_open(NULL);
	judge(e, &recall, &mrr);
	ck_assert_double_ge(recall, 0.34);
	ck_assert_double_ge(mrr, 0.42);
	embedder_close(e);
}
END_TEST

int main(void)
{
	const char *dir = getenv("EMBEDDING_MODEL_DIR"), *home = getenv("HOME");
	TCase *tcase = tcase_create("embedder");

	if (dir)
		snprintf(model_dir, sizeof(model_dir), "%s", dir);
	else
		snprintf(model_dir, sizeof(model_dir), "%s/.cache/paige/use-lite",
			home ? home : "");
	log_init("test", LOG_LEVEL_ERROR);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, every_text_has_a_vector_of_length_one);
	tcase_add_test(tcase, composed_and_decomposed_text_is_the_same);
	tcase_add_test(tcase, a_long_text_is_cut_and_not_overrun);
	tcase_add_test(tcase, the_related_memory_is_nearer);
	tcase_add_test(tcase, memories_are_found);
	return check_run(tcase);
}
