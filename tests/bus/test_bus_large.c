/*
 * Calls with large bodies, which the owner parses on a thread beside its loop: order,
 * errors, deadlines and the stop of the owner are as for small ones.
 */
#include "common/bus/bus_private.h"
#include "common/loop/jobs.h"
#include "tests/bus/bus_rig.h"
#include "tests/check_run.h"
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#define READ_BATCH METHOD_SESSION_ACTIVE
#define READ_ALONE METHOD_SESSION_RESTORED
#define KEYED_BATCH METHOD_ACTIVITY_IDLE_END
#define CHECKED METHOD_HINTS_LEVEL_CHANGE

#define LARGE_BYTES (2 * BUS_READ_AT_ONCE_BYTES)
#define LONG_BYTES (12 * 1024 * 1024)

static struct rig rig;
static pid_t store;
static char *large, *very_long; /* texts to be put into a body */

static char *text_of(size_t bytes)
{
	char *text = malloc(bytes + 1);

	ck_assert_ptr_nonnull(text);
	memset(text, 'x', bytes);
	text[bytes] = '\0';
	return text;
}

static void set_up(void)
{
	large = text_of(LARGE_BYTES);
	very_long = text_of(LONG_BYTES);
	rig_init(&rig);
	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
}

static void tear_down(void)
{
	rig_kill(&store);
	rig_fini(&rig);
	free(large);
	free(very_long);
}

static bool in_ledger(int64_t n)
{
	size_t count;
	int64_t *ledger = rig_ledger(&rig, &count);
	bool found = false;

	for (size_t i = 0; i < count; i++)
		found = found || ledger[i] == n;
	free(ledger);
	return found;
}

/* With reads nothing dedups: the ledger shows the order of handling. */
START_TEST(small_calls_do_not_overtake_large_ones)
{
	enum { CALLS = 60 };
	int64_t *ledger;
	size_t count;

	for (int i = 0; i < CALLS; i++)
		rig_call(&rig, READ_BATCH, 0, "{\"pad\":\"%s\",\"n\":%d}",
			i % 3 ? "" : large, i);
	ck_assert(rig_wait(&rig, 5000));
	rig_check_all_ok(&rig);
	ledger = rig_ledger(&rig, &count);
	ck_assert_uint_eq(count, CALLS);
	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(ledger[i], i);
		ck_assert_uint_eq(rig.calls[i].order, i + 1);
		ck_assert_int_eq(rig_number(&rig.calls[i], "n"), i);
	}
	free(ledger);
}
END_TEST

/* Before and after a text. */
static const struct {
	const char *before, *after;
} wrong[] = {
	{"{\"from\":7,\"pad\":\"", "\"}"},
	{"[\"", "\"]"},
};

START_TEST(errors_are_those_of_small_calls)
{
	struct rig_call *small, *big, *good;

	small = rig_call(&rig, CHECKED, 0, "%s%s", wrong[_i].before, wrong[_i].after);
	big = rig_call(
		&rig, CHECKED, 0, "%s%s%s", wrong[_i].before, large, wrong[_i].after);
	good = rig_call(&rig, READ_BATCH, 0, "{\"n\":1}");
	ck_assert(rig_wait(&rig, 2000));
	ck_assert_int_eq(big->status, BUS_ERROR);
	ck_assert(str_is(buf_str(&big->code), "INVALID_MESSAGE"));
	ck_assert_int_eq(small->status, big->status);
	ck_assert_uint_gt(small->message.len, 0);
	buf_add_char(&small->message, '\0');
	buf_add_char(&big->message, '\0');
	ck_assert_str_eq(small->message.data, big->message.data);
	ck_assert_int_eq(good->status, BUS_OK);
}
END_TEST

START_TEST(a_large_text_that_is_no_json_is_refused)
{
	struct rig_call *call, *good;

	call = rig_call(&rig, READ_BATCH, 0, "{\"n\":1,\"pad\":\"%s\"", large);
	good = rig_call(&rig, READ_BATCH, 0, "{\"n\":2}");
	ck_assert(rig_wait(&rig, 2000));
	ck_assert_int_eq(call->status, BUS_ERROR);
	ck_assert(str_is(buf_str(&call->code), "INVALID_MESSAGE"));
	ck_assert_int_eq(good->status, BUS_OK);
	ck_assert(!in_ledger(1));
}
END_TEST

/*
 * The loop is busy when the thread has read the call, until its caller has given up. When
 * that meets it just while it is read depends on the machine: so at several moments.
 */
START_TEST(what_came_too_late_while_it_was_read_is_not_done)
{
	for (int i = 0; i < 12; i++) {
		struct rig_call *call = rig_call(
			&rig, READ_ALONE, 100, "{\"n\":%d,\"pad\":\"%s\"}", i, very_long);

		rig_turn(&rig, 3 * i);
		rig_call(&rig, READ_ALONE, 0, "{\"busy\":150}");
		ck_assert(rig_wait(&rig, 2000));
		rig_turn(&rig, 50);
		ck_assert(call->status == BUS_OK || call->status == BUS_TIMEOUT);
		ck_assert_msg(in_ledger(i) == (call->status == BUS_OK),
			"call %d, status %d", i, call->status);
	}
	rig_call(&rig, READ_BATCH, 0, "{\"n\":99}");
	ck_assert(rig_wait(&rig, 2000));
	ck_assert(in_ledger(99));
}
END_TEST

START_TEST(an_owner_that_stops_while_it_reads_loses_nothing)
{
	enum { CALLS = 12 };
	bool seen[CALLS] = {false};
	int64_t *ledger;
	size_t count;

	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < CALLS / 4; i++)
			rig_call(&rig, KEYED_BATCH, 0, "{\"n\":%d,\"pad\":\"%s\"}",
				round * CALLS / 4 + i, very_long + LONG_BYTES * 2 / 3);
		rig_turn(&rig, 4 * round);
		kill(store, SIGTERM);
		for (int i = 0; i < 20 && rig.answered < rig.count; i++)
			rig_turn(&rig, 10);
		ck_assert_int_eq(rig_stop(&store), 0);
		store = rig_peer(&rig, "store", NULL);
		ck_assert(rig_wait(&rig, 5000));
	}
	rig_check_all_ok(&rig);
	ledger = rig_ledger(&rig, &count);
	ck_assert_uint_eq(count, CALLS);
	for (size_t i = 0; i < count; i++) {
		ck_assert(!seen[ledger[i]]);
		seen[ledger[i]] = true;
	}
	free(ledger);
}
END_TEST

/* ---- how much a turn of the loop has to do ---- */

START_TEST(large_calls_are_freed_beside_the_loop)
{
	enum { CALLS = 10 };
	int64_t on_loop, beside;
	struct rig_call *freed;

	freed = rig_call(&rig, READ_BATCH, 0, "{\"freed\":true}");
	ck_assert(rig_wait(&rig, 20000));
	on_loop = rig_number(freed, "loop");
	beside = rig_number(freed, "beside");
	for (int i = 0; i < CALLS; i++)
		rig_call(&rig, READ_BATCH, 0, "{\"pad\":\"%s\"}", large);
	ck_assert(rig_wait(&rig, 20000));
	/* Behind what is freed of them, since it is read on the same thread. */
	rig_call(&rig, READ_BATCH, 0, "{\"pad\":\"%s\"}", large);
	ck_assert(rig_wait(&rig, 20000));
	freed = rig_call(&rig, READ_BATCH, 0, "{\"freed\":true}");
	ck_assert(rig_wait(&rig, 20000));
	ck_assert_int_ge(rig_number(freed, "beside") - beside, CALLS);
	/* The short one that asked. */
	ck_assert_int_eq(rig_number(freed, "loop") - on_loop, 1);
}
END_TEST

static size_t bytes_of(const struct bus_calls *calls)
{
	size_t bytes = 0;

	for (const struct bus_call *c = calls->first; c; c = c->next)
		bytes += c->body.len;
	return bytes;
}

/* Of calls that are not sent yet. */
static size_t waiting_bytes(void)
{
	const struct bus_peer *peer = &rig.bus->peers[WORKER_STORE];

	return bytes_of(&peer->waiting) + bytes_of(&peer->waiting_alone);
}

/* The last one is begun below the limit. */
#define TURN_MOST (4u * 1024 * 1024 + LONG_BYTES / 10 + 1024)

static void call_at_once(int count)
{
	rig_call(&rig, READ_ALONE, 0, "{}");
	ck_assert(rig_wait(&rig, 20000)); /* it is connected */
	for (int i = 0; i < count; i++)
		rig_call(&rig, READ_ALONE, 60000, "{\"pad\":\"%s\"}",
			very_long + LONG_BYTES * 9 / 10);
}

/* What is sent is copied: of many long calls, some in each turn. */
START_TEST(a_turn_sends_little)
{
	enum { CALLS = 24 };
	unsigned turns = 0;

	call_at_once(CALLS);
	while (waiting_bytes() > 0) {
		size_t before = waiting_bytes(), sent;

		ck_assert_int_eq(event_base_loop(rig.base, EVLOOP_ONCE), 0);
		sent = before - waiting_bytes();
		ck_assert_uint_lt(sent, TURN_MOST);
		turns += sent > 0;
	}
	ck_assert_uint_ge(turns, CALLS * (LONG_BYTES / 10) / TURN_MOST);
	ck_assert(rig_wait(&rig, 40000));
	rig_check_all_ok(&rig);
}
END_TEST

/* No reply is needed for that: the owner does not even read. */
START_TEST(what_a_turn_leaves_is_sent_in_later_ones)
{
	call_at_once(24);
	kill(store, SIGSTOP);
	for (int i = 0; i < 500 && waiting_bytes() > 0; i++)
		rig_turn(&rig, 10);
	ck_assert_uint_eq(waiting_bytes(), 0);
	kill(store, SIGCONT);
	ck_assert(rig_wait(&rig, 40000));
	rig_check_all_ok(&rig);
}
END_TEST

static void call_more(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	rig_call(&rig, READ_ALONE, 60000, "{}");
}

/* Whatever else happens in that turn: a reply, another call. */
START_TEST(a_turn_sends_little_however_often_it_is_asked)
{
	struct event *later = event_new(rig.base, -1, 0, call_more, NULL);
	size_t before;

	call_at_once(24);
	/* Behind what sends, which has been asked for. */
	event_active(later, EV_TIMEOUT, 0);
	before = waiting_bytes();
	ck_assert_int_eq(event_base_loop(rig.base, EVLOOP_ONCE), 0);
	ck_assert_uint_eq(rig.count, 1 + 24 + 1);
	ck_assert_uint_gt(before - waiting_bytes(), 0);
	ck_assert_uint_lt(before - waiting_bytes(), TURN_MOST);
	ck_assert(rig_wait(&rig, 40000));
	rig_check_all_ok(&rig);
	event_free(later);
}
END_TEST

/* A reply that is looked at beyond its callback. */
static struct {
	struct bus_kept *kept;
	struct str body;
	int replies, kept_count;
} keeping;

static void keep(void *arg, const struct bus_reply *reply)
{
	(void)arg;
	ck_assert_int_eq(reply->status, BUS_OK);
	keeping.kept = bus_reply_keep(reply);
	keeping.body = reply->body;
	keeping.replies++;
	keeping.kept_count += keeping.kept != NULL;
}

static void ask_for(size_t bytes)
{
	struct buf body = {0};

	buf_printf(&body, "{\"n\":1,\"answer_bytes\":%zu}", bytes);
	bus_call(rig.bus, READ_ALONE, (struct str){NULL, 0}, buf_str(&body), 60000, keep,
		NULL);
	buf_free(&body);
}

static void wait_for_replies(int count)
{
	while (keeping.replies < count)
		ck_assert_int_eq(event_base_loop(rig.base, EVLOOP_ONCE), 0);
}

START_TEST(a_long_reply_stays_where_it_came)
{
	struct bus_kept *kept;
	struct str body;

	ask_for(LONG_BYTES);
	wait_for_replies(1);
	kept = keeping.kept;
	body = keeping.body;
	ck_assert_ptr_nonnull(kept);
	/* Others come meanwhile. */
	for (int i = 0; i < 3; i++) {
		ask_for(LONG_BYTES / 2);
		wait_for_replies(2 + i);
		bus_kept_release(keeping.kept);
	}
	ck_assert_uint_gt(body.len, LONG_BYTES);
	ck_assert_int_eq(memcmp(body.ptr, "{\"n\":1,\"pad\":\"xxx", 17), 0);
	ck_assert_int_eq(memcmp(body.ptr + body.len - 5, "xxx\"}", 5), 0);
	ck_assert_ptr_nonnull(memmem(body.ptr, body.len, very_long, LONG_BYTES));
	bus_kept_release(kept);
}
END_TEST

START_TEST(a_short_reply_is_not_kept)
{
	ask_for(1000);
	wait_for_replies(1);
	ck_assert_int_eq(keeping.kept_count, 0);
}
END_TEST

/* A small part of a message would keep all of it. */
START_TEST(a_reply_among_many_is_not_kept)
{
	enum { CALLS = 8 };
	struct str body = STR_LIT("{\"n\":1,\"answer_bytes\":100000}");

	for (int i = 0; i < CALLS; i++)
		bus_call(rig.bus, READ_BATCH, (struct str){NULL, 0}, body, 60000, keep,
			NULL);
	wait_for_replies(CALLS);
	ck_assert_int_eq(keeping.kept_count, 0);
}
END_TEST

/* ---- where the loop runs (bus_affinity.c); this process plays the gateway ---- */

static int processors(void)
{
	cpu_set_t set;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	return CPU_COUNT(&set);
}

struct counting {
	struct job job;
	int on_thread;
};

static void count_on_thread(struct job *job)
{
	CONTAINER_OF(job, struct counting, job)->on_thread = processors();
}

static void on_counted(struct job *job)
{
	(void)job;
}

START_TEST(the_loop_leaves_its_processor_for_large_requests)
{
	struct counting counting = {.job = {.run = count_on_thread, .done = on_counted}};
	const int all = processors();
	struct jobs *jobs = jobs_new(rig.base);
	pid_t fswatch = rig_peer(&rig, "fswatch", NULL);

	rig_turn(&rig, 1500);
	ck_assert_int_eq(processors(), 1);
	jobs_add(jobs, &counting.job);
	jobs_free(jobs);
	ck_assert_int_eq(counting.on_thread, all);
	rig_call(&rig, METHOD_FS_OPEN_FILES, 0, "{\"n\":1}");
	ck_assert(rig_wait(&rig, 5000));
	ck_assert_int_eq(processors(), 1);
	rig_call(&rig, METHOD_FS_OPEN_FILES, 0, "{\"n\":1,\"text\":\"%s\"}", large);
	rig_turn(&rig, 1); /* it is sent */
	ck_assert_int_eq(processors(), all);
	ck_assert(rig_wait(&rig, 5000));
	rig_turn(&rig, 2500);
	ck_assert_int_eq(processors(), 1);
	rig_kill(&fswatch);
	rig_check_all_ok(&rig);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("large");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, small_calls_do_not_overtake_large_ones);
	check_add_table(tc, errors_are_those_of_small_calls, wrong);
	tcase_add_test(tc, a_large_text_that_is_no_json_is_refused);
	tcase_add_test(tc, what_came_too_late_while_it_was_read_is_not_done);
	tcase_add_test(tc, an_owner_that_stops_while_it_reads_loses_nothing);
	tcase_add_test(tc, large_calls_are_freed_beside_the_loop);
	tcase_add_test(tc, a_turn_sends_little);
	tcase_add_test(tc, what_a_turn_leaves_is_sent_in_later_ones);
	tcase_add_test(tc, a_turn_sends_little_however_often_it_is_asked);
	tcase_add_test(tc, a_long_reply_stays_where_it_came);
	tcase_add_test(tc, a_short_reply_is_not_kept);
	tcase_add_test(tc, a_reply_among_many_is_not_kept);
	tcase_add_test(tc, the_loop_leaves_its_processor_for_large_requests);
	return check_run(tc);
}
