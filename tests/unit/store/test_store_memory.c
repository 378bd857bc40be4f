/* Memories kept and found in memory.db (story 8), and how well. */
#include "tests/unit/store/memory_fixture.h"
#include <stdio.h>

static char model_dir[4096];

START_TEST(p8_2_ids_continue_within_their_session)
{
	ck_assert_int_eq(add("one", "s-1"), 1);
	ck_assert_int_eq(add("two", "s-1"), 1);
	ck_assert_int_eq(add("other", "s_1"), 1);
	ck_assert_int_eq(add_with(NULL, "mem_s-1_41", "given", "s-1", "/p"), 1);
	ck_assert_int_eq(add_with(NULL, "mem_s-1_x9", "odd", "s-1", "/p"), 1);
	ck_assert_int_eq(add("next", "s-1"), 1);
	ck_assert_str_eq(memory_rows("SELECT id FROM memories ORDER BY number"),
		"mem_s-1_0\nmem_s-1_1\nmem_s_1_0\nmem_s-1_41\nmem_s-1_x9\nmem_s-1_42");
	/* An id that is taken is kept as it is. */
	ck_assert_int_eq(add_with(NULL, "mem_s-1_41", "again", "s-1", "/p"), 0);
	ck_assert_str_eq(
		memory_rows("SELECT content FROM memories WHERE id = 'mem_s-1_41'"),
		"given");
}
END_TEST

START_TEST(several_in_one_call_are_numbered_in_order)
{
	struct buf body = {0};

	buf_printf(&body, "{\"embedder\":\"%s\",\"memories\":[", embedder_name(embedder));
	for (int i = 0; i < 60; i++) {
		char content[32];

		snprintf(content, sizeof(content), "memory %d", i);
		if (i)
			buf_add_char(&body, ',');
		add_record(&body, "", content, "s", "/p", "");
	}
	buf_add_str(&body, STR_LIT("]}"));
	answered(must_call(METHOD_MEMORY_ADD, NULL,
			 arena_cstr(&fixture_arena, buf_str(&body))),
		"{\"count\":60}");
	ck_assert_str_eq(
		memory_rows("SELECT count(*) FROM memories WHERE id = 'mem_s_' || "
			    "replace(content, 'memory ', '')"),
		"60");
	answered(must_call(METHOD_MEMORY_COUNT, NULL, "{}"), "{\"count\":60}");
	buf_free(&body);
}
END_TEST

/* How often the highest index of a session was looked for since the last question. */
static int looked_for_index(void)
{
	return sqlite3_stmt_status(fixture_memory.db.statements[MEMORY_NEXT_INDEX],
		SQLITE_STMTSTATUS_RUN, 1);
}

START_TEST(the_highest_index_is_looked_for_once_a_call)
{
	static const struct {
		const char *id, *session;
	} all[] = {
		{"", "a"}, {"", "a"}, {"mem_a_7", "a"}, {"", "a"}, {"", "b"}, {"", "a"}};
	struct buf body = {0};

	add("first", "a");
	looked_for_index();
	buf_printf(&body, "{\"embedder\":\"%s\",\"memories\":[", embedder_name(embedder));
	for (int i = 0; i < 50; i++) {
		if (i)
			buf_add_char(&body, ',');
		add_record(&body, "", "one of many", "many", "/p", "");
	}
	buf_add_str(&body, STR_LIT("]}"));
	must_call(METHOD_MEMORY_ADD, NULL, arena_cstr(&fixture_arena, buf_str(&body)));
	ck_assert_int_eq(looked_for_index(), 1);
	buf_clear(&body);
	buf_printf(&body, "{\"embedder\":\"%s\",\"memories\":[", embedder_name(embedder));
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (i)
			buf_add_char(&body, ',');
		add_record(&body, all[i].id, "mixed", all[i].session, "/p", "");
	}
	buf_add_str(&body, STR_LIT("]}"));
	must_call(METHOD_MEMORY_ADD, NULL, arena_cstr(&fixture_arena, buf_str(&body)));
	ck_assert_str_eq(memory_rows("SELECT id FROM memories WHERE content = 'mixed' "
				     "ORDER BY number"),
		"mem_a_1\nmem_a_2\nmem_a_7\nmem_a_8\nmem_b_0\nmem_a_9");
	buf_free(&body);
}
END_TEST

START_TEST(a_repeated_call_keeps_nothing_twice)
{
	const char *key = new_key();

	ck_assert_int_eq(add_with(key, "", "once", "s", "/p"), 1);
	ck_assert_int_eq(
		add_with(key, "", "once", "s", "/p"), 1); /* by the keys in memory */
	fixture_restart();
	ck_assert_int_eq(add_with(key, "", "once", "s", "/p"), 1); /* by the rows */
	ck_assert_str_eq(memory_rows("SELECT count(*) FROM memories"), "1");
	ck_assert_str_eq(memory_rows("SELECT count(*) FROM vectors"), "1");
	ck_assert_str_eq(memory_rows("SELECT count(*) FROM words"), "1");
}
END_TEST

START_TEST(nothing_to_keep_is_no_rows)
{
	answered(must_call(METHOD_MEMORY_ADD, NULL,
			 "{\"embedder\":\"hash-1\",\"memories\":[]}"),
		"{\"count\":0}");
	answered(must_call(METHOD_MEMORY_COUNT, NULL, "{}"), "{\"count\":0}");
	ck_assert_str_eq(find("anything", 10, NULL), "");
}
END_TEST

START_TEST(a_bad_vector_is_refused_and_nothing_kept)
{
	static const char bad[] = "{\"embedder\":\"e\",\"memories\":[{\"id\":\"\","
				  "\"content\":\"x\",\"embedding\":\"AAAA\","
				  "\"sessionId\":\"s\",\"project\":\"p\",\"createdAt\":"
				  "\"2026-01-01T00:00:00.000Z\","
				  "\"importance\":\"low\",\"tags\":\"\"}]}";

	refused_call(METHOD_MEMORY_ADD, bad, ERROR_INVALID_MESSAGE);
	ck_assert_ptr_nonnull(
		strstr(run_call(METHOD_MEMORY_ADD, NULL, bad)->outcome.message.ptr,
			"memories[0].embedding"));
	refused_call(METHOD_MEMORY_SEARCH,
		"{\"embedder\":\"e\",\"embedding\":\"\",\"text\":\"x\",\"count\":1}",
		ERROR_INVALID_MESSAGE);
	ck_assert_str_eq(memory_rows("SELECT count(*) FROM memories"), "0");
}
END_TEST

START_TEST(a_hit_has_its_metadata_and_its_distance)
{
	yyjson_doc *doc;
	yyjson_val *hit;
	char *metadata;

	add("OAuth callback", "s");
	doc = search("OAuth callback", 10, NULL);
	hit = yyjson_arr_get(hits_of(doc), 0);
	metadata = yyjson_val_write(yyjson_obj_get(hit, "metadata"), 0, NULL);
	ck_assert_str_eq(yyjson_get_str(yyjson_obj_get(hit, "id")), "mem_s_0");
	ck_assert_str_eq(metadata, "{\"session_id\":\"s\",\"project\":\"/"
				   "p\",\"created_at\":\"2026-01-02T03:04:05.678Z\","
				   "\"importance\":\"high\",\"tags\":\"a,b\"}");
	ck_assert_double_eq_tol(yyjson_get_num(yyjson_obj_get(hit, "distance")), 0, 1e-5);
	free(metadata);
	yyjson_doc_free(doc);
}
END_TEST

START_TEST(sc_047_the_related_memory_comes_first)
{
	add("CSS grid layout", "s");
	add("OAuth callback race condition", "s");
	ck_assert_str_eq(find("race condition in auth flow", 10, NULL),
		"OAuth callback race condition|CSS grid layout");
	ck_assert_str_eq(find("grid layout in CSS", 10, NULL),
		"CSS grid layout|OAuth callback race condition");
	ck_assert_str_eq(find("grid layout in CSS", 1, NULL), "CSS grid layout");
}
END_TEST

START_TEST(sc_047_the_exact_memory_is_first_of_many)
{
	const char *found;

	for (int i = 0; i < 12; i++) {
		char content[40];

		snprintf(content, sizeof(content), "race condition number %d", i);
		add(content, "s");
	}
	add("race condition in auth flow, exactly", "s");
	found = find("race condition in auth flow", 10, NULL);
	ck_assert_msg(strncmp(found, "race condition in auth flow, exactly|", 37) == 0,
		"%s", found);
}
END_TEST

START_TEST(sc_048_sc_049_projects_are_told_apart_only_when_asked)
{
	add_with(NULL, "", "useEffect cleanup in alpha", "s", "/alpha");
	add_with(NULL, "", "useEffect cleanup in beta", "s", "/beta");
	ck_assert_str_eq(find("useEffect cleanup in alpha", 10, NULL),
		"useEffect cleanup in alpha|useEffect cleanup in beta");
	ck_assert_str_eq(find("useEffect cleanup in alpha", 10, "/beta"),
		"useEffect cleanup in beta");
	ck_assert_str_eq(find("useEffect cleanup in alpha", 10, "/gamma"), "");
}
END_TEST

START_TEST(ec_49_an_empty_query_finds_what_there_is)
{
	add("one", "s");
	add("two", "s");
	ck_assert_msg(strlen(find("", 10, NULL)) == 7, "%s", find("", 10, NULL));
}
END_TEST

START_TEST(memories_of_another_embedder_are_found_by_words_alone)
{
	const float other[] = {0.5f, 0.25f};
	yyjson_doc *doc;

	must_call(METHOD_MEMORY_ADD, NULL,
		arena_printf(&fixture_arena,
			"{\"embedder\":\"other-1\",\"memories\":[{\"id\":\"\","
			"\"content\":\"deadlock between services\","
			"\"embedding\":\"%.*s\",\"sessionId\":\"s\",\"project\":\"p\","
			"\"createdAt\":"
			"\"2026-01-01T00:00:00.000Z\",\"importance\":\"low\",\"tags\":"
			"\"\"}]}",
			STR_ARG(base64_of(other, sizeof(other))))
			.ptr);
	ck_assert_str_eq(find("nothing of it", 10, NULL), "");
	ck_assert_str_eq(find("a deadlock", 10, NULL), "deadlock between services");
	doc = search("deadlock", 1, NULL);
	ck_assert_double_eq(yyjson_get_num(yyjson_obj_get(
				    yyjson_arr_get(hits_of(doc), 0), "distance")),
		1);
	yyjson_doc_free(doc);
}
END_TEST

START_TEST(words_are_found_in_other_forms_and_in_tags)
{
	struct buf body = {0};

	buf_printf(&body, "{\"embedder\":\"other-2\",\"memories\":[");
	add_record(
		&body, "", "Listeners were never removed", "s", "/p", "websocket,leak");
	buf_printf(&body, "]}");
	must_call(METHOD_MEMORY_ADD, NULL, body.data);
	ck_assert_str_eq(
		find("removing a listener", 10, NULL), "Listeners were never removed");
	ck_assert_str_eq(find("websockets", 10, NULL), "Listeners were never removed");
	ck_assert_str_eq(find("\" OR 1=1 --", 10, NULL), "");
	buf_free(&body);
}
END_TEST

/* ---- how well memories are found ---- */

/* The place of the first right one among what is found, from 1. */
static size_t place_of(yyjson_val *query)
{
	yyjson_doc *found = search(yyjson_get_str(yyjson_arr_get(query, 0)), 30, NULL);
	yyjson_val *rights = yyjson_arr_get(query, 1), *hit, *right;
	size_t at, hits, i, max, place = SIZE_MAX;

	yyjson_arr_foreach(hits_of(found), at, hits, hit)
	{
		const char *id = yyjson_get_str(yyjson_obj_get(hit, "id"));

		yyjson_arr_foreach(rights, i, max, right)
		{
			if (place == SIZE_MAX && strcmp(id, yyjson_get_str(right)) == 0)
				place = at + 1;
		}
	}
	yyjson_doc_free(found);
	return place;
}

static void judge(double *recall, double *mrr)
{
	yyjson_doc *doc = yyjson_read_file(TEST_DATA "/retrieval.json", 0, NULL, NULL);
	yyjson_val *docs = yyjson_obj_get(yyjson_doc_get_root(doc), "docs"), *one;
	yyjson_val *queries = yyjson_obj_get(yyjson_doc_get_root(doc), "queries");
	double first = 0, sum = 0;
	size_t i, max;

	ck_assert_uint_gt(yyjson_arr_size(docs), 20);
	yyjson_arr_foreach(docs, i, max, one)
	{
		add_with(NULL, yyjson_get_str(yyjson_arr_get(one, 0)),
			yyjson_get_str(yyjson_arr_get(one, 1)), "s", "/p");
	}
	yyjson_arr_foreach(queries, i, max, one)
	{
		size_t place = place_of(one);

		first += place == 1;
		sum += 1.0 / (double)place;
	}
	*recall = first / (double)yyjson_arr_size(queries);
	*mrr = sum / (double)yyjson_arr_size(queries);
	printf("%s and words: recall@1 %.2f, MRR %.2f\n", embedder_name(embedder),
		*recall, *mrr);
	yyjson_doc_free(doc);
}

START_TEST(memories_are_found)
{
	double recall, mrr;

	judge(&recall, &mrr);
	ck_assert_double_ge(recall, 0.34);
	ck_assert_double_ge(mrr, 0.45);
}
END_TEST

START_TEST(memories_are_found_by_meaning)
{
	double recall, mrr;

	embedder_close(embedder);
	embedder = embedder_open(model_dir);
	if (embedder_size(embedder) < EMBEDDING_MAX)
		return; /* no model on this machine */
	judge(&recall, &mrr);
	ck_assert_double_ge(recall, 0.47);
	ck_assert_double_ge(mrr, 0.57);
	add("race condition in auth flow, exactly", "s");
	for (int i = 0; i < 12; i++) {
		char content[40];

		snprintf(content, sizeof(content), "race condition number %d", i);
		add(content, "s");
	}
	ck_assert_int_eq(strncmp(find("race condition in auth flow", 10, NULL),
				 "race condition in auth flow, exactly|", 37),
		0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("store memory");

	const char *dir = getenv("EMBEDDING_MODEL_DIR"), *home = getenv("HOME");

	if (dir)
		snprintf(model_dir, sizeof(model_dir), "%s", dir);
	else
		snprintf(model_dir, sizeof(model_dir), "%s/.cache/paige/use-lite",
			home ? home : "");
	tcase_add_checked_fixture(tc, memory_setup, memory_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, p8_2_ids_continue_within_their_session);
	tcase_add_test(tc, several_in_one_call_are_numbered_in_order);
	tcase_add_test(tc, the_highest_index_is_looked_for_once_a_call);
	tcase_add_test(tc, a_repeated_call_keeps_nothing_twice);
	tcase_add_test(tc, nothing_to_keep_is_no_rows);
	tcase_add_test(tc, a_bad_vector_is_refused_and_nothing_kept);
	tcase_add_test(tc, a_hit_has_its_metadata_and_its_distance);
	tcase_add_test(tc, sc_047_the_related_memory_comes_first);
	tcase_add_test(tc, sc_047_the_exact_memory_is_first_of_many);
	tcase_add_test(tc, sc_048_sc_049_projects_are_told_apart_only_when_asked);
	tcase_add_test(tc, ec_49_an_empty_query_finds_what_there_is);
	tcase_add_test(tc, memories_of_another_embedder_are_found_by_words_alone);
	tcase_add_test(tc, words_are_found_in_other_forms_and_in_tags);
	tcase_add_test(tc, memories_are_found);
	tcase_add_test(tc, memories_are_found_by_meaning);
	return check_run(tc);
}
