/*
 * Events over the real bus, and connections that come and go: what is missed is told,
 * deaf listeners and dead dialers heal.
 */
#include "tests/beside.h"
#include "tests/bus/bus_rig.h"
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define TO_STORE METHOD_SESSION_ACTIVE
#define TO_LLM METHOD_LLM_CAPABILITIES

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

static void publish(int count)
{
	struct rig_call *call = rig_call(&rig, TO_STORE, 0, "{\"publish\":%d}", count);

	ck_assert(rig_wait(&rig, 5000));
	ck_assert_int_eq(call->status, BUS_OK);
}

struct heard {
	int64_t received, missed, told, last;
};

static struct heard report(void)
{
	struct rig_call *call = rig_call(&rig, TO_LLM, 0, "{\"report\":true}");

	ck_assert(rig_wait(&rig, 5000));
	ck_assert_int_eq(call->status, BUS_OK);
	return (struct heard){rig_number(call, "received"), rig_number(call, "missed"),
		rig_number(call, "told"), rig_number(call, "last")};
}

/* Asks until it has heard or missed so many, and was told of so many connections and
 * gaps. */
static struct heard report_until(int64_t events, int64_t told)
{
	struct heard h = {0};

	for (int i = 0; i < 100; i++) {
		h = report();
		if (h.received + h.missed >= events && h.told >= told)
			break;
		rig_turn(&rig, 50);
	}
	return h;
}

/* ---- events ---- */

START_TEST(a_late_subscriber_is_told)
{
	struct heard h;

	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	publish(100);
	llm = rig_peer(&rig, "llm", "store");
	h = report_until(0, 1);
	ck_assert_int_eq(h.received, 0);
	ck_assert_int_eq(h.missed, 0);
	ck_assert_int_eq(h.told, 1);
	publish(10);
	h = report_until(10, 1);
	ck_assert_int_eq(h.received, 10);
	ck_assert_int_eq(h.missed, 0);
	ck_assert_int_eq(h.told, 1);
	ck_assert_int_eq(h.last, 110);
}
END_TEST

START_TEST(a_burst_arrives)
{
	struct heard h;

	store = rig_peer(&rig, "store", NULL);
	llm = rig_peer(&rig, "llm", "store");
	rig_start(&rig);
	report_until(0, 1);
	for (int i = 0; i < 10; i++)
		publish(500);
	h = report_until(5000, 1);
	ck_assert_int_eq(h.received + h.missed, 5000);
	ck_assert_int_eq(h.last, 5000);
	ck_assert_int_eq(h.told == 1, h.missed == 0);
}
END_TEST

START_TEST(a_paused_subscriber_is_told_what_it_missed)
{
	struct heard h;

	store = rig_peer(&rig, "store", NULL);
	llm = rig_peer(&rig, "llm", "store");
	rig_start(&rig);
	report_until(0, 1);
	kill(llm, SIGSTOP);
	/* One by one, since those of one turn travel together. */
	for (int i = 0; i < 6000; i++)
		publish(1);
	kill(llm, SIGCONT);
	h = report_until(6000, 2);
	ck_assert_int_eq(h.received + h.missed, 6000);
	ck_assert_int_gt(h.missed, 0);
	ck_assert_int_gt(h.told, 1);
	ck_assert_int_eq(h.last, 6000);
}
END_TEST

START_TEST(a_publisher_started_anew_is_told)
{
	struct heard h;

	store = rig_peer(&rig, "store", NULL);
	llm = rig_peer(&rig, "llm", "store");
	rig_start(&rig);
	report_until(0, 1);
	publish(5);
	report_until(5, 1);
	rig_kill(&store);
	store = rig_peer(&rig, "store", NULL);
	h = report_until(5, 2);
	ck_assert_int_eq(h.told, 2);
	ck_assert_int_eq(h.missed, 0);
	publish(5);
	h = report_until(10, 2);
	ck_assert_int_eq(h.received, 10);
	ck_assert_int_eq(h.told, 2);
}
END_TEST

START_TEST(both_ends_restart)
{
	rig_start(&rig);
	for (int i = 0; i < 10; i++) {
		struct heard h;

		store = rig_peer(&rig, "store", NULL);
		llm = rig_peer(&rig, "llm", "store");
		report_until(0, 1);
		publish(20);
		h = report_until(20, 1);
		ck_assert_int_eq(h.received, 20);
		ck_assert_int_eq(h.told, 1);
		rig_kill(i % 2 ? &store : &llm);
		rig_kill(i % 2 ? &llm : &store);
	}
}
END_TEST

/* ---- the first sign of each ---- */

static void count_call(void *arg)
{
	int *count = arg;

	(*count)++;
}

static void ignore_event(void *arg, const struct bus_event *event)
{
	(void)arg;
	(void)event;
}

START_TEST(heard_when_all_are)
{
	int heard = 0;

	bus_subscribe(rig.bus, WORKER_STORE, "session/", ignore_event, NULL);
	bus_subscribe(rig.bus, WORKER_LLM, "", ignore_event, NULL);
	bus_when_heard(rig.bus, 60000, count_call, &heard);
	rig_start(&rig);
	store = rig_peer(&rig, "store", NULL);
	rig_turn(&rig, 300);
	ck_assert_int_eq(heard, 0);
	llm = rig_peer(&rig, "llm", NULL);
	for (int i = 0; i < 400 && !heard; i++)
		rig_turn(&rig, 50);
	ck_assert_int_eq(heard, 1);
	rig_kill(&llm);
	llm = rig_peer(&rig, "llm", NULL);
	rig_turn(&rig, 300);
	ck_assert_int_eq(heard, 1);
}
END_TEST

START_TEST(heard_without_those_that_stay_away)
{
	struct mono begun = clock_mono();
	int heard = 0;

	bus_subscribe(rig.bus, WORKER_STORE, "", ignore_event, NULL);
	bus_when_heard(rig.bus, 400, count_call, &heard);
	rig_start(&rig);
	while (!heard && mono_diff_ms(clock_mono(), begun) < 10000)
		rig_turn(&rig, 20);
	ck_assert_int_eq(heard, 1);
	/* Not at once, however slow the machine is. (The clock of timers is coarse.) */
	ck_assert_int_ge(mono_diff_ms(clock_mono(), begun), 390);
}
END_TEST

/* ---- connections ---- */

static int connect_raw(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s", rig.directory, name);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Whether a peer that has greeted is heard: a request is answered, a subscriber gets a
 * beacon. (The greeting itself is answered even by a deaf listener.) */
static bool listens(const char *name)
{
	static const char greeting_req[8] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
	static const char greeting_sub[8] = {0, 'S', 'P', 0, 0, 0x21, 0, 0};
	static const char request[] =
		"B 1 llm 0 0 9 0 0 0 0\nC 1 session.newest 5000 - 2\n{}";
	static const char head[13] = {
		1, 0, 0, 0, 0, 0, 0, 0, sizeof(request) - 1 + 4, (char)0x80, 0, 0, 1};
	const struct timeval greeting_wait = {5, 0}, answer_wait = {0, 300000};
	bool rep = strcmp(name, "store/rep") == 0;
	char answer[64];
	int fd = connect_raw(name);
	bool heard;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &greeting_wait, sizeof(greeting_wait));
	ck_assert_int_eq(send(fd, rep ? greeting_req : greeting_sub, 8, MSG_NOSIGNAL), 8);
	ck_assert_int_eq(recv(fd, answer, 8, MSG_WAITALL), 8);
	if (rep) {
		ck_assert_int_eq(
			send(fd, head, sizeof(head), MSG_NOSIGNAL), sizeof(head));
		ck_assert_int_eq(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL),
			sizeof(request) - 1);
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &answer_wait, sizeof(answer_wait));
	heard = recv(fd, answer, 9, MSG_WAITALL) == 9;
	close(fd);
	return heard;
}

/* Who connects and goes deafens the listeners of nng 1.5. Those of later releases are
 * hard of hearing when their file is gone. */
static void deafen(const char *name)
{
	char path[108];

	for (int i = 0; i < 50; i++) {
		close(connect_raw(name));
		if (!listens(name))
			return;
	}
	snprintf(path, sizeof(path), "%s/%s", rig.directory, name);
	ck_assert_int_eq(unlink(path), 0);
}

START_TEST(a_deaf_listener_heals)
{
	struct mono begun = clock_mono();
	struct rig_call *call;

	store = rig_peer(&rig, "store", NULL);
	deafen("store/rep");
	rig_start(&rig);
	call = rig_call(&rig, TO_STORE, 20000, "{}");
	ck_assert(rig_wait(&rig, 20000));
	ck_assert_int_eq(call->status, BUS_OK);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), begun), 15000);
}
END_TEST

START_TEST(a_deaf_publisher_heals)
{
	struct mono begun = clock_mono();
	struct heard h = {0};

	store = rig_peer(&rig, "store", NULL);
	deafen("store/pub");
	rig_start(&rig);
	llm = rig_peer(&rig, "llm", "store");
	while (h.told == 0 && mono_diff_ms(clock_mono(), begun) < 30000) {
		h = report();
		rig_turn(&rig, 100);
	}
	ck_assert_int_eq(h.told, 1);
	publish(3);
	ck_assert_int_eq(report_until(3, 1).received, 3);
}
END_TEST

/* The connections of the deaf listener end with it; what was under way is sent again. */
START_TEST(relistening_loses_no_call)
{
	store = rig_peer(&rig, "store", NULL);
	rig_start(&rig);
	rig_call(&rig, TO_STORE, 0, "{}");
	ck_assert(rig_wait(&rig, 5000));
	deafen("store/rep");
	for (int i = 0; i < 900; i++) {
		rig_call(&rig, TO_STORE, 0, "{}");
		rig_turn(&rig, 10);
	}
	ck_assert(rig_wait(&rig, 5000));
	for (unsigned i = 0; i < rig.count; i++)
		ck_assert_int_eq(rig.calls[i].status, BUS_OK);
	ck_assert(listens("store/rep"));
}
END_TEST

/* nng's dialer gives up for ever when the owner dies between connect and greeting. */
START_TEST(a_dead_dialer_heals)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct mono begun;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/store/rep", rig.directory);
	rig_start(&rig);
	rig_call(&rig, TO_STORE, 30000, "{}");
	begun = clock_mono();
	while (mono_diff_ms(clock_mono(), begun) < 3000) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		unlink(a.sun_path);
		ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
		ck_assert_int_eq(listen(fd, 5), 0);
		rig_turn(&rig, 2);
		close(accept4(fd, NULL, NULL, SOCK_CLOEXEC));
		close(fd);
	}
	unlink(a.sun_path);
	store = rig_peer(&rig, "store", NULL);
	begun = clock_mono();
	ck_assert(rig_wait(&rig, 10000));
	ck_assert_int_lt(mono_diff_ms(clock_mono(), begun), 4000);
	ck_assert_int_eq(rig.calls[0].status, BUS_OK);
}
END_TEST

/* Who hangs up while the owner greets deafens it: a socket that is new gets its time. */
START_TEST(a_new_owner_is_not_hung_up_on)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/store/rep", rig.directory);
	rig_start(&rig);
	rig_call(&rig, TO_STORE, 30000, "{}");
	for (int i = 0; i < 6; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		char byte[8];
		int peer;

		unlink(a.sun_path);
		ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
		ck_assert_int_eq(listen(fd, 5), 0);
		rig_turn(&rig, 700);
		peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		ck_assert_int_ge(peer, 0);
		ck_assert_int_eq(recv(peer, byte, sizeof(byte), 0), sizeof(byte));
		ck_assert_int_lt(recv(peer, byte, sizeof(byte), 0), 0);
		ck_assert_int_eq(errno, EAGAIN);
		/* Not greeted: the dialer tries the next one, this one being closed. */
		close(fd);
		send(peer, "nonsense", 8, MSG_NOSIGNAL);
		close(peer);
	}
}
END_TEST

int main(void)
{
	const TTest *const cases[] = {
		a_late_subscriber_is_told,
		a_burst_arrives,
		a_paused_subscriber_is_told_what_it_missed,
		a_publisher_started_anew_is_told,
		both_ends_restart,
		heard_when_all_are,
		heard_without_those_that_stay_away,
		a_deaf_listener_heals,
		a_deaf_publisher_heals,
	};
	/* The others beside them cost a connection now and then, and time, which is measured. */
	const TTest *const alone[] = {a_dead_dialer_heals, a_new_owner_is_not_hung_up_on,
		relistening_loses_no_call};
	const struct beside how = {set_up, tear_down, 60};

	int code = beside_run(&how, cases, sizeof(cases) / sizeof(cases[0]));

	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
		code |= beside_run(&how, &alone[i], 1);
	return code;
}
