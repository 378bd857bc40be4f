/*
 * test_memory_process.c - memory.db under a real paige-store: killed, damaged, searched
 * while others save.
 */
#include "common/base/ids.h"
#include "tests/check_run.h"
#include "tests/store/store_process.h"
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SECOND 1000
#define SIZE 1024 /* numbers of a vector */

static struct store_process p;
static struct arena arena;
static char memory_path[128];

static void setup(void)
{
	arena = (struct arena){0};
	store_process_init(&p, NULL);
	snprintf(memory_path, sizeof(memory_path), "%s/memory.db", p.data_dir);
	store_process_start(&p);
	ck_assert(store_process_wait_ready(&p));
}

static void teardown(void)
{
	store_process_fini(&p);
	arena_free(&arena);
}

static const char *new_key(char out[UUID_SIZE])
{
	uuid7(clock_wall(), out);
	return out;
}

static struct bus_reply must(struct bus_reply reply)
{
	ck_assert_msg(reply.status == BUS_OK, "%.*s %.*s", STR_ARG(reply.code),
		STR_ARG(reply.message));
	return reply;
}

static struct str vector_text(int seed)
{
	float values[SIZE] = {0};
	unsigned char *text = arena_alloc(&arena, sizeof(values) * 4 / 3 + 8);

	values[seed % SIZE] = 1;
	values[(seed * 7 + 1) % SIZE] += 0.5f;
	return (struct str){(const char *)text,
		(size_t)EVP_EncodeBlock(text, (const unsigned char *)(const void *)values,
			sizeof(values))};
}

static struct bus_reply add_memories(const char *key, int count, int from)
{
	struct buf body = {0};
	struct bus_reply reply;

	buf_add_str(&body, STR_LIT("{\"embedder\":\"e\",\"memories\":["));
	for (int i = from; i < from + count; i++)
		buf_printf(&body,
			"%s{\"id\":\"\",\"content\":\"memory number %d of "
			"many\",\"embedding\":\"%.*s\",\"sessionId\":\"s\",\"project\":"
			"\"p\","
			"\"createdAt\":\"2026-01-01T00:00:00.000Z\",\"importance\":"
			"\"low\","
			"\"tags\":\"\"}",
			i > from ? "," : "", i, STR_ARG(vector_text(i)));
	buf_add_str(&body, STR_LIT("]}"));
	buf_add_char(&body, '\0');
	reply = store_call(&p, METHOD_MEMORY_ADD, key, body.data, &arena);
	buf_free(&body);
	return reply;
}

static const char *search_body(int seed)
{
	return arena_printf(&arena,
		"{\"embedder\":\"e\",\"embedding\":\"%.*s\",\"text\":\"number "
		"%d\",\"count\":5}",
		STR_ARG(vector_text(seed)), seed)
		.ptr;
}

START_TEST(memories_survive_a_kill_and_are_kept_once)
{
	char key[UUID_SIZE];

	must(add_memories(new_key(key), 20, 0));
	store_process_kill(&p);
	store_process_start(&p);
	ck_assert(store_process_wait_ready(&p));
	ck_assert(str_is(must(add_memories(key, 20, 0)).body, "{\"count\":20}"));
	ck_assert(
		str_is(must(store_call(&p, METHOD_MEMORY_COUNT, NULL, "{}", &arena)).body,
			"{\"count\":20}"));
	ck_assert_ptr_nonnull(strstr(
		must(store_call(&p, METHOD_MEMORY_SEARCH, NULL, search_body(7), &arena))
			.body.ptr,
		"{\"memories\":[{\"id\":\"mem_s_7\""));
	ck_assert_int_eq(store_process_stop(&p), 0);
	/* A clean end leaves no log behind. */
	ck_assert_int_ne(
		access(arena_printf(&arena, "%s-wal", memory_path).ptr, F_OK), 0);
}
END_TEST

START_TEST(a_damaged_memory_costs_the_memories_only)
{
	struct bus_reply reply;
	char key[UUID_SIZE], text[8192] = "", *line;
	int fd, told = 0;

	must(add_memories(new_key(key), 20, 0));
	ck_assert_int_eq(store_process_stop(&p), 0);
	fd = open(memory_path, O_WRONLY);
	ck_assert_int_eq(pwrite(fd, "nothing of the kind", 19, 0), 19);
	close(fd);
	unlink(p.log);
	store_process_start(&p);
	ck_assert(store_process_wait_ready(&p));
	must(store_call(
		&p, METHOD_SESSION_START, new_key(key), "{\"issueNumber\":7}", &arena));
	ck_assert_str_eq(p.condition, "degraded");
	ck_assert_ptr_nonnull(strstr(buf_str(&p.reason).ptr, memory_path));
	reply = store_call(&p, METHOD_MEMORY_SEARCH, NULL, search_body(7), &arena);
	ck_assert(str_is(reply.code, "STORAGE_FAILED"));
	ck_assert_ptr_nonnull(strstr(reply.message.ptr, memory_path));
	reply = store_call(&p, METHOD_MEMORY_COUNT, NULL, "{}", &arena);
	ck_assert(str_is(reply.code, "STORAGE_FAILED"));
	ck_assert(str_is(add_memories(new_key(key), 1, 0).code, "STORAGE_FAILED"));
	fd = open(p.log, O_RDONLY);
	ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	for (line = strstr(text, memory_path); line; line = strstr(line + 1, memory_path))
		told++;
	ck_assert_msg(told == 1, "%s", text);
	ck_assert_int_eq(store_process_stop(&p), 0);
}
END_TEST

static void on_search(void *arg, const struct bus_reply *reply)
{
	bool *done = arg;

	ck_assert_int_eq(reply->status, BUS_OK);
	*done = true;
}

static long rss_kib(void)
{
	char path[64], text[4096] = "";
	const char *line;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)p.pid);
	fd = open(path, O_RDONLY);
	ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	line = strstr(text, "VmRSS:");
	return line ? atol(line + 6) : 0;
}

START_TEST(saving_goes_on_during_a_search_of_many)
{
	enum { BATCH = 500, BATCHES = 20 };
	char key[UUID_SIZE];
	bool done = false;
	long before;
	int saved = 0;

	must(store_call(&p, METHOD_SESSION_START, new_key(key), "{}", &arena));
	before = rss_kib();
	for (int i = 0; i < BATCHES; i++)
		must(add_memories(new_key(key), BATCH, i * BATCH));
	bus_call(p.llm, METHOD_MEMORY_SEARCH, (struct str){0}, str_of(search_body(4711)),
		0, on_search, &done);
	while (!done && saved < 1000) {
		must(store_call(&p, METHOD_ACTIVITY_TAB_SWITCH, new_key(key),
			"{\"toPath\":\"x\"}", &arena));
		saved++;
	}
	printf("%d saves during a search of %d memories; RSS %ld KiB, %ld KiB before "
	       "them\n",
		saved, BATCH * BATCHES, rss_kib(), before);
	ck_assert(done);
	ck_assert_int_ge(saved, 2);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("memory");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, memories_survive_a_kill_and_are_kept_once);
	tcase_add_test(tc, a_damaged_memory_costs_the_memories_only);
	tcase_add_test(tc, saving_goes_on_during_a_search_of_many);
	return check_run(tc);
}
