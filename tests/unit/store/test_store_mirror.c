/* Rows for the mirror: only after consent, in order, whole, and never behind a position of another database. */
#include "tests/unit/store/store_fixture.h"
#include "workers/store/streams/streams.h"

static void allow(void)
{
	must_call(METHOD_MIRROR_DECIDE, NULL, "{\"allow\":true}");
}

/* The answer to a query, of which every row must be one of `type`; lives as long as the arena. */
static struct mirror_rows ask(const char *query, const struct type *type)
{
	struct str answer = must_call(METHOD_MIRROR_ROWS, NULL, query)->outcome.answer;
	yyjson_doc *doc = yyjson_read(answer.ptr, answer.len, 0);
	struct mirror_rows rows_read;
	struct proto_error error;
	yyjson_val *row;
	size_t i, max;

	ck_assert_uint_lt(fixture_docs_count, FIXTURE_DOCS_MAX);
	fixture_docs[fixture_docs_count++] = doc;
	ck_assert_msg(proto_decode(mirror_rows_type(), yyjson_doc_get_root(doc), "answer",
			      DECODE_STRICT, &fixture_arena, &rows_read, &error) == 0,
		"%s", error.text);
	yyjson_arr_foreach(rows_read.rows.val, i, max, row)
	{
		ck_assert_msg(
			proto_decode(type, row, "row", DECODE_STRICT, &fixture_arena,
				arena_alloc(&fixture_arena, type->size), &error) == 0,
			"%s", error.text);
		ck_assert_uint_eq(yyjson_obj_size(row), type->count);
	}
	return rows_read;
}

static size_t count_of(const char *query, const struct type *type)
{
	return yyjson_arr_size(ask(query, type).rows.val);
}

static int64_t number_at(struct mirror_rows rows_read, size_t i)
{
	return yyjson_get_sint(
		yyjson_obj_get(yyjson_arr_get(rows_read.rows.val, i), "number"));
}

#define ACTIONS "{\"source\":\"actions\",\"after\":0}"

START_TEST(nothing_is_given_before_the_learner_agrees_or_after_they_stop)
{
	must_call(METHOD_SESSION_START, NULL, "{}");
	answered(must_call(METHOD_MIRROR_CONSENT, NULL, "{}"),
		"{\"allowed\":false,\"since\":null,\"origin\":null}");
	refused_call(METHOD_MIRROR_ROWS, ACTIONS, ERROR_NOT_ALLOWED);
	allow();
	ck_assert_uint_eq(count_of(ACTIONS, mirror_actions_type()), 1);
	must_call(METHOD_MIRROR_DECIDE, NULL, "{\"allow\":false}");
	refused_call(METHOD_MIRROR_ROWS, ACTIONS, ERROR_NOT_ALLOWED);
}
END_TEST

START_TEST(a_decision_outlives_the_process_and_keeps_the_origin)
{
	char origin[UUID_SIZE];

	allow();
	memcpy(origin, store.consent->origin, sizeof(origin));
	ck_assert(uuid_valid(str_of(origin)));
	fixture_restart();
	ck_assert(store.consent->allowed);
	ck_assert_str_eq(store.consent->origin, origin);
	must_call(METHOD_MIRROR_DECIDE, NULL, "{\"allow\":false}");
	fixture_restart();
	ck_assert(!store.consent->allowed);
	allow();
	ck_assert_str_eq(store.consent->origin, origin);
}
END_TEST

START_TEST(a_consent_that_cannot_be_read_allows_nothing)
{
	static const char *const texts[] = {"", "{", "{\"allowed\":true}",
		"{\"allowed\":true,\"since\":null,\"origin\":null}",
		"{\"allowed\":true,\"since\":null,\"origin\":"
		"\"123456789012345678901234567"
		"890123456\"}"};
	char *file;
	FILE *f;

	allow();
	file = strdup(store.consent->path);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		f = fopen(file, "w");
		ck_assert_int_ge(fputs(texts[i], f), 0);
		fclose(f);
		consent_fini(store.consent);
		/* The fourth is readable and names no origin. */
		ck_assert_int_eq(consent_load(store.consent, fixture_dir) < 0, i != 3);
		ck_assert_msg(!store.consent->allowed, "%s", texts[i]);
	}
	unlink(file);
	free(file);
}
END_TEST

START_TEST(a_fork_gives_another_origin_once)
{
	const char *key = new_key();
	char before[UUID_SIZE];
	const char *request;

	allow();
	memcpy(before, store.consent->origin, sizeof(before));
	request = arena_printf(&fixture_arena, "{\"origin\":\"%s\"}", before).ptr;
	must_call(METHOD_MIRROR_FORK, key, request);
	ck_assert_str_eq(store.consent->origin, key);
	must_call(METHOD_MIRROR_FORK, NULL, request);
	ck_assert_str_eq(store.consent->origin, key);
	ck_assert(store.consent->allowed);
}
END_TEST

static void fill(int count)
{
	must_call(METHOD_SESSION_START, NULL, "{}");
	execute(arena_printf(&fixture_arena,
		"DELETE FROM action_log; "
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i "
		"< %d) INSERT INTO action_log (rowid, id, session_id, action_type, data, "
		"created_at) SELECT i, 'id' || i, (SELECT id FROM sessions), "
		"'tab_switch', '{\"toPath\":\"secret.c\"}', '2026-01-01T00:00:00.000Z' "
		"FROM n",
		count)
			.ptr);
}

START_TEST(rows_come_in_order_and_in_bounded_pages)
{
	struct mirror_rows page;
	int64_t after = 0, seen = 0;
	size_t count;

	fill(5001);
	allow();
	do {
		page = ask(arena_printf(&fixture_arena,
				   "{\"source\":\"actions\",\"after\":%lld,\"afterId\":"
				   "\"id%lld\"}",
				   (long long)after, (long long)after)
				   .ptr,
			mirror_actions_type());
		count = yyjson_arr_size(page.rows.val);
		ck_assert_uint_le(count, 2000);
		ck_assert(!page.diverged);
		for (size_t i = 0; i < count; i++)
			ck_assert_int_eq(number_at(page, i), ++seen);
		after = seen;
	} while (count > 0);
	ck_assert_int_eq(seen, 5001);
}
END_TEST

START_TEST(a_page_ends_with_the_row_that_passes_its_bytes)
{
	allow();
	execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i "
		"< 20) INSERT INTO sessions SELECT 's' || i, '/p', i, "
		"printf('%.*c', 60000, 't'), 'completed', '2026-01-01T00:00:00.000Z', "
		"'2026-01-01T00:00:00.000Z' FROM n");
	ck_assert_uint_eq(
		count_of("{\"source\":\"sessions\",\"after\":0}", mirror_sessions_type()),
		9);
}
END_TEST

/* A backup that was put back, or another database. */
START_TEST(a_position_of_another_database_is_told)
{
	struct mirror_rows page;

	fill(10);
	allow();
	page = ask("{\"source\":\"actions\",\"after\":11,\"afterId\":\"id11\"}",
		mirror_actions_type());
	ck_assert(page.diverged);
	page = ask("{\"source\":\"actions\",\"after\":5,\"afterId\":\"id6\"}",
		mirror_actions_type());
	ck_assert(page.diverged);
	ck_assert_uint_eq(yyjson_arr_size(page.rows.val), 0);
	page = ask("{\"source\":\"actions\",\"after\":10,\"afterId\":\"id10\"}",
		mirror_actions_type());
	ck_assert(!page.diverged);
	ck_assert_uint_eq(yyjson_arr_size(page.rows.val), 0);
}
END_TEST

/* What an action is about stays here: paths, messages, errors. */
START_TEST(rows_hold_what_is_listed_and_nothing_else)
{
	struct str answer;

	fill(1);
	allow();
	execute("INSERT INTO action_log SELECT 'a', id, 'phase_started', "
		"'{\"phaseId\":\"f\",\"phaseNumber\":3,\"title\":\"secret\"}', "
		"'2026-01-01T00:00:00.000Z' FROM sessions; "
		"INSERT INTO action_log SELECT 'b', id, 'hint_level_change', "
		"'{\"level\":2,\"previousLevel\":1}', '2026-01-01T00:00:00.000Z' FROM "
		"sessions; "
		"INSERT INTO action_log SELECT 'c', id, 'nudge_sent', "
		"'{\"signal\":\"stuck\"}', '2026-01-01T00:00:00.000Z' FROM sessions; "
		"INSERT INTO action_log SELECT 'd', id, 'review_completed', "
		"'{\"level\":7,\"error\":\"secret\"}', '2026-01-01T00:00:00.000Z' FROM "
		"sessions; "
		"INSERT INTO action_log SELECT 'e', id, 'nudge_sent', 'secret', "
		"'2026-01-01T00:00:00.000Z' FROM sessions");
	ck_assert_uint_eq(count_of(ACTIONS, mirror_actions_type()), 6);
	answer = must_call(METHOD_MIRROR_ROWS, NULL, ACTIONS)->outcome.answer;
	ck_assert_ptr_null(memmem(answer.ptr, answer.len, "secret", 6));
	ck_assert_ptr_nonnull(memmem(answer.ptr, answer.len, "\"phase\":3", 9));
	ck_assert_ptr_nonnull(memmem(answer.ptr, answer.len, "\"hint_level\":2", 14));
	ck_assert_ptr_null(memmem(answer.ptr, answer.len, "\"hint_level\":7", 14));
	ck_assert_ptr_nonnull(memmem(answer.ptr, answer.len, "\"signal\":\"stuck\"", 16));
}
END_TEST

START_TEST(every_source_gives_rows_of_its_type)
{
	must_call(METHOD_SESSION_START, NULL, "{\"issueNumber\":7}");
	allow();
	execute("INSERT INTO plans SELECT 'p', id, 't', '2026-01-01T00:00:00.000Z' FROM "
		"sessions; "
		"INSERT INTO phases VALUES ('f', 'p', 1, 'Read', 'd', 'active', "
		"'medium', '[]', '2026-01-01T00:00:00.000Z', NULL); "
		"INSERT INTO dreyfus_assessments VALUES ('d', 'c', 'novice', 0.5, "
		"'secret', '2026-01-01T00:00:00.000Z'); "
		"INSERT INTO api_call_log VALUES ('c', NULL, 'triage', 'm', 'h', -1, 1, "
		"2, 0.5, '2026-01-01T00:00:00.000Z')");
	ck_assert_uint_eq(count_of(ACTIONS, mirror_actions_type()), 1);
	ck_assert_uint_eq(count_of("{\"source\":\"api_calls\",\"after\":0}",
				  mirror_api_calls_type()),
		1);
	ck_assert_uint_eq(
		count_of("{\"source\":\"sessions\",\"after\":0}", mirror_sessions_type()),
		1);
	ck_assert_uint_eq(
		count_of("{\"source\":\"phases\",\"after\":0}", mirror_phases_type()), 1);
	ck_assert_uint_eq(count_of("{\"source\":\"assessments\",\"after\":0}",
				  mirror_assessments_type()),
		1);
	refused_call(METHOD_MIRROR_ROWS, "{\"source\":\"guard_events\",\"after\":0}",
		ERROR_INVALID_MESSAGE);
}
END_TEST

/* On guard.db, which knows the consent by the store beside it. */
START_TEST(guard_events_are_numbered_across_machines)
{
	static struct store main_store;
	static struct consent consent;
	struct error_text problem;
	const char *text;

	main_store.consent = &consent;
	fixture_close();
	unlink(fixture_path);
	store = (struct store){
		.keys = keys_new(), .started = clock_wall(), .beside = &main_store};
	ck_assert_msg(
		database_open(&store.db, fixture_path, &streams_schema, &problem) == 0,
		"%s", problem.text);
	for (int i = 0; i < 4; i++)
		must_call(METHOD_STREAM_APPEND, NULL,
			arena_printf(&fixture_arena,
				"{\"kind\":\"idle\",\"id\":\"%c\",\"after\":%d,\"rows\":["
				"{"
				"\"seq\":%d,\"at\":%d,\"actor\":\"user\",\"type\":"
				"\"tick\",\"payload\":\"{\\\"secret\\\":1}\"}],"
				"\"asking\":"
				"false,\"clock\":{\"bootId\":\"b\",\"offsetMs\":0}}",
				i % 2 ? 'b' : 'a', i / 2, i / 2 + 1, 1000 + i)
				.ptr);
	refused_call(METHOD_MIRROR_GUARD_ROWS,
		"{\"source\":\"guard_events\",\"after\":0}", ERROR_NOT_ALLOWED);
	consent.allowed = true;
	text = arena_cstr(
		&fixture_arena, must_call(METHOD_MIRROR_GUARD_ROWS, NULL,
					"{\"source\":\"guard_events\",\"after\":1}")
					->outcome.answer);
	ck_assert_ptr_null(strstr(text, "secret"));
	ck_assert_ptr_nonnull(strstr(text, "{\"rows\":[{\"number\":2,\"id\":\""));
	ck_assert_ptr_nonnull(strstr(text,
		"\"kind\":\"idle\",\"machine\":\"a\",\"seq\":2,\"at\":\"1970-01-01T00:00:"
		"01.002Z\",\"actor\":\"user\",\"type\":\"tick\"}"));
	must_call(METHOD_MIRROR_GUARD_ROWS, NULL,
		"{\"source\":\"guard_events\",\"after\":9,\"afterId\":\"x\"}");
	database_close(&store.db);
	keys_free(store.keys);
	unlink(fixture_path);
	fixture_open();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("mirror");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_add_test(tc, nothing_is_given_before_the_learner_agrees_or_after_they_stop);
	tcase_add_test(tc, a_decision_outlives_the_process_and_keeps_the_origin);
	tcase_add_test(tc, a_consent_that_cannot_be_read_allows_nothing);
	tcase_add_test(tc, a_fork_gives_another_origin_once);
	tcase_add_test(tc, rows_come_in_order_and_in_bounded_pages);
	tcase_add_test(tc, a_page_ends_with_the_row_that_passes_its_bytes);
	tcase_add_test(tc, a_position_of_another_database_is_told);
	tcase_add_test(tc, rows_hold_what_is_listed_and_nothing_else);
	tcase_add_test(tc, every_source_gives_rows_of_its_type);
	tcase_add_test(tc, guard_events_are_numbered_across_machines);
	return check_run(tc);
}
