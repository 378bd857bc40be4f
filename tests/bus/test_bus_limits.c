/*
 * The limits of calls over the real bus: deadlines, sizes, how many wait.
 */
#include "tests/bus/bus_rig.h"
#include "tests/check_run.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* One of each kind, all of the store. */
#define READ_BATCH METHOD_SESSION_ACTIVE
#define READ_ALONE METHOD_SESSION_RESTORED
#define KEYED_ALONE METHOD_STORE_BACKUP

static struct rig rig;
static pid_t store;

static void set_up(void)
{
	rig_init(&rig);
	store = 0;
}

static void tear_down(void)
{
	rig_kill(&store);
	rig_fini(&rig);
}

START_TEST(deadlines_are_kept)
{
	struct rig_call *batch, *alone, *waiting;

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	rig_call(&rig, READ_BATCH, 0, "{}");
	rig_call(&rig, READ_ALONE, 0, "{}");
	ck_assert(rig_wait(&rig, 5000));
	kill(store, SIGSTOP);
	batch = rig_call(&rig, READ_BATCH, 200, "{\"n\":1}");
	alone = rig_call(&rig, KEYED_ALONE, 200, "{\"n\":2}");
	rig_turn(&rig, 50);
	waiting = rig_call(&rig, READ_BATCH, 150, "{\"n\":3}");
	ck_assert(rig_wait(&rig, 5000));
	ck_assert_int_eq(batch->status, BUS_TIMEOUT);
	ck_assert_int_eq(alone->status, BUS_TIMEOUT);
	ck_assert_int_eq(waiting->status, BUS_TIMEOUT);
	ck_assert_int_ge(batch->ms, 200);
	ck_assert_int_lt(batch->ms, 300);
	kill(store, SIGCONT);
	/* What came too late is not done, and the way is free again. */
	ck_assert_int_eq(rig_call(&rig, READ_BATCH, 0, "{\"n\":4}")->done, false);
	rig_call(&rig, READ_ALONE, 0, "{\"n\":5}");
	ck_assert(rig_wait(&rig, 5000));
	ck_assert_int_eq(rig.calls[rig.count - 1].status, BUS_OK);
	ck_assert_int_eq(rig.calls[rig.count - 2].status, BUS_OK);
	{
		size_t count;
		int64_t *ledger = rig_ledger(&rig, &count);

		for (size_t i = 0; i < count; i++)
			ck_assert_int_ge(ledger[i], 4);
		ck_assert_uint_eq(count, 2);
		free(ledger);
	}
}
END_TEST

/* ---- sizes ---- */

START_TEST(too_big_and_alive)
{
	struct rig_call *request, *alone, *batch, *after;
	struct bus_stats stats;
	char *big = malloc(21 * 1024 * 1024);

	memset(big, ' ', 21 * 1024 * 1024);
	big[21 * 1024 * 1024 - 1] = '\0';
	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	request = rig_call(&rig, READ_ALONE, 0, "{}%s", big);
	alone = rig_call(&rig, READ_ALONE, 0, "{\"answer_bytes\":21000000}");
	batch = rig_call(&rig, READ_BATCH, 0, "{\"answer_bytes\":21000000}");
	after = rig_call(&rig, READ_BATCH, 0, "{\"n\":3}");
	ck_assert(rig_wait(&rig, 5000));
	ck_assert_int_eq(request->status, BUS_TOO_BIG);
	ck_assert(str_is(buf_str(&request->code), "TOO_BIG"));
	ck_assert_int_eq(alone->status, BUS_TOO_BIG);
	ck_assert_int_eq(batch->status, BUS_TOO_BIG);
	ck_assert_int_eq(after->status, BUS_OK);
	bus_get_stats(rig.bus, &stats);
	ck_assert_uint_eq(stats.resets, 0);
	free(big);
}
END_TEST

START_TEST(large_answers_come_in_parts)
{
	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	for (int i = 0; i < 60; i++)
		rig_call(&rig, READ_BATCH, 50000, "{\"n\":%d,\"answer_bytes\":%d}", i,
			i % 7 == 0 ? 9000000 : 700000);
	ck_assert(rig_wait(&rig, 50000));
	rig_check_all_ok(&rig);
	for (int i = 0; i < 60; i++) {
		ck_assert_int_eq(rig_number(&rig.calls[i], "n"), i);
		ck_assert_uint_gt(rig.calls[i].body.len, i % 7 == 0 ? 9000000 : 700000);
		ck_assert_uint_eq(rig.calls[i].order, (unsigned)i + 1);
	}
}
END_TEST

START_TEST(parts_survive_a_kill)
{
	bool dead = false;

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	for (int i = 0; i < 40; i++)
		rig_call(&rig, READ_BATCH, 50000, "{\"n\":%d,\"answer_bytes\":3000000%s}",
			i, i == 25 ? ",\"die\":\"received\"" : "");
	for (int turn = 0; !dead && turn < 100; turn++) {
		rig_turn(&rig, 100);
		dead = waitpid(store, NULL, WNOHANG) == store;
	}
	ck_assert_msg(dead, "the peer did not die");
	store = rig_peer(&rig, "store", NULL);
	ck_assert(rig_wait(&rig, 50000));
	rig_check_all_ok(&rig);
	for (int i = 0; i < 40; i++)
		ck_assert_int_eq(rig_number(&rig.calls[i], "n"), i);
}
END_TEST

/* ---- how many ---- */

static unsigned reliefs;

static void on_uncongested(void *arg, enum worker_id owner)
{
	ck_assert_ptr_eq(arg, &reliefs);
	ck_assert_int_eq(owner, WORKER_STORE);
	reliefs++;
}

START_TEST(congestion_and_refusal)
{
	unsigned refused = 0;

	reliefs = 0;
	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	bus_on_uncongested(rig.bus, on_uncongested, &reliefs);
	rig_call(&rig, READ_BATCH, 0, "{}");
	ck_assert(rig_wait(&rig, 5000));
	kill(store, SIGSTOP);
	for (int i = 0; i < BUS_MAX_CALLS + 50; i++) {
		rig_call(&rig, READ_BATCH, 0, "{}");
		ck_assert_int_eq(bus_congested(rig.bus, WORKER_STORE),
			i + 1 > BUS_CONGESTED_CALLS);
	}
	ck_assert(!bus_congested(rig.bus, WORKER_LLM));
	rig_turn(&rig, 100);
	ck_assert_uint_eq(reliefs, 0);
	kill(store, SIGCONT);
	ck_assert(rig_wait(&rig, 5000));
	for (unsigned i = 0; i < rig.count; i++) {
		ck_assert(rig.calls[i].status == BUS_OK ||
			  rig.calls[i].status == BUS_REFUSED);
		refused += rig.calls[i].status == BUS_REFUSED;
	}
	ck_assert_uint_eq(refused, 50);
	ck_assert_uint_eq(reliefs, 1);
	ck_assert(!bus_congested(rig.bus, WORKER_STORE));
}
END_TEST

/* Of ours, in bytes. */
static size_t resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t all = 0, pages = 0;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%zu %zu", &all, &pages), 2);
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* How many calls the store has had when it gets no more, while our loop stands still. */
static size_t taken_by_the_store(size_t at_least)
{
	size_t before = 0, now = 0;

	for (int quiet = 0, i = 0; quiet < 10 && i < 600; i++) {
		usleep(50000);
		free(rig_ledger(&rig, &now));
		quiet = now == before && now >= at_least ? quiet + 1 : 0;
		before = now;
	}
	return now;
}

/* What a byte takes: the thread sanitizer keeps several for each. */
#ifdef __SANITIZE_THREAD__
#define WATCHED 8
#else
#define WATCHED 1
#endif

/* Answers that come while the loop is busy are bounded by the messages under way. */
START_TEST(replies_wait_for_a_loop_that_is_busy)
{
	enum { BYTES = 256 * 1024 };
	const unsigned alone = 3 * BUS_MAX_REPLIES;
	size_t before, taken, held;

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	rig_call(&rig, READ_ALONE, 0, "{}");
	ck_assert(rig_wait(&rig, 5000));
	before = resident();
	for (unsigned i = 0; i < alone; i++)
		rig_call(&rig, READ_ALONE, 50000, "{\"n\":%u,\"answer_bytes\":%d}", i,
			BYTES);
	event_base_loop(rig.base, EVLOOP_NONBLOCK);
	taken = taken_by_the_store(BUS_MAX_REPLIES - 2);
	held = taken + 1 - rig.answered; /* the first call is in no ledger */
	ck_assert_uint_ge(held, BUS_MAX_REPLIES - 2);
	ck_assert_uint_le(held, BUS_MAX_REPLIES);
	ck_assert_uint_lt(resident(), before + 2 * WATCHED * BUS_MAX_REPLIES * BYTES);
	ck_assert(rig_wait(&rig, 50000));
	rig_check_all_ok(&rig);
}
END_TEST

START_TEST(a_path_that_is_too_long)
{
	char path[108];

	memset(path, 'd', sizeof(path));
	path[0] = '/';
	path[100] = '\0';
	errno = 0;
	ck_assert_ptr_null(bus_open(rig.base, WORKER_GATEWAY, path, 1));
	ck_assert_int_eq(errno, ENAMETOOLONG);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("bus_limits");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, deadlines_are_kept);
	tcase_add_test(tc, too_big_and_alive);
	tcase_add_test(tc, large_answers_come_in_parts);
	tcase_add_test(tc, parts_survive_a_kill);
	tcase_add_test(tc, congestion_and_refusal);
	tcase_add_test(tc, replies_wait_for_a_loop_that_is_busy);
	tcase_add_test(tc, a_path_that_is_too_long);
	return check_run(tc);
}
