/* memory.db as a file: large, damaged, foreign, taken away. */
#include "common/base/alloc.h"
#include "proto/codec/messages.h"
#include "tests/unit/store/memory_fixture.h"
#include "workers/store/service/health.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- many ---- */

#define MANY 10000
/* Times as long as the plain products take: twice what it should take. */
#define SEARCH_LIMIT 10

#if defined(__SANITIZE_ADDRESS__) || defined(__OPTIMIZE_SIZE__) || !defined(__OPTIMIZE__)
#define FULL_SPEED false
#else
#define FULL_SPEED true
#endif

static void fill_with_noise(int count)
{
	static const char *const words[] = {"race", "condition", "token", "grid",
		"deadlock", "cache", "session", "parser", "socket", "transaction",
		"callback", "index"};
	sqlite3 *db = store.memory->db.handle;
	sqlite3_stmt *memory, *vector, *text;
	float values[EMBEDDING_MAX] = {0};
	unsigned seed = 1;

	ck_assert_int_eq(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_prepare_v2(db,
			"INSERT INTO memories VALUES (?1, 'mem_n_' || ?1, 'n', '/p', "
			"'2026-01-01T00:00:00.000Z', 'low', '', ?2, '')",
			-1, &memory, NULL),
		SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_prepare_v2(db, "INSERT INTO vectors VALUES (?1, 'hash-1', ?2)",
			-1, &vector, NULL),
		SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_prepare_v2(db,
			"INSERT INTO words (rowid, content, tags) VALUES (?1, ?2, '')",
			-1, &text, NULL),
		SQLITE_OK);
	for (int i = 1; i <= count; i++) {
		char content[200];
		int len = 0;

		for (int k = 0; k < 12; k++, seed = seed * 1664525 + 1013904223)
			len += snprintf(content + len, sizeof(content) - (size_t)len,
				"%s%u ", words[seed >> 16 & 7], k % 3 ? 0 : seed >> 20);
		values[seed % EMBEDDING_MAX] = 1;
		sqlite3_bind_int(memory, 1, i);
		sqlite3_bind_text(memory, 2, content, len, SQLITE_STATIC);
		sqlite3_bind_int(vector, 1, i);
		sqlite3_bind_blob(vector, 2, values, sizeof(values), SQLITE_STATIC);
		sqlite3_bind_int(text, 1, i);
		sqlite3_bind_text(text, 2, content, len, SQLITE_STATIC);
		ck_assert_int_eq(sqlite3_step(memory), SQLITE_DONE);
		ck_assert_int_eq(sqlite3_step(vector), SQLITE_DONE);
		ck_assert_int_eq(sqlite3_step(text), SQLITE_DONE);
		sqlite3_reset(memory);
		sqlite3_reset(vector);
		sqlite3_reset(text);
		values[seed % EMBEDDING_MAX] = 0;
	}
	sqlite3_finalize(memory);
	sqlite3_finalize(vector);
	sqlite3_finalize(text);
	ck_assert_int_eq(sqlite3_exec(db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)", NULL,
				 NULL, NULL),
		SQLITE_OK);
}

/* Of this thread on a processor: a loaded machine does not count. */
static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* The products of a vector with that many others one by one, which tells how fast this machine is while it has other work. */
static double products_ms(const float *all, const float *vector)
{
	volatile float best = 0;
	double begin = cpu_ms();

	for (int i = 0; i < MANY; i++) {
		float sum = 0;

		for (int n = 0; n < EMBEDDING_MAX; n++)
			sum += all[(size_t)i * EMBEDDING_MAX + (size_t)n] * vector[n];
		if (sum > best)
			best = sum;
	}
	return cpu_ms() - begin;
}

START_TEST(ten_thousand_are_searched_in_time)
{
	float *all = xcalloc((size_t)MANY * EMBEDDING_MAX, sizeof(*all));
	float vector[EMBEDDING_MAX] = {1, 1};
	struct buf body = {0};
	double best = 1e9, products = 1e9;

	for (size_t i = 0; i < (size_t)MANY * EMBEDDING_MAX; i++)
		all[i] = (float)(i % 7);
	fill_with_noise(MANY);
	buf_printf(&body,
		"{\"embedder\":\"hash-1\",\"embedding\":\"%.*s\",\"count\":10,\"text\":"
		"\"race condition "
		"token0 in the grid0 cache0 of session0\"}",
		STR_ARG(base64_of(vector, sizeof(vector))));
	for (int i = 0; i < 10; i++) {
		double took = products_ms(all, vector), begin;

		products = took < products ? took : products;
		begin = cpu_ms();
		must_call(METHOD_MEMORY_SEARCH, NULL, body.data);
		took = cpu_ms() - begin;
		best = took < best ? took : best;
	}
	printf("%d memories of %d numbers searched in %.1f ms, products in %.1f ms\n",
		MANY, EMBEDDING_MAX, best, products);
	if (FULL_SPEED)
		ck_assert_double_lt(best, SEARCH_LIMIT * products);
	buf_free(&body);
	free(all);
}
END_TEST

START_TEST(a_search_of_many_leaves_the_loop_in_between)
{
	float vector[EMBEDDING_MAX] = {1, 1};
	const struct memory_search request = {.embedder = STR_LIT("hash-1"),
		.embedding = base64_of(vector, sizeof(vector)),
		.text = STR_LIT("race"),
		.count = 3,
		.has_count = true};
	struct call call = {.method = METHOD_MEMORY_SEARCH,
		.message = &request,
		.arena = &fixture_arena};
	int slices = 0, result;

	fill_with_noise(MANY);
	while ((result = memory_search(&store, &call)) == 1) {
		slices++;
		/* Others read meanwhile. */
		ck_assert_str_eq(memory_rows("SELECT count(*) FROM vectors"), "10000");
	}
	ck_assert_int_eq(result, 0);
	ck_assert_int_ge(slices, 1);
	ck_assert_ptr_nonnull(strstr(call.outcome.answer.ptr, "\"mem_n_"));
}
END_TEST

/* ---- the file ---- */

/* The condition of the worker, and why. */
static enum worker_condition condition(const char **reason)
{
	return health_condition(&store.health, reason);
}

static void break_file(const char *how)
{
	struct buf bytes = {0};

	memory_close(&store);
	scratch_read(fixture_dir, "memory.db", &bytes);
	if (strcmp(how, "header") == 0)
		memset(bytes.data, 'x', 100);
	else if (strcmp(how, "page") == 0)
		memset(bytes.data + 4096, 0xA5, 4096);
	else if (strcmp(how, "end") == 0)
		bytes.len /= 2;
	else
		bytes.len = 7;
	scratch_write_bytes(fixture_dir, "memory.db", bytes.data, bytes.len);
	memory_open(&store, fixture_dir);
	buf_free(&bytes);
}

START_TEST(a_damaged_file_makes_memories_unavailable_and_nothing_else)
{
	static const char *const ways[] = {"header", "page", "end", "short"};
	struct buf before = {0}, after = {0};
	const char *reason;
	char content[32];

	for (int i = 0; i < 200; i++) {
		snprintf(content, sizeof(content), "memory %d", i);
		add(content, "s");
	}
	ck_assert_int_eq(condition(&reason), WORKER_FINE);
	break_file(ways[_i]);
	ck_assert(!memory_ready(&store));
	ck_assert_int_eq(condition(&reason), WORKER_DEGRADED);
	ck_assert_msg(strstr(reason, "/memory.db") != NULL, "%s", reason);
	ck_assert(health_may_write(&store.health));
	must_call(METHOD_SESSION_START, NULL, "{}");
	/* The file is left as it was found. */
	scratch_read(fixture_dir, "memory.db", &before);
	fixture_restart();
	ck_assert(!memory_ready(&store));
	ck_assert_int_eq(condition(&reason), WORKER_DEGRADED);
	scratch_read(fixture_dir, "memory.db", &after);
	ck_assert(str_eq(buf_str(&before), buf_str(&after)));
	buf_free(&before);
	buf_free(&after);
}
END_TEST

START_TEST(a_file_of_another_program_is_left_alone)
{
	const char *reason;

	memory_close(&store);
	scratch_write(fixture_dir, "memory.db", "");
	sqlite3 *db;
	ck_assert_int_eq(
		sqlite3_open(scratch_path(fixture_dir, "memory.db"), &db), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_exec(db, "PRAGMA application_id = 77; CREATE TABLE t (x)", NULL,
			NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	memory_open(&store, fixture_dir);
	ck_assert(!memory_ready(&store));
	ck_assert_int_eq(condition(&reason), WORKER_DEGRADED);
}
END_TEST

START_TEST(damage_found_while_running_gives_the_file_up)
{
	struct buf body = {0};
	const char *reason;
	char content[32];
	struct call call = {.method = METHOD_MEMORY_COUNT, .arena = &fixture_arena};

	for (int i = 0; i < 100; i++) {
		snprintf(content, sizeof(content), "memory %d", i);
		add(content, "s");
	}
	fixture_restart();
	/* Every page but the first, under the open connection. */
	scratch_read(fixture_dir, "memory.db", &body);
	memset(body.data + 4096, 0xA5, body.len - 4096);
	int fd = open(scratch_path(fixture_dir, "memory.db"), O_WRONLY);
	ck_assert_int_eq(pwrite(fd, body.data, body.len, 0), (ssize_t)body.len);
	close(fd);
	sqlite3_db_release_memory(store.memory->db.handle);
	ck_assert_int_eq(memory_count(&store, &call), -ECANCELED);
	ck_assert_str_eq(call.outcome.error->name, "STORAGE_FAILED");
	ck_assert(!memory_ready(&store));
	ck_assert_int_eq(condition(&reason), WORKER_DEGRADED);
	ck_assert(strstr(reason, "memory.db") != NULL);
	must_call(METHOD_SESSION_START, NULL, "{}");
	buf_free(&body);
}
END_TEST

START_TEST(a_file_that_is_taken_away_is_noticed)
{
	const char *reason;

	add("kept", "s");
	ck_assert_int_eq(rename(scratch_path(fixture_dir, "memory.db"),
				 scratch_path(fixture_dir, "m")),
		0);
	ck_assert(!memory_ready(&store));
	ck_assert_int_eq(condition(&reason), WORKER_DEGRADED);
	ck_assert(strstr(reason, "moved or removed") != NULL);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("store memory file");

	tcase_add_checked_fixture(tc, memory_setup, memory_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, ten_thousand_are_searched_in_time);
	tcase_add_test(tc, a_search_of_many_leaves_the_loop_in_between);
	tcase_add_loop_test(
		tc, a_damaged_file_makes_memories_unavailable_and_nothing_else, 0, 4);
	tcase_add_test(tc, a_file_of_another_program_is_left_alone);
	tcase_add_test(tc, damage_found_while_running_gives_the_file_up);
	tcase_add_test(tc, a_file_that_is_taken_away_is_noticed);
	return check_run(tc);
}
