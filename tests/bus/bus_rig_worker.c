/*
 * bus_rig_worker.c - a worker that the bus tests start, kill and start anew.
 *
 *   bus_rig_worker DIRECTORY WORKER [subscribe PUBLISHER]
 *
 * It serves every method of its worker. What it does is said by the body of the call:
 *
 *   {"n": 7}               keeps 7 in DIRECTORY/ledger, once per key, and answers {"n":7}
 *   {"die": "received" | "done" | "answered"}   kills itself there, the first time only
 *   {"delay": 50}          answers after so many milliseconds
 *   {"busy": 5}            keeps the loop busy for so many milliseconds
 *   {"answer_bytes": 100}  answers that much
 *   {"publish": 5000}      publishes so many events
 *   {"report": true}       answers what it heard: {"received","missed","told","last"}
 *   {"freed": true}        answers how many requests were freed where: {"loop","beside"}
 *
 * TERM drains the bus as a worker does. It writes one byte to stdout when it serves.
 */
#include "common/base/log.h"
#include "common/bus/bus.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LEDGER_MAX 20000

struct rig_worker {
	struct event_base *base;
	struct bus *bus;
	const char *directory;
	int ledger;
	char (*keys)[64];
	size_t key_count;
	unsigned received, missed, told;
	long long last;
};

/* ---- the ledger: one line "<key> <n>" for each effect ---- */

static void ledger_open(struct rig_worker *p)
{
	char path[128], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/ledger", p->directory);
	p->keys = calloc(LEDGER_MAX, sizeof(*p->keys));
	p->ledger = open(path, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
	f = fopen(path, "re");
	if (!f || p->ledger < 0 || !p->keys)
		exit(1);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s", p->keys[p->key_count]) == 1)
			p->key_count++;
	fclose(f);
}

static bool ledger_has(const struct rig_worker *p, const char *key)
{
	for (size_t i = 0; i < p->key_count; i++)
		if (strcmp(p->keys[i], key) == 0)
			return true;
	return false;
}

static void ledger_add(struct rig_worker *p, struct str key, int64_t n)
{
	char text[64], line[128];
	int len;

	snprintf(text, sizeof(text), "%.*s", STR_ARG(key));
	if (key.ptr && ledger_has(p, text))
		return;
	if (key.ptr && p->key_count < LEDGER_MAX)
		strcpy(p->keys[p->key_count++], text);
	len = snprintf(
		line, sizeof(line), "%s %lld\n", key.ptr ? text : "-", (long long)n);
	if (write(p->ledger, line, (size_t)len) != len)
		exit(1);
}

/* ---- dying ---- */

static bool die_asked(const struct rig_worker *p, yyjson_val *body, const char *step)
{
	const char *asked = yyjson_get_str(yyjson_obj_get(body, "die"));
	char path[128];

	if (!asked || strcmp(asked, step) != 0)
		return false;
	snprintf(path, sizeof(path), "%s/died", p->directory);
	if (access(path, F_OK) == 0)
		return false;
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	return true;
}

static void die(void)
{
	kill(getpid(), SIGKILL);
}

/* ---- where requests are freed ---- */

static pthread_t loop;
static atomic_uint freed_on_loop, freed_beside;

void __real_arena_free(struct arena *arena);
void __wrap_arena_free(struct arena *arena);

/* Stands before arena_free: each request has an arena. */
void __wrap_arena_free(struct arena *arena)
{
	if (pthread_equal(pthread_self(), loop))
		freed_on_loop++;
	else
		freed_beside++;
	__real_arena_free(arena);
}

/* ---- calls ---- */

struct later {
	struct rig_worker *peer;
	struct bus_request *request;
	struct event *event;
};

static void answer(struct rig_worker *p, struct bus_request *request)
{
	int64_t bytes = yyjson_get_sint(yyjson_obj_get(request->json, "answer_bytes"));
	bool dies = die_asked(p, request->json, "answered");
	struct buf body = {0};
	const bool about_itself = yyjson_obj_get(request->json, "report") ||
				  yyjson_obj_get(request->json, "freed");

	if (yyjson_obj_get(request->json, "freed"))
		buf_printf(&body, "{\"loop\":%u,\"beside\":%u}", freed_on_loop,
			freed_beside);
	else if (about_itself)
		buf_printf(&body,
			"{\"received\":%u,\"missed\":%u,\"told\":%u,\"last\":%lld}",
			p->received, p->missed, p->told, p->last);
	else
		buf_printf(&body, "{\"n\":%lld,\"pad\":\"",
			(long long)yyjson_get_sint(yyjson_obj_get(request->json, "n")));
	if (!about_itself) {
		if (bytes > 0) {
			memset(buf_reserve(&body, (size_t)bytes), 'x', (size_t)bytes);
			body.len += (size_t)bytes;
		}
		buf_add_str(&body, STR_LIT("\"}"));
	}
	bus_answer(request, buf_str(&body));
	buf_free(&body);
	if (dies) {
		/* The answer leaves first: at the end of this turn. */
		struct timeval soon = {0, 20000};

		event_base_loopexit(p->base, &soon);
	}
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
	struct later *l = arg;

	(void)fd;
	(void)what;
	answer(l->peer, l->request);
	event_free(l->event);
	free(l);
}

static void publish(struct rig_worker *p, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		char body[64];
		int n = snprintf(
			body, sizeof(body), "{\"n\":%lld}", (long long)++p->last);

		bus_publish(p->bus, "session/test", (struct str){body, (size_t)n});
	}
}

static void on_call(void *arg, struct bus_request *request, const void *message)
{
	struct rig_worker *p = arg;
	yyjson_val *n = yyjson_obj_get(request->json, "n");
	int64_t delay = yyjson_get_sint(yyjson_obj_get(request->json, "delay"));

	(void)message;
	if (die_asked(p, request->json, "received"))
		die();
	if (yyjson_obj_get(request->json, "busy"))
		nanosleep(
			&(struct timespec){0, 1000000 * yyjson_get_int(yyjson_obj_get(
								request->json, "busy"))},
			NULL);
	if (n)
		ledger_add(p, request->key, yyjson_get_sint(n));
	if (die_asked(p, request->json, "done"))
		die();
	publish(p, yyjson_get_sint(yyjson_obj_get(request->json, "publish")));
	if (delay > 0) {
		struct later *l = calloc(1, sizeof(*l));
		struct timeval wait = {delay / 1000, delay % 1000 * 1000};

		*l = (struct later){p, request, NULL};
		l->event = evtimer_new(p->base, on_later, l);
		event_add(l->event, &wait);
		return;
	}
	answer(p, request);
}

/* ---- events ---- */

static void on_event(void *arg, const struct bus_event *event)
{
	struct rig_worker *p = arg;
	yyjson_doc *d = yyjson_read(event->body.ptr, event->body.len, 0);

	p->received++;
	p->last = yyjson_get_sint(yyjson_obj_get(yyjson_doc_get_root(d), "n"));
	yyjson_doc_free(d);
}

static void on_gap(void *arg, enum worker_id from, uint64_t missed)
{
	struct rig_worker *p = arg;

	(void)from;
	p->told++;
	p->missed += (unsigned)missed;
}

/* ---- life ---- */

static void on_drained(void *arg)
{
	(void)arg;
	_exit(0);
}

static void on_term(evutil_socket_t fd, short what, void *arg)
{
	struct rig_worker *p = arg;

	(void)fd;
	(void)what;
	bus_drain(p->bus, on_drained, p);
}

int main(int argc, char **argv)
{
	struct rig_worker p = {0};
	sigset_t all, term;
	int self;

	if (argc < 3 || (self = worker_by_name(str_of(argv[2]))) < 0)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	loop = pthread_self();
	log_init(argv[2], LOG_LEVEL_ERROR);
	p.directory = argv[1];
	ledger_open(&p);
	p.base = event_base_new();
	p.bus = bus_open(p.base, (enum worker_id)self, p.directory, 1);
	if (!p.bus)
		return 1;
	for (int i = 0; i < METHOD_COUNT; i++)
		if (method_infos[i].owner == (enum worker_id)self &&
			i != METHOD_SESSION_STATE)
			bus_serve(p.bus, (enum method)i, on_call, &p);
	if (argc == 5) {
		enum worker_id from = (enum worker_id)worker_by_name(str_of(argv[4]));

		bus_subscribe(p.bus, from, "session/", on_event, &p);
		bus_on_gap(p.bus, from, on_gap, &p);
	}
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; bus_start(p.bus) < 0; i++) {
		if (i == 100)
			return 1;
		nanosleep(&(struct timespec){0, 20000000}, NULL);
	}
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_UNBLOCK, &term, NULL);
	event_add(evsignal_new(p.base, SIGTERM, on_term, &p), NULL);
	bus_start_serving(p.bus);
	if (write(STDOUT_FILENO, "+", 1) != 1)
		return 1;
	event_base_dispatch(p.base);
	die();
	return 1;
}
