/*
 * A caller that keeps to nothing, over the real bus: what it asks for is bounded, and
 * others are served meanwhile. It plays llm, with frames of its own making.
 */
#include "common/bus/rules/bus_wire.h"
#include "tests/bus/bus_rig.h"
#include "tests/bus/rogue_wire.h"
#include "tests/check_run.h"
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONNECTIONS 40

static struct rig rig;
static pid_t store;
static struct wire way;
static char path[64];

static void set_up(void)
{
	rig_init(&rig);
	store = rig_peer(&rig, "store", NULL);
	snprintf(path, sizeof(path), "%s/store/rep", rig.directory);
	ck_assert(wire_dial(&way, path, WIRE_REQ));
}

static void tear_down(void)
{
	wire_close(&way);
	rig_kill(&store);
	rig_fini(&rig);
}

/* The head of a message from llm, with nng's number. */
static void begin(struct buf *out, uint32_t id)
{
	const char number[WIRE_ID_BYTES] = {(char)0x80, 0, (char)(id >> 8), (char)id};
	struct bus_head head = {.epoch = 1,
		.caller = WORKER_LLM,
		.incarnation = 7,
		.sent_us = clock_mono().us};
	char line[BUS_LINE_MAX];

	buf_clear(out);
	buf_add(out, number, sizeof(number));
	buf_add(out, line, bus_head_format(&head, line));
}

static void add_call(struct buf *out, enum method method, uint64_t id,
	int64_t deadline_ms, const char *body)
{
	struct bus_call_record call = {.id = id,
		.method = str_of(method_infos[method].name),
		.deadline_ms = deadline_ms,
		.body = str_of(body)};
	char line[BUS_LINE_MAX];

	buf_add(out, line, bus_call_format(&call, line));
	buf_add_str(out, call.body);
}

/* The answers in the next reply; -1 when none comes within a second. */
static int answers(void)
{
	struct bus_reply_head head;
	struct bus_reply_record record;
	struct str reply;
	size_t at = 0;
	int count = 0;

	for (int i = 0; i < 10 && !wire_take(&way, &reply, &at); i++)
		ck_assert(wire_read(&way, 100));
	if (at == 0)
		return -1;
	reply = (struct str){reply.ptr + WIRE_ID_BYTES, reply.len - WIRE_ID_BYTES};
	ck_assert_int_eq(bus_reply_head_parse(&reply, &head), 1);
	while (bus_reply_parse(&reply, &record) == 1)
		count++;
	wire_taken(&way, at);
	return count;
}

START_TEST(no_deadline_is_too_far_or_too_near)
{
	static const struct {
		int64_t ms;
		int answers;
	} table[] = {{1000, 1}, {INT64_MAX, 1}, {INT64_MAX / 1000, 1}, {0, 0}, {-1, 0},
		{-INT64_MAX, 0}};
	struct buf out = {0};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		int got;

		begin(&out, (uint32_t)i);
		add_call(&out, METHOD_COACHING_CONTEXT, 1, table[i].ms, "{\"n\":1}");
		ck_assert(wire_send(&way, buf_str(&out)));
		got = answers();
		ck_assert_msg(got == table[i].answers, "%" PRId64 " ms: %d answers",
			table[i].ms, got);
	}
	buf_free(&out);
}
END_TEST

START_TEST(a_message_holds_so_many_calls_and_no_more)
{
	struct buf out = {0};
	int count = 0, n;

	begin(&out, 1);
	for (uint64_t i = 0; i < 300; i++)
		add_call(&out, METHOD_COACHING_CONTEXT, i, 5000, "{\"n\":1}");
	ck_assert(wire_send(&way, buf_str(&out)));
	while ((n = answers()) >= 0)
		count += n;
	ck_assert_int_eq(count, 256);
	buf_free(&out);
}
END_TEST

/* There are 1024 reply slots, for all callers together. */
START_TEST(others_are_served_while_one_asks_for_everything)
{
	struct buf out = {0};

	rig_start(&rig);
	rig_call(&rig, METHOD_SESSION_RESTORED, 0, "{}");
	ck_assert(rig_wait(&rig, 2000));
	for (uint32_t i = 0; i < 1200; i++) {
		begin(&out, i);
		add_call(&out, METHOD_MEMORY_COUNT, 1, 9000, "{\"delay\":4000}");
		ck_assert(wire_send(&way, buf_str(&out)));
	}
	/* What came first is under way by then. */
	rig_turn(&rig, 300);
	rig_call(&rig, METHOD_SESSION_RESTORED, 2000, "{}");
	ck_assert(rig_wait(&rig, 2500));
	rig_check_all_ok(&rig);
	buf_free(&out);
}
END_TEST

/* Of another protocol, gone in the middle of a message, or gone at once. */
START_TEST(no_connection_that_went_wrong_keeps_its_place)
{
	static const char half[] = {1, 0, 0, 0, 0, 0, 0, 4, 0, 'x'};
	static const unsigned char protocols[] = {WIRE_SUB, 0x77, WIRE_REP, WIRE_REQ};

	for (int i = 0; i < CONNECTIONS; i++) {
		struct wire x;

		if (!wire_dial(&x, path, (enum wire_protocol)protocols[i % 4]))
			continue;
		wire_send_raw(
			&x, (struct str){half, (size_t)(i / 4) % (sizeof(half) + 1)});
		wire_close(&x);
		usleep(10000);
	}
	usleep(100000);
	rig_start(&rig);
	rig_call(&rig, METHOD_SESSION_RESTORED, 1500, "{}");
	ck_assert(rig_wait(&rig, 2000));
	rig_check_all_ok(&rig);
	{
		struct wire x;

		ck_assert(wire_dial(&x, path, WIRE_REQ));
		usleep(200000);
		ck_assert(wire_read(&x, 0));
		wire_close(&x);
	}
}
END_TEST

#define LONE_CALLS 5

/* What the caller sends once it has connected, in the order in which it comes; then the
 * connection breaks. */
static void take_lone_calls(int listener, int seen[LONE_CALLS])
{
	struct wire owner = {.fd = -1};
	struct str message;
	struct bus_head head;
	struct bus_call_record call;
	size_t at = 0;
	int fd = -1, count = 0;

	for (int i = 0; i < 500 && fd < 0; i++) {
		rig_turn(&rig, 10);
		fd = accept(listener, NULL, NULL);
	}
	ck_assert_int_ge(fd, 0);
	wire_accept(&owner, fd, WIRE_REP);
	for (int i = 0; i < 500 && count < LONE_CALLS; i++) {
		rig_turn(&rig, 10);
		ck_assert(wire_read(&owner, 0));
		while (count < LONE_CALLS && wire_take(&owner, &message, &at)) {
			message.ptr += WIRE_ID_BYTES;
			message.len -= WIRE_ID_BYTES;
			ck_assert_int_eq(bus_head_parse(&message, &head), 1);
			ck_assert_uint_eq(head.seq, 0);
			ck_assert_int_eq(bus_call_parse(&message, &call), 1);
			ck_assert_int_eq(
				sscanf(call.body.ptr, "{\"n\":%d}", &seen[count]), 1);
			count++;
		}
		wire_taken(&owner, at);
		at = 0;
	}
	ck_assert_int_eq(count, LONE_CALLS);
	wire_close(&owner);
}

/* The bus promises no order of them, but does not turn it round either. */
START_TEST(lone_calls_are_repeated_as_they_were_sent)
{
	char file[108];
	int listener, seen[LONE_CALLS];

	snprintf(file, sizeof(file), "%s/fswatch", rig.directory);
	(void)mkdir(file, 0700);
	snprintf(file, sizeof(file), "%s/fswatch/rep", rig.directory);
	listener = wire_listen(file);
	ck_assert_int_ge(listener, 0);
	rig_start(&rig);
	for (int i = 0; i < LONE_CALLS; i++)
		rig_call(&rig, METHOD_FS_TREE, 20000, "{\"n\":%d}", i);
	for (int times = 0; times < 3; times++) {
		take_lone_calls(listener, seen);
		for (int i = 0; i < LONE_CALLS; i++)
			ck_assert_msg(seen[i] == i, "%d came as number %d", seen[i], i);
	}
	close(listener);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("bus_rogue");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, no_deadline_is_too_far_or_too_near);
	tcase_add_test(tc, a_message_holds_so_many_calls_and_no_more);
	tcase_add_test(tc, others_are_served_while_one_asks_for_everything);
	tcase_add_test(tc, no_connection_that_went_wrong_keeps_its_place);
	tcase_add_test(tc, lone_calls_are_repeated_as_they_were_sent);
	return check_run(tc);
}
