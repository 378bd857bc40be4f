/*
 * Calls over the real bus: every answer exactly once, effects exactly once, order,
 * limits, while the other side is killed, stopped, slow or away.
 */
#include "tests/bus/bus_rig.h"
#include "tests/check_run.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* One of each kind, all of the store. */
#define READ_BATCH METHOD_SESSION_ACTIVE
#define READ_ALONE METHOD_SESSION_RESTORED
#define KEYED_BATCH METHOD_ACTIVITY_IDLE_END
#define KEYED_ALONE METHOD_STORE_BACKUP
#define UNSERVED METHOD_SESSION_STATE
/* Of llm. */
#define ONCE_ALONE METHOD_DASHBOARD_REFRESH_ISSUES

static struct rig rig;
static pid_t store, llm;

static void set_up(void)
{
	rig_init(&rig);
	store = llm = 0;
}

static void tear_down(void)
{
	rig_kill(&store);
	rig_kill(&llm);
	rig_fini(&rig);
}

/* ---- the plain way ---- */

START_TEST(all_kinds_are_answered)
{
	static const enum method kinds[] = {
		READ_BATCH, READ_ALONE, KEYED_BATCH, KEYED_ALONE};

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	for (int i = 0; i < 400; i++)
		rig_call(&rig, kinds[i % 4], 0, "{\"n\":%d}", i);
	ck_assert(rig_wait(&rig, 5000));
	rig_check_all_ok(&rig);
	for (int i = 0; i < 400; i++)
		ck_assert_int_eq(rig_number(&rig.calls[i], "n"), i);
}
END_TEST

START_TEST(calls_made_before_the_owner_is_there_wait)
{
	rig_start(&rig);
	rig_call(&rig, READ_BATCH, 0, "{\"n\":1}");
	rig_call(&rig, READ_ALONE, 0, "{\"n\":2}");
	rig_turn(&rig, 300);
	ck_assert_uint_eq(rig.answered, 0);
	store = rig_peer(&rig, "store", NULL);
	ck_assert(rig_wait(&rig, 5000));
	rig_check_all_ok(&rig);
}
END_TEST

START_TEST(unserved_and_malformed)
{
	struct rig_call *unserved, *not_json, *wrong;

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	unserved = rig_call(&rig, UNSERVED, 0, "{\"include\":[]}");
	not_json = rig_call(&rig, READ_BATCH, 0, "{\"n\":");
	wrong = rig_call(&rig, METHOD_HINTS_LEVEL_CHANGE, 0, "{\"from\":7}");
	ck_assert(rig_wait(&rig, 5000));
	ck_assert_int_eq(unserved->status, BUS_ERROR);
	ck_assert(str_is(buf_str(&unserved->code), "NOT_IMPLEMENTED"));
	ck_assert(str_is(buf_str(&unserved->message),
		"session.state is not served by the store worker"));
	ck_assert_int_eq(not_json->status, BUS_ERROR);
	ck_assert(str_is(buf_str(&not_json->code), "INVALID_MESSAGE"));
	ck_assert_int_eq(wrong->status, BUS_ERROR);
	ck_assert(str_is(buf_str(&wrong->code), "INVALID_MESSAGE"));
	ck_assert_msg(str_starts(buf_str(&wrong->message), "payload"), "%.*s",
		STR_ARG(buf_str(&wrong->message)));
}
END_TEST

START_TEST(a_slow_lone_call_holds_up_nobody)
{
	struct rig_call *slow, *other;

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	slow = rig_call(&rig, READ_ALONE, 0, "{\"delay\":400}");
	for (int i = 0; i < 20; i++)
		other = rig_call(&rig, i % 2 ? READ_ALONE : READ_BATCH, 0, "{}");
	ck_assert(rig_wait(&rig, 3000));
	rig_check_all_ok(&rig);
	ck_assert_int_lt(other->ms, 300);
	ck_assert_uint_eq(slow->order, rig.count);
}
END_TEST

/* A batch that takes long gives others their turn, and is answered in order all the same.
 */
START_TEST(a_long_batch_lets_others_in)
{
	struct rig_call *last_busy, *lone;

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	for (int i = 0; i < 100; i++)
		last_busy = rig_call(&rig, READ_BATCH, 0, "{\"n\":%d,\"busy\":3}", i);
	lone = rig_call(&rig, READ_ALONE, 0, "{}");
	ck_assert(rig_wait(&rig, 5000));
	rig_check_all_ok(&rig);
	ck_assert_int_lt(lone->ms, last_busy->ms - 50);
	ck_assert_int_ge(last_busy->ms, 300);
	for (unsigned i = 1; i < 100; i++)
		ck_assert_uint_gt(rig.calls[i].order, rig.calls[i - 1].order);
}
END_TEST

/* ---- the owner is killed ---- */

static const struct {
	const char *step;
	enum method method;
} deaths[] = {
	{"received", KEYED_BATCH},
	{"done", KEYED_BATCH},
	{"answered", KEYED_BATCH},
	{"received", KEYED_ALONE},
	{"done", KEYED_ALONE},
	{"answered", KEYED_ALONE},
};

START_TEST(killed_at_each_step_once)
{
	enum { CALLS = 30 };
	bool seen[CALLS] = {false};
	int64_t *ledger;
	size_t count;

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	for (int i = 0; i < CALLS; i++)
		rig_call(&rig, deaths[_i].method, 0,
			i == 10 ? "{\"n\":%d,\"die\":\"%s\"}" : "{\"n\":%d}", i,
			deaths[_i].step);
	rig_turn(&rig, 300);
	ck_assert_int_eq(waitpid(store, NULL, 0), store);
	store = rig_peer(&rig, "store", NULL);
	ck_assert(rig_wait(&rig, 3000));
	rig_check_all_ok(&rig);
	ledger = rig_ledger(&rig, &count);
	ck_assert_uint_eq(count, CALLS);
	for (size_t i = 0; i < count; i++) {
		ck_assert(!seen[ledger[i]]);
		seen[ledger[i]] = true;
		if (deaths[_i].method == KEYED_BATCH)
			ck_assert_int_eq(ledger[i], i);
	}
	free(ledger);
}
END_TEST

START_TEST(once_is_not_repeated)
{
	struct rig_call *once, *later;

	llm = rig_peer(&rig, "llm", NULL);
	rig_start(&rig);
	once = rig_call(&rig, ONCE_ALONE, 0, "{\"n\":1,\"die\":\"done\"}");
	ck_assert(rig_wait(&rig, 5000));
	ck_assert_int_eq(once->status, BUS_RESET);
	ck_assert(str_is(buf_str(&once->code), "UNAVAILABLE"));
	waitpid(llm, NULL, 0);
	/* One that was not sent yet waits for the owner. */
	later = rig_call(&rig, ONCE_ALONE, 0, "{\"n\":2}");
	rig_turn(&rig, 100);
	llm = rig_peer(&rig, "llm", NULL);
	ck_assert(rig_wait(&rig, 5000));
	ck_assert_int_eq(later->status, BUS_OK);
}
END_TEST

/* With reads nothing dedups: what the ledger shows is the order of handling itself. */
START_TEST(order_over_resets)
{
	enum { CALLS = 3000, KILLS = 10 };
	int64_t *ledger, highest = -1, previous = -1;
	struct bus_stats stats;
	struct bus_owner_stats took;
	uint64_t within = 0;
	size_t count;

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	for (int i = 0; i < CALLS; i++) {
		bool deadly = i % (CALLS / KILLS) == 150; /* is answered after the kill */

		rig_call(&rig, READ_BATCH, 0, "{\"n\":%d,\"delay\":%d}", i,
			deadly ? 50 : i % 50 == 0);
		if (i % 10 == 0)
			rig_turn(&rig, 1);
		if (deadly) {
			rig_kill(&store);
			store = rig_peer(&rig, "store", NULL);
		}
	}
	ck_assert(rig_wait(&rig, 10000));
	rig_check_all_ok(&rig);
	ledger = rig_ledger(&rig, &count);
	for (size_t i = 0; i < count; i++) {
		/* Nothing is skipped, and a repeat begins where an answer is missing. */
		ck_assert_int_le(ledger[i], highest + 1);
		if (ledger[i] != previous + 1)
			ck_assert_msg(ledger[i] <= previous, "%zu: %lld after %lld", i,
				(long long)ledger[i], (long long)previous);
		previous = ledger[i];
		if (ledger[i] > highest)
			highest = ledger[i];
	}
	ck_assert_int_eq(highest, CALLS - 1);
	ck_assert_int_eq(previous, CALLS - 1);
	for (unsigned i = 1; i < rig.count; i++)
		ck_assert_uint_gt(rig.calls[i].order, rig.calls[i - 1].order);
	bus_get_stats(rig.bus, &stats);
	ck_assert_uint_gt(stats.resets, 0);
	ck_assert_uint_eq(stats.in_flight, 0);
	bus_get_owner_stats(rig.bus, WORKER_STORE, &took);
	ck_assert_uint_eq(took.count, stats.calls);
	ck_assert_uint_eq(took.waiting, 0);
	for (int i = 0; i < BUS_TOOK_LIMIT_COUNT; i++)
		within += took.within[i];
	ck_assert_uint_eq(within, took.count);
	free(ledger);
}
END_TEST

/* Nobody is there, and nobody is waited for. */
START_TEST(says_at_once_that_nobody_will_come)
{
	struct rig_call *stopped, *not_enabled, *later;

	rig_start(&rig);
	bus_set_stopped(rig.bus, WORKER_STORE, true);
	bus_set_enabled(rig.bus, WORKER_LLM, false);
	stopped = rig_call(&rig, READ_ALONE, 0, "{}");
	not_enabled = rig_call(&rig, ONCE_ALONE, 0, "{}");
	ck_assert(rig_wait(&rig, 1000));
	ck_assert_int_eq(stopped->status, BUS_STOPPED);
	ck_assert_int_eq(not_enabled->status, BUS_NOT_ENABLED);
	bus_set_stopped(rig.bus, WORKER_STORE, false);
	store = rig_peer(&rig, "store", NULL);
	later = rig_call(&rig, READ_ALONE, 0, "{}");
	ck_assert(rig_wait(&rig, 5000));
	ck_assert_int_eq(later->status, BUS_OK);
}
END_TEST

START_TEST(two_hundred_restarts)
{
	int before, after;

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	rig_call(&rig, READ_BATCH, 0, "{}");
	rig_call(&rig, READ_ALONE, 0, "{}");
	ck_assert(rig_wait(&rig, 5000));
	before = rig_open_fds();
	for (int i = 0; i < 200; i++) {
		rig_call(&rig, READ_BATCH, 0, "{\"n\":%d}", i);
		rig_call(&rig, KEYED_ALONE, 0, "{\"n\":%d}", i);
		if (i % 2)
			rig_turn(&rig, 1);
		rig_kill(&store);
		store = rig_peer(&rig, "store", NULL);
		ck_assert_msg(rig_wait(&rig, 5000), "restart %d", i);
	}
	rig_check_all_ok(&rig);
	rig_turn(&rig, 500);
	after = rig_open_fds();
	ck_assert_msg(
		after <= before + 2, "%d descriptors before, %d after", before, after);
}
END_TEST

/* ---- the owner stops ---- */

START_TEST(stop_answers_what_is_in_flight)
{
	struct rig_call *late;

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	for (int i = 0; i < 10; i++)
		rig_call(&rig, i % 2 ? READ_ALONE : READ_BATCH, 0,
			"{\"n\":%d,\"delay\":250}", i);
	ck_assert(rig_received(&rig, 10, 2000));
	kill(store, SIGTERM);
	rig_turn(&rig, 60);
	late = rig_call(&rig, READ_ALONE, 0, "{\"n\":99}");
	for (int i = 0; i < 40 && rig.answered < 10; i++)
		rig_turn(&rig, 50);
	for (int i = 0; i < 10; i++)
		ck_assert_msg(
			rig.calls[i].done && rig.calls[i].status == BUS_OK, "call %d", i);
	ck_assert(!late->done);
	ck_assert_int_eq(rig_stop(&store), 0);
	ck_assert(!rig_has_socket(&rig, "store/rep"));
	ck_assert(!rig_has_socket(&rig, "store/pub"));
	store = rig_peer(&rig, "store", NULL);
	ck_assert(rig_wait(&rig, 2000));
	rig_check_all_ok(&rig);
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 8, CALLS_EACH = 300 };
static _Atomic int threads_left;

static void *flow(void *arg)
{
	int number = (int)(intptr_t)arg;

	for (int i = 0; i < CALLS_EACH; i++) {
		struct arena arena = {0};
		struct bus_reply reply =
			bus_call_wait(rig.bus, i % 2 ? READ_BATCH : READ_ALONE,
				(struct str){NULL, 0}, NULL, 0, &arena);

		ck_assert_int_eq(reply.status, BUS_OK);
		ck_assert(str_is(reply.body, "{\"n\":0,\"pad\":\"\"}"));
		arena_free(&arena);
	}
	(void)number;
	threads_left--;
	return NULL;
}

START_TEST(flows_wait)
{
	pthread_t threads[THREADS];

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	threads_left = THREADS;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, flow, (void *)(intptr_t)i);
	for (int i = 0; i < 200 && threads_left; i++)
		rig_turn(&rig, 50);
	ck_assert_int_eq(threads_left, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}
END_TEST

/* Whoever says that it is the gateway has the gateway's key. */
START_TEST(only_the_right_key_is_heard)
{
	const struct bus_keys foreign = {.to[WORKER_STORE] = {.high = 1, .low = 2}};
	struct rig_call *call;

	store = rig_peer(&rig, "store", NULL);
	bus_set_keys(rig.bus, &foreign);
	rig_start(&rig);
	call = rig_call(&rig, READ_ALONE, 500, "{}");
	ck_assert(rig_wait(&rig, 3000));
	ck_assert_int_eq(call->status, BUS_TIMEOUT);
	bus_set_keys(rig.bus, &(struct bus_keys){0});
	call = rig_call(&rig, READ_ALONE, 3000, "{}");
	ck_assert(rig_wait(&rig, 4000));
	ck_assert_int_eq(call->status, BUS_OK);
}
END_TEST

START_TEST(only_those_named_may_call)
{
	struct rig_call *call;
	pid_t triage = rig_peer(&rig, "llm", NULL);

	rig_start(&rig);
	call = rig_call(&rig, METHOD_TRIAGE, 3000, "{}");
	ck_assert(rig_wait(&rig, 4000));
	rig_kill(&triage);
	ck_assert_int_eq(call->status, BUS_ERROR);
	ck_assert(str_is(buf_str(&call->code), "NOT_ALLOWED"));
	ck_assert(str_is(
		buf_str(&call->message), "triage.run is not for the gateway worker"));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("bus_calls");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, all_kinds_are_answered);
	tcase_add_test(tc, calls_made_before_the_owner_is_there_wait);
	tcase_add_test(tc, unserved_and_malformed);
	tcase_add_test(tc, a_slow_lone_call_holds_up_nobody);
	tcase_add_test(tc, a_long_batch_lets_others_in);
	check_add_table(tc, killed_at_each_step_once, deaths);
	tcase_add_test(tc, once_is_not_repeated);
	tcase_add_test(tc, order_over_resets);
	tcase_add_test(tc, says_at_once_that_nobody_will_come);
	tcase_add_test(tc, two_hundred_restarts);
	tcase_add_test(tc, stop_answers_what_is_in_flight);
	tcase_add_test(tc, flows_wait);
	tcase_add_test(tc, only_the_right_key_is_heard);
	tcase_add_test(tc, only_those_named_may_call);
	return check_run(tc);
}
