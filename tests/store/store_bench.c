/*
 * store_bench.c - how many rows of the action log per second paige-store makes durable
 * over the bus.
 *
 *   store_bench [seconds]
 *
 * Prints for action.append in groups and for activity.selection one by one: rows
 * acknowledged per second and, as proof, rows that are in the file.
 */
#include "common/base/ids.h"
#include "tests/store/store_process.h"
#include <stdio.h>
#include <stdlib.h>

#define IN_FLIGHT_MAX 1000 /* calls, under the BUS_CONGESTED_CALLS of one caller */

struct bench {
	struct store_process process;
	enum method method;
	int rows_per_call;
	long sent, acknowledged; /* rows */
	long failed;
	int in_flight;
	bool done;
	struct mono end;
};

static void on_answer(void *arg, const struct bus_reply *reply);

static void add_row(struct buf *body, const char *id, const char *at, long n)
{
	buf_printf(body,
		"{\"id\":\"%s\",\"type\":\"selection\",\"data\":{\"path\":\"src/handlers/"
		"file_%ld.ts\","
		"\"range\":{\"startLine\":1,\"startColumn\":1,\"endLine\":4,"
		"\"endColumn\":2},"
		"\"textLength\":%ld},\"createdAt\":\"%s\"}",
		id, n % 100, n % 500, at);
}

static void send_call(struct bench *b)
{
	struct buf body = {0};
	struct wall now = clock_wall();
	char id[UUID_SIZE], key[UUID_SIZE], at[WALL_ISO_SIZE];

	wall_iso(now, at);
	if (b->method == METHOD_ACTION_APPEND) {
		buf_add_str(&body, STR_LIT("{\"actions\":["));
		for (int i = 0; i < b->rows_per_call; i++) {
			uuid7(now, id);
			if (i > 0)
				buf_add_char(&body, ',');
			add_row(&body, id, at, b->sent + i);
		}
		buf_add_str(&body, STR_LIT("]}"));
	} else {
		buf_printf(&body,
			"{\"path\":\"src/handlers/"
			"file_%ld.ts\",\"range\":{\"startLine\":1,"
			"\"startColumn\":1,\"endLine\":4,\"endColumn\":2},\"textLength\":"
			"%ld}",
			b->sent % 100, b->sent % 500);
	}
	uuid7(now, key);
	b->sent += b->rows_per_call;
	b->in_flight++;
	bus_call(b->process.bus, b->method, str_of(key), buf_str(&body), 0, on_answer, b);
	buf_free(&body);
}

static void refill(struct bench *b)
{
	while (b->in_flight < IN_FLIGHT_MAX &&
		!bus_congested(b->process.bus, WORKER_STORE) &&
		clock_mono().us < b->end.us)
		send_call(b);
	b->done = b->in_flight == 0;
}

static void on_answer(void *arg, const struct bus_reply *reply)
{
	struct bench *b = arg;

	b->in_flight--;
	if (reply->status == BUS_OK)
		b->acknowledged += b->rows_per_call;
	else
		b->failed++;
	if (b->in_flight < IN_FLIGHT_MAX / 2)
		refill(b);
}

static void run(enum method method, int rows_per_call, int seconds)
{
	struct bench b = {.method = method, .rows_per_call = rows_per_call};
	struct arena arena = {0};
	struct mono start;
	double took;
	char key[UUID_SIZE];
	long stored;

	store_process_init(&b.process, getenv("STORE_BENCH_DATA_DIR"));
	store_process_start(&b.process);
	if (!store_process_wait_ready(&b.process))
		abort();
	uuid7(clock_wall(), key);
	if (store_call(
		    &b.process, METHOD_SESSION_START, key, "{\"issueNumber\":1}", &arena)
			.status != BUS_OK)
		abort();
	start = clock_mono();
	b.end = mono_add_ms(start, seconds * 1000);
	refill(&b);
	store_process_turn(&b.process, &b.done, seconds * 1000 + 60000);
	took = (double)(clock_mono().us - start.us) / 1e6;
	stored = store_count(&b.process,
		"SELECT count(*) FROM action_log WHERE action_type = 'selection'");
	printf("%-20s %4d row%s a call: %8.0f rows/s acknowledged, %ld of %ld in the "
	       "file, %ld calls failed\n",
		method_infos[method].name, rows_per_call, rows_per_call == 1 ? " " : "s",
		(double)b.acknowledged / took, stored, b.acknowledged, b.failed);
	fflush(stdout);
	store_process_stop(&b.process);
	store_process_fini(&b.process);
	arena_free(&arena);
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 3;

	run(METHOD_ACTION_APPEND, 100, seconds);
	run(METHOD_ACTION_APPEND, 10, seconds);
	run(METHOD_ACTION_APPEND, 1, seconds);
	run(METHOD_ACTIVITY_SELECTION, 1, seconds);
	return 0;
}
