/* Pages of the action log: order, filters, bounds, and how the database finds them. */
#include "tests/unit/store/store_fixture.h"

/* `count` rows; every 1000th is an observer_muted, the others are tab switches. */
static void fill(int count)
{
	must_call(METHOD_SESSION_START, NULL, "{}");
	execute("DELETE FROM action_log");
	execute(arena_printf(&fixture_arena,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i "
		"< %d) INSERT INTO action_log (rowid, id, session_id, action_type, data, "
		"created_at) SELECT i, 'id' || i, (SELECT id FROM sessions), iif(i %% "
		"1000 = 0, 'observer_muted', 'tab_switch'), '{\"toPath\":\"File' || i || "
		"'.ts\"}', '2026-01-01T00:00:00.000Z' FROM n",
		count)
			.ptr);
}

/* "first..last (rows) next" of a page. */
static const char *page(const char *query)
{
	struct str answer = must_call(METHOD_LOG_PAGE, NULL, query)->outcome.answer;
	yyjson_doc *doc = yyjson_read(answer.ptr, answer.len, 0);
	yyjson_val *root = yyjson_doc_get_root(doc), *list = yyjson_obj_get(root, "rows");
	const char *text = arena_printf(&fixture_arena, "%lld..%lld (%zu) %lld",
		(long long)yyjson_get_sint(
			yyjson_obj_get(yyjson_arr_get_first(list), "n")),
		(long long)yyjson_get_sint(
			yyjson_obj_get(yyjson_arr_get_last(list), "n")),
		yyjson_arr_size(list),
		(long long)yyjson_get_sint(yyjson_obj_get(root, "next")))
				   .ptr;

	yyjson_doc_free(doc);
	return text;
}

START_TEST(pages_go_from_the_newest_row_to_the_oldest)
{
	fill(250);
	ck_assert_str_eq(page("{}"), "250..151 (100) 151");
	ck_assert_str_eq(page("{\"before\":151}"), "150..51 (100) 51");
	ck_assert_str_eq(page("{\"before\":51}"), "50..1 (50) 0");
	ck_assert_str_eq(page("{\"before\":1}"), "0..0 (0) 0");
	ck_assert_str_eq(page("{\"before\":9000000,\"limit\":1}"), "250..250 (1) 250");
	ck_assert_str_eq(page("{\"limit\":250}"), "250..1 (250) 0");
}
END_TEST

START_TEST(an_empty_log_has_one_empty_page)
{
	answered(must_call(METHOD_LOG_PAGE, NULL, "{}"), "{\"rows\":[]}");
}
END_TEST

START_TEST(rows_are_told_as_they_are_published)
{
	struct call *made;
	const char *told;

	must_call(METHOD_SESSION_START, NULL, "{}");
	made = must_call(METHOD_ACTIVITY_TAB_SWITCH, NULL, "{\"toPath\":\"a\"}");
	told = published(made, "action/tab_switch");
	ck_assert_ptr_nonnull(strstr(told, "\"n\":2"));
	answered(must_call(METHOD_LOG_PAGE, NULL, "{\"limit\":1}"),
		arena_printf(&fixture_arena, "{\"rows\":[%.*s],\"next\":2}",
			(int)strlen(told) - 1, told)
			.ptr);
}
END_TEST

/* FR-048: the Observer hears of some rows, people see all of them. */
START_TEST(rows_that_the_observer_does_not_hear_of_are_published_too)
{
	struct call *made = must_call(METHOD_SESSION_START, NULL, "{}");

	ck_assert_ptr_nonnull(strstr(published(made, "log/session_started"), "\"n\":1"));
	ck_assert_str_eq(published(made, "action/session_started"), "");
}
END_TEST

START_TEST(filters_choose_rows)
{
	fill(2500);
	ck_assert_str_eq(page("{\"types\":[\"observer_muted\"]}"), "2000..1000 (2) 0");
	ck_assert_str_eq(page("{\"types\":[]}"), "2500..2401 (100) 2401");
	ck_assert_str_eq(page("{\"types\":[\"file_save\"]}"), "0..0 (0) 0");
	ck_assert_str_eq(page("{\"text\":\"fIlE2499\"}"), "2499..2499 (1) 0");
	ck_assert_str_eq(page("{\"text\":\"muted\"}"), "2000..1000 (2) 0");
	ck_assert_str_eq(page("{\"text\":\"%\"}"), "0..0 (0) 0");
	ck_assert_str_eq(page("{\"sessionId\":\"another\"}"), "0..0 (0) 0");
}
END_TEST

START_TEST(a_type_that_there_is_not_is_named)
{
	struct call *call = run_call(
		METHOD_LOG_PAGE, NULL, "{\"types\":[\"tab_switch\",\"tab' OR 1\"]}");

	ck_assert_ptr_eq(call->outcome.error, &error_code_infos[ERROR_INVALID_MESSAGE]);
	ck_assert_msg(str_is(call->outcome.message,
			      "payload.types[1]: expected a type of the action log, not "
			      "\"tab' OR 1\""),
		"%.*s", STR_ARG(call->outcome.message));
}
END_TEST

START_TEST(a_page_looks_at_a_bounded_number_of_rows)
{
	fill(25000);
	ck_assert_str_eq(page("{\"types\":[\"file_save\"]}"), "0..0 (0) 15001");
	ck_assert_str_eq(
		page("{\"types\":[\"file_save\"],\"before\":15001}"), "0..0 (0) 5001");
	ck_assert_str_eq(
		page("{\"types\":[\"file_save\"],\"before\":5001}"), "0..0 (0) 0");
}
END_TEST

START_TEST(a_page_has_a_bounded_size)
{
	fill(100);
	execute("UPDATE action_log SET data = '\"' || printf('%.*c', 60000, 'x') || "
		"'\"'");
	ck_assert_str_eq(page("{}"), "100..83 (18) 83");
	execute("UPDATE action_log SET data = '\"' || printf('%.*c', 70000, 'x') || "
		"'\"'");
	ck_assert_str_eq(page("{}"), "100..1 (100) 0");
	execute("UPDATE action_log SET data = '{no JSON'");
	ck_assert_str_eq(page("{}"), "100..1 (100) 0");
}
END_TEST

/* A page of 100,000 rows is found by their numbers: nothing is sorted, and no more is read
 * than a page looks at. */
START_TEST(pages_are_found_by_number)
{
	const char *plan = rows(arena_printf(&fixture_arena, "EXPLAIN QUERY PLAN %s",
		store.db.schema->statements[STATEMENT_ACTIONS_PAGE - STATEMENTS_OF_ALL])
					.ptr);

	ck_assert_msg(
		strstr(plan, "SEARCH action_log USING INTEGER PRIMARY KEY (rowid>? AND "
			     "rowid<?)"),
		"%s", plan);
	ck_assert_msg(!strstr(plan, "TEMP B-TREE"), "%s", plan);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("pages");

	tcase_add_checked_fixture(tc, fixture_setup, fixture_teardown);
	tcase_add_test(tc, pages_go_from_the_newest_row_to_the_oldest);
	tcase_add_test(tc, an_empty_log_has_one_empty_page);
	tcase_add_test(tc, rows_are_told_as_they_are_published);
	tcase_add_test(tc, rows_that_the_observer_does_not_hear_of_are_published_too);
	tcase_add_test(tc, filters_choose_rows);
	tcase_add_test(tc, a_type_that_there_is_not_is_named);
	tcase_add_test(tc, a_page_looks_at_a_bounded_number_of_rows);
	tcase_add_test(tc, a_page_has_a_bounded_size);
	tcase_add_test(tc, pages_are_found_by_number);
	return check_run(tc);
}
