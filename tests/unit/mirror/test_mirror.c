/* Tests of workers/mirror/sources.h: which rows are sent, and by which statement. */
#include "tests/check_run.h"
#include "workers/mirror/mirror.h"
#include "workers/mirror/sources.h"
#include <stdlib.h>

#define ROW(n, id, at)                                                                   \
	"{\"number\":" n ",\"id\":\"" id                                                 \
	"\",\"session_id\":\"s\",\"type\":\"tab_switch\",\"at\":\"" at                   \
	"\",\"phase\":null,\"hint_level\":null,\"signal\":null}"
#define TIME "2026-01-01T00:00:00.000Z"

static struct batch make(const char *rows)
{
	yyjson_doc *doc = yyjson_read(rows, strlen(rows), 0);
	struct batch batch;

	ck_assert_ptr_nonnull(doc);
	batch_make(MIRROR_ACTIONS, yyjson_doc_get_root(doc), &batch);
	yyjson_doc_free(doc);
	return batch;
}

START_TEST(rows_that_are_right_are_sent_as_they_are)
{
	static const char rows[] = "[" ROW("7", "a", TIME) "," ROW("8", "b", TIME) "]";
	struct batch batch = make(rows);

	ck_assert_str_eq(batch.rows.data, rows);
	ck_assert_uint_eq(batch.count, 2);
	ck_assert_uint_eq(batch.damaged, 0);
	ck_assert_int_eq(batch.last, 8);
	ck_assert_str_eq(batch.last_id, "b");
	batch_free(&batch);
}
END_TEST

START_TEST(pauses_are_as_long_as_said_or_a_little_shorter)
{
	static const int pauses[] = {MIRROR_REST_MIN_MS, MIRROR_REST_MAX_MS,
		MIRROR_RETRY_MAX_MS, MIRROR_CONSENT_MS};
	int ms = pauses[_i];

	ck_assert_int_eq(mirror_pause_ms(ms, 0), ms);
	ck_assert_int_eq(mirror_pause_ms(ms, 255), ms * 3 / 5);
	for (int dice = 1; dice <= 255; dice++)
		ck_assert_int_lt(mirror_pause_ms(ms, (unsigned char)dice),
			mirror_pause_ms(ms, (unsigned char)(dice - 1)));
}
END_TEST

/* One that PostgreSQL would refuse would keep all others back for ever. */
START_TEST(damaged_rows_are_left_out_and_the_position_passes_them)
{
	static const char *const damaged[] = {
		ROW("9", "c", "2026-13-45T00:00:00.000Z"),
		ROW("9", "c", "yesterday"),
		"{\"number\":9,\"id\":\"c\"}",
		ROW("9", "c", "2026-01-01T00:00:00.000Z\",\"more\":\"x"),
		"{\"number\":9,\"id\":\"c\",\"session_id\":\"s\",\"type\":\"a\\u0000b\","
		"\"at\":\"" TIME "\",\"phase\":null,\"hint_level\":null,\"signal\":null}",
		"{\"number\":9,\"id\":\"c\",\"session_id\":\"s\",\"type\":\"t\","
		"\"at\":\"" TIME
		"\",\"phase\":\"x\",\"hint_level\":null,\"signal\":null}",
	};
	char rows[1000];
	struct batch batch;

	snprintf(rows, sizeof(rows), "[%s,%s]", ROW("8", "b", TIME), damaged[_i]);
	batch = make(rows);
	ck_assert_str_eq(batch.rows.data, "[" ROW("8", "b", TIME) "]");
	ck_assert_uint_eq(batch.damaged, 1);
	ck_assert_int_eq(batch.last, 9);
	ck_assert_str_eq(batch.last_id, "c");
	batch_free(&batch);
	snprintf(rows, sizeof(rows), "[%s]", damaged[_i]);
	batch = make(rows);
	ck_assert_str_eq(batch.rows.data, "[]");
	ck_assert_int_eq(batch.last, 9);
	batch_free(&batch);
}
END_TEST

START_TEST(one_statement_writes_rows_and_position)
{
	for (int i = 0; i < SOURCE_COUNT; i++) {
		struct buf sql = {0};

		source_statement(i, &sql);
		ck_assert_ptr_nonnull(strstr(sql.data, source_name(i)));
		ck_assert_ptr_null(strchr(sql.data, ';'));
		ck_assert(!strstr(sql.data, "paige.positions") == !source_is_log(i));
		/* A log never changes a row. */
		if (source_is_log(i))
			ck_assert_ptr_nonnull(strstr(sql.data,
				" ON CONFLICT DO NOTHING) INSERT INTO paige.positions"));
		buf_free(&sql);
	}
}
END_TEST

/* Row-level security holds for learners; whoever owns the database is held by the statement alone. */
START_TEST(what_is_read_back_is_the_learners_alone)
{
	for (int i = 0; i < SOURCE_COUNT; i++) {
		struct buf sql = {0};
		char from[100];

		snprintf(from, sizeof(from),
			"* FROM paige.%s WHERE learner = current_user", source_name(i));
		source_query(i, &sql);
		ck_assert_ptr_nonnull(strstr(sql.data, from));
		ck_assert_ptr_null(strchr(sql.data, ';'));
		ck_assert_ptr_nonnull(strstr(sql.data, "'number', t.\"number\""));
		buf_free(&sql);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("sources");

	tcase_add_test(tc, rows_that_are_right_are_sent_as_they_are);
	tcase_add_loop_test(
		tc, damaged_rows_are_left_out_and_the_position_passes_them, 0, 6);
	tcase_add_loop_test(tc, pauses_are_as_long_as_said_or_a_little_shorter, 0, 4);
	tcase_add_test(tc, one_statement_writes_rows_and_position);
	tcase_add_test(tc, what_is_read_back_is_the_learners_alone);
	return check_run(tc);
}
