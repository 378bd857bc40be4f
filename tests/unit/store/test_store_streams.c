/*
 * Tests of workers/store/streams/streams.h on a real guard.db: rows once each whatever is
 * repeated, and any change of them shows.
 */
#include "tests/unit/store/store_fixture.h"
#include "workers/store/streams/streams.h"

static struct store beside;

static void open_streams(void)
{
	struct error_text problem;

	store = (struct store){
		.keys = keys_new(), .started = clock_wall(), .beside = &beside};
	ck_assert_msg(
		database_open(&store.db, fixture_path, &streams_schema, &problem) == 0,
		"%s", problem.text);
}

static void setup(void)
{
	scratch_make(fixture_dir);
	snprintf(fixture_path, sizeof(fixture_path), "%s/guard.db", fixture_dir);
	fixture_arena = (struct arena){0};
	done_count = 0;
	open_streams();
}

static void close_streams(void)
{
	database_close(&store.db);
	keys_free(store.keys);
}

static void teardown(void)
{
	close_streams();
	while (fixture_docs_count > 0)
		yyjson_doc_free(fixture_docs[--fixture_docs_count]);
	arena_free(&fixture_arena);
	scratch_remove(fixture_dir);
}

/* ---- appending ---- */

/* An append of `count` rows behind `after`; `more` are further members, beginning with a
 * comma. */
static const char *append(const char *id, int after, int count, const char *more)
{
	struct str rows = STR_LIT("");

	for (int i = 1; i <= count; i++)
		rows = arena_printf(&fixture_arena,
			"%.*s%s{\"seq\":%d,\"at\":%d,\"actor\":\"system\",\"type\":"
			"\"tick\","
			"\"payload\":\"{\\\"n\\\":%d}\"}",
			STR_ARG(rows), i > 1 ? "," : "", after + i, 1000 + after + i,
			after + i);
	return arena_printf(&fixture_arena,
		"{\"kind\":\"idle\",\"id\":\"%s\",\"after\":%d,\"rows\":[%.*s],"
		"\"asking\":false,"
		"\"clock\":{\"bootId\":\"b1\",\"offsetMs\":-5}%s}",
		id, after, STR_ARG(rows), more)
		.ptr;
}

#define APPENDED(cursor) "{\"outcome\":\"appended\",\"cursor\":" #cursor "}"
#define CONFLICT(cursor) "{\"outcome\":\"conflict\",\"cursor\":" #cursor "}"

START_TEST(test_append)
{
	answered(must_call(METHOD_STREAM_APPEND, NULL, append("a", 0, 1, "")),
		APPENDED(1));
	answered(must_call(METHOD_STREAM_APPEND, NULL, append("a", 1, 3, "")),
		APPENDED(4));
	ck_assert_str_eq(
		rows("SELECT seq, at, actor, type, payload FROM rows ORDER BY seq"),
		"1|1001|system|tick|{\"n\":1}\n2|1002|system|tick|{\"n\":2}\n"
		"3|1003|system|tick|{\"n\":3}\n4|1004|system|tick|{\"n\":4}");
	ck_assert_str_eq(rows("SELECT kind, id, cursor, deadline, asking, boot_id, "
			      "clock_offset, created_at, changed_at "
			      "FROM streams"),
		"idle|a|4|-|0|b1|-5|1001|1004");
}
END_TEST

START_TEST(test_conflicts)
{
	answered(must_call(METHOD_STREAM_APPEND, NULL, append("a", 5, 1, "")),
		CONFLICT(0));
	must_call(METHOD_STREAM_APPEND, NULL, append("a", 0, 2, ""));
	answered(must_call(METHOD_STREAM_APPEND, NULL, append("a", 0, 1, "")),
		CONFLICT(2));
	answered(must_call(METHOD_STREAM_APPEND, NULL, append("a", 1, 1, "")),
		CONFLICT(2));
	answered(must_call(METHOD_STREAM_APPEND, NULL, append("a", 3, 1, "")),
		CONFLICT(2));
	ck_assert_str_eq(rows("SELECT count(*) FROM rows"), "2");
	refused_call(METHOD_STREAM_APPEND,
		"{\"kind\":\"idle\",\"id\":\"a\",\"after\":2,\"rows\":[{\"seq\":4,\"at\":"
		"1,\"actor\":\"s\","
		"\"type\":\"t\",\"payload\":\"{}\"}],\"asking\":false,\"clock\":{"
		"\"bootId\":\"\","
		"\"offsetMs\":0}}",
		ERROR_INVALID_MESSAGE);
}
END_TEST

/* The same call again, by the same process and by its successor. */
START_TEST(test_repeated_call)
{
	const char *first = new_key(), *second = new_key();

	must_call(METHOD_STREAM_APPEND, first, append("a", 0, 1, ""));
	answered(must_call(METHOD_STREAM_APPEND, first, append("a", 0, 1, "")),
		APPENDED(1));
	must_call(METHOD_STREAM_APPEND, second, append("a", 1, 2, ""));
	close_streams();
	open_streams();
	answered(must_call(METHOD_STREAM_APPEND, second, append("a", 1, 2, "")),
		APPENDED(3));
	ck_assert_str_eq(rows("SELECT count(*) FROM rows"), "3");
}
END_TEST

/* An event of a client counts once as long as the stream is there, whatever its rows
 * would be. */
START_TEST(test_client_events)
{
	must_call(METHOD_STREAM_APPEND, NULL, append("a", 0, 1, ""));
	must_call(METHOD_STREAM_APPEND, NULL,
		append("a", 1, 3, ",\"clientEventId\":\"c-1\""));
	must_call(METHOD_STREAM_APPEND, NULL, append("a", 4, 1, ""));
	answered(must_call(METHOD_STREAM_APPEND, NULL,
			 append("a", 5, 1, ",\"clientEventId\":\"c-1\"")),
		"{\"outcome\":\"duplicate\",\"cursor\":5,\"first\":2}");
	close_streams();
	open_streams();
	answered(must_call(METHOD_STREAM_APPEND, NULL,
			 append("a", 1, 1, ",\"clientEventId\":\"c-1\"")),
		"{\"outcome\":\"duplicate\",\"cursor\":5,\"first\":2}");
	/* Of another stream it is another one. */
	must_call(METHOD_STREAM_APPEND, NULL, append("b", 0, 1, ""));
	answered(must_call(METHOD_STREAM_APPEND, NULL,
			 append("b", 1, 1, ",\"clientEventId\":\"c-1\"")),
		APPENDED(2));
	answered(must_call(METHOD_STREAM_FIND, NULL,
			 "{\"kind\":\"idle\",\"id\":\"a\",\"clientEventId\":\"c-1\"}"),
		"{\"first\":2}");
	answered(must_call(METHOD_STREAM_FIND, NULL,
			 "{\"kind\":\"idle\",\"id\":\"a\",\"clientEventId\":\"c-2\"}"),
		"{}");
	ck_assert_str_eq(rows("SELECT count(*) FROM rows"), "7");
}
END_TEST

/* ---- reading ---- */

#define REF_A "{\"kind\":\"idle\",\"id\":\"a\"}"

START_TEST(test_load)
{
	refused_call(METHOD_STREAM_LOAD, REF_A, ERROR_NOT_FOUND);
	must_call(METHOD_STREAM_APPEND, NULL, append("a", 0, 1, ""));
	answered(must_call(METHOD_STREAM_LOAD, NULL, REF_A),
		"{\"cursor\":1,\"clock\":{\"bootId\":\"b1\",\"offsetMs\":-5},\"created\":"
		"{\"seq\":1,\"at\":1001,"
		"\"actor\":\"system\",\"type\":\"tick\",\"payload\":\"{\\\"n\\\":1}\"}}");
	must_call(METHOD_STREAM_APPEND, NULL,
		append("a", 1, 2,
			",\"snapshot\":{\"cursor\":3,\"state\":{\"x\":[1.5]}}"));
	must_call(METHOD_STREAM_APPEND, NULL, append("a", 3, 1, ""));
	answered(must_call(METHOD_STREAM_LOAD, NULL, REF_A),
		"{\"cursor\":4,\"clock\":{\"bootId\":\"b1\",\"offsetMs\":-5},\"created\":"
		"{\"seq\":1,\"at\":1001,"
		"\"actor\":\"system\",\"type\":\"tick\",\"payload\":\"{\\\"n\\\":1}\"},"
		"\"snapshot\":{\"cursor\":3,\"state\":{\"x\":[1.5]}}}");
	/* A snapshot that cannot be read is left out. */
	execute("UPDATE snapshots SET state = '{broken'");
	ck_assert_ptr_null(
		strstr(must_call(METHOD_STREAM_LOAD, NULL, REF_A)->outcome.answer.ptr,
			"snapshot"));
}
END_TEST

static const char *since(int n)
{
	return arena_printf(
		&fixture_arena, "{\"kind\":\"idle\",\"id\":\"a\",\"since\":%d}", n)
		.ptr;
}

START_TEST(test_rows)
{
	struct call *call;

	must_call(METHOD_STREAM_APPEND, NULL, append("a", 0, 2, ""));
	answered(must_call(METHOD_STREAM_ROWS, NULL, since(1)),
		"{\"cursor\":2,\"rows\":[{\"seq\":2,\"at\":1002,\"actor\":\"system\","
		"\"type\":\"tick\","
		"\"payload\":\"{\\\"n\\\":2}\"}]}");
	answered(must_call(METHOD_STREAM_ROWS, NULL, since(2)),
		"{\"cursor\":2,\"rows\":[]}");
	answered(must_call(METHOD_STREAM_ROWS, NULL, since(99)),
		"{\"cursor\":2,\"rows\":[]}");
	/* Page by page. */
	for (int n = 2; n < STREAMS_PAGE_ROWS + 100; n += 100)
		must_call(METHOD_STREAM_APPEND, NULL, append("a", n, 100, ""));
	call = must_call(METHOD_STREAM_ROWS, NULL, since(0));
	ck_assert_ptr_nonnull(strstr(call->outcome.answer.ptr, "\"seq\":2000,"));
	ck_assert_ptr_null(strstr(call->outcome.answer.ptr, "\"seq\":2001,"));
	call = must_call(METHOD_STREAM_ROWS, NULL, since(2000));
	ck_assert_ptr_nonnull(strstr(call->outcome.answer.ptr, "\"seq\":2001,"));
	ck_assert_ptr_nonnull(strstr(call->outcome.answer.ptr, "\"seq\":2102,"));
	answered(must_call(METHOD_STREAM_CHECK, NULL, REF_A), "{\"cursor\":2102}");
}
END_TEST

START_TEST(test_list)
{
	static const char *const waiting = "{\"waiting\":true,\"after\":0}";

	must_call(METHOD_STREAM_APPEND, NULL, append("a", 0, 1, ",\"deadline\":7000"));
	must_call(METHOD_STREAM_APPEND, NULL, append("b", 0, 1, ""));
	answered(must_call(METHOD_STREAM_LIST, NULL, waiting),
		"{\"streams\":[{\"kind\":\"idle\",\"id\":\"a\",\"cursor\":1,"
		"\"createdAt\":1001,"
		"\"changedAt\":1001,\"nextDeadline\":7000,\"asking\":false,\"clock\":{"
		"\"bootId\":\"b1\","
		"\"offsetMs\":-5}}]}");
	must_call(METHOD_STREAM_APPEND, NULL, append("a", 1, 1, ""));
	answered(must_call(METHOD_STREAM_LIST, NULL, waiting), "{\"streams\":[]}");
	ck_assert_ptr_nonnull(strstr(
		must_call(METHOD_STREAM_LIST, NULL, "{\"waiting\":false,\"after\":0}")
			->outcome.answer.ptr,
		"\"id\":\"b\""));
	answered(must_call(METHOD_STREAM_LIST, NULL,
			 "{\"kind\":\"breakloop\",\"waiting\":false,\"after\":0}"),
		"{\"streams\":[]}");
}
END_TEST

/* ---- damage ---- */

struct damage {
	const char *what, *sql;
	int row; /* from which on it shows; 0: not at all */
};

static const struct damage damages[] = {
	{"nothing", "SELECT 1", 0},
	{"a payload", "UPDATE rows SET payload = '{\"n\":9}' WHERE seq = 3", 3},
	{"a time", "UPDATE rows SET at = at + 1 WHERE seq = 2", 2},
	{"an actor", "UPDATE rows SET actor = 'candidate' WHERE seq = 5", 5},
	{"a type", "UPDATE rows SET type = 'tock' WHERE seq = 1", 1},
	{"a row out of the middle", "DELETE FROM rows WHERE seq = 4", 4},
	{"the last row", "DELETE FROM rows WHERE seq = 6", 6},
	{"the last row and the cursor",
		"DELETE FROM rows WHERE seq = 6; UPDATE streams SET cursor = 5", 6},
	{"a row too many",
		"INSERT INTO rows SELECT stream, 7, at, actor, type, payload, chain FROM "
		"rows WHERE seq = 6",
		7},
	{"two rows exchanged",
		"UPDATE rows SET seq = 90 WHERE seq = 2; UPDATE rows SET seq = 2 WHERE "
		"seq = 3; "
		"UPDATE rows SET seq = 3 WHERE seq = 90",
		2},
	{"a checksum", "UPDATE rows SET chain = zeroblob(32) WHERE seq = 4", 4},
	{"the checksum of the stream", "UPDATE streams SET head = zeroblob(32)", 7},
	{"another name for the stream",
		"UPDATE streams SET id = 'x'; UPDATE streams SET id = 'a'", 0},
};

START_TEST(test_damage)
{
	const struct damage *d = &damages[_i];
	struct call *check;
	char expected[80];

	must_call(METHOD_STREAM_APPEND, NULL, append("a", 0, 2, ""));
	must_call(METHOD_STREAM_APPEND, NULL, append("a", 2, 4, ""));
	execute(d->sql);
	check = must_call(METHOD_STREAM_CHECK, NULL, REF_A);
	if (!d->row) {
		ck_assert_ptr_null(strstr(check->outcome.answer.ptr, "problem"));
		must_call(METHOD_STREAM_ROWS, NULL, since(0));
		return;
	}
	snprintf(expected, sizeof(expected), "\"problem\":\"row %d ", d->row);
	ck_assert_msg(strstr(check->outcome.answer.ptr, expected) != NULL, "%s: %.*s",
		d->what, STR_ARG(check->outcome.answer));
	refused_call(METHOD_STREAM_ROWS, since(0), ERROR_INTERNAL_ERROR);
}
END_TEST

/* Rows of one stream do not pass for those of another. */
START_TEST(test_stolen_stream)
{
	must_call(METHOD_STREAM_APPEND, NULL, append("a", 0, 3, ""));
	execute("UPDATE streams SET id = 'b'");
	ck_assert_ptr_nonnull(strstr(
		must_call(METHOD_STREAM_CHECK, NULL, "{\"kind\":\"idle\",\"id\":\"b\"}")
			->outcome.answer.ptr,
		"row 1 "));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_append);
	tcase_add_test(tcase, test_conflicts);
	tcase_add_test(tcase, test_repeated_call);
	tcase_add_test(tcase, test_client_events);
	tcase_add_test(tcase, test_load);
	tcase_add_test(tcase, test_rows);
	tcase_add_test(tcase, test_list);
	tcase_add_loop_test(tcase, test_damage, 0, sizeof(damages) / sizeof(damages[0]));
	tcase_add_test(tcase, test_stolen_stream);
	tcase_set_timeout(tcase, 60);
	return check_run(tcase);
}
