/*
 * bus_wait.c - bus_call_wait: calls from a thread that is not the loop (llm's flows).
 *
 * The request is encoded on the calling thread, posted to the loop, and the reply copied
 * for the thread that waits. The loop answers every call by its deadline; a thread that
 * waits much longer than that goes on alone, and whoever comes last frees the ticket.
 */
#include "common/base/alloc.h"
#include "common/bus/bus_private.h"
#include "common/bus/bus_retry.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* How much later than the deadline a thread gives up on the loop. */
#define LOOP_GRACE_MS 5000

struct ticket {
	struct loop_task task;
	struct bus *bus;
	enum method method;
	struct buf key, request;
	int64_t deadline_ms;
	pthread_mutex_t lock;
	pthread_cond_t answered;
	bool done, abandoned;
	enum bus_status status;
	struct buf body, code, message, context;
	bool has_context;
};

static void ticket_free(struct ticket *t)
{
	buf_free(&t->key);
	buf_free(&t->request);
	buf_free(&t->body);
	buf_free(&t->code);
	buf_free(&t->message);
	buf_free(&t->context);
	pthread_cond_destroy(&t->answered);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static void on_reply(void *arg, const struct bus_reply *reply)
{
	struct ticket *t = arg;
	bool abandoned;

	pthread_mutex_lock(&t->lock);
	t->status = reply->status;
	buf_add_str(&t->body, reply->body);
	buf_add_str(&t->code, reply->code);
	buf_add_str(&t->message, reply->message);
	t->has_context = reply->context.ptr != NULL;
	buf_add_str(&t->context, reply->context);
	t->done = true;
	abandoned = t->abandoned;
	pthread_cond_signal(&t->answered);
	pthread_mutex_unlock(&t->lock);
	if (abandoned)
		ticket_free(t);
}

/* On the loop. */
static void submit(struct loop_task *task)
{
	struct ticket *t = CONTAINER_OF(task, struct ticket, task);
	struct str key = t->key.len ? buf_str(&t->key) : (struct str){NULL, 0};

	bus_call(t->bus, t->method, key, buf_str(&t->request), t->deadline_ms, on_reply,
		t);
}

static struct ticket *ticket_new(struct bus *bus, enum method method, struct str key,
	const void *request, int64_t deadline_ms)
{
	const struct type *(*type)(void) = method_infos[method].request;
	struct ticket *t = xcalloc(1, sizeof(*t));
	pthread_condattr_t attributes;

	t->task.run = submit;
	t->bus = bus;
	t->method = method;
	t->deadline_ms = deadline_ms > 0 ? deadline_ms : method_infos[method].deadline_ms;
	if (key.ptr)
		buf_add_str(&t->key, key);
	if (type && request)
		proto_encode(type(), request, &t->request);
	else
		buf_add_str(&t->request, STR_LIT("{}"));
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&t->answered, &attributes);
	pthread_condattr_destroy(&attributes);
	return t;
}

/* True when the loop has answered. */
static bool ticket_wait(struct ticket *t)
{
	struct timespec until;
	int64_t ms = t->deadline_ms + LOOP_GRACE_MS;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	while (!t->done && r != ETIMEDOUT)
		r = pthread_cond_timedwait(&t->answered, &t->lock, &until);
	return t->done;
}

struct bus_reply bus_call_wait(struct bus *bus, enum method method, struct str key,
	const void *request, int64_t deadline_ms, struct arena *arena)
{
	struct ticket *t = ticket_new(bus, method, key, request, deadline_ms);
	struct bus_reply reply = {.status = BUS_TIMEOUT};
	bool done;

	loop_post(&bus->post, &t->task);
	pthread_mutex_lock(&t->lock);
	done = ticket_wait(t);
	t->abandoned = !done;
	pthread_mutex_unlock(&t->lock);
	if (!done) {
		char text[BUS_FAILURE_SIZE];

		bus_failure_text(BUS_TIMEOUT, method, text);
		reply.code = str_of(bus_failure_code(BUS_TIMEOUT));
		reply.message = arena_str(arena, str_of(text));
		return reply;
	}
	reply.status = t->status;
	reply.body = arena_str(arena, buf_str(&t->body));
	reply.code = arena_str(arena, buf_str(&t->code));
	reply.message = arena_str(arena, buf_str(&t->message));
	if (t->has_context)
		reply.context = arena_str(arena, buf_str(&t->context));
	ticket_free(t);
	return reply;
}
