/*
 * flow.c - flows on threads (flow.h).
 *
 * Threads are made on demand and leave after FLOW_IDLE_S without work. The list of flows
 * and the queue are guarded by one lock; everything of the bus happens on the loop,
 * reached by tasks that are posted to it.
 */
#include "workers/llm/claude/flow.h"
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "proto/tables/errors.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>

#define FLOW_IDLE_S 10
#define FLOW_STACK_BYTES (256 * 1024)
#define STOP_CHECK_MS 20

struct flow_private {
	struct flow flow;
	STAILQ_ENTRY(flow_private) queued;
	LIST_ENTRY(flow_private) link; /* in flows.all */
	flow_fn *fn;
	struct bus_request *request;
	bool answered;
	atomic_bool cancelled; /* shared by the flow's branches */
};

/* In the arena of the flow or branch that keeps it. */
struct flow_document {
	struct flow_document *next;
	yyjson_doc *doc;
};

struct flows {
	struct worker *worker;
	struct http *http;
	struct loop_post *post;
	void *context;
	const struct snapshot *snapshot; /* for the next flow; the loop's */
	void (*on_end)(
		void *arg, const struct bus_request *request, const struct flow_end *end);
	void *on_end_arg;
	pthread_mutex_t lock;
	pthread_cond_t work;
	STAILQ_HEAD(, flow_private) queue;
	LIST_HEAD(, flow_private) all;
	unsigned threads, idle, waiting, count;
	bool stopping;
	/* flows_stop */
	struct event *check;
	struct mono deadline;
	void (*done)(void *arg);
	void *done_arg;
};

struct flows *flows_new(
	struct worker *w, struct http *http, struct loop_post *post, void *context)
{
	struct flows *f = xcalloc(1, sizeof(*f));

	f->worker = w;
	f->http = http;
	f->post = post;
	f->context = context;
	STAILQ_INIT(&f->queue);
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->work, NULL);
	return f;
}

void flows_reload(struct flows *flows)
{
	if (flows->snapshot)
		snapshot_unref(flows->snapshot);
	flows->snapshot = snapshot_new(flows->worker->settings);
}

/* ---- what a flow keeps ---- */

void flow_keep_document(struct flow *flow, yyjson_doc *doc)
{
	struct flow_document *kept = arena_alloc(&flow->arena, sizeof(*kept));

	kept->doc = doc;
	kept->next = flow->documents;
	flow->documents = kept;
}

static void release(struct flow *flow)
{
	for (struct flow_document *kept = flow->documents; kept; kept = kept->next)
		yyjson_doc_free(kept->doc);
	flow->documents = NULL;
	arena_free(&flow->arena);
}

/* ---- threads ---- */

static void flow_end(struct flow_private *p)
{
	struct flows *flows = p->flow.flows;

	if (p->request && !p->answered)
		flow_fail(&p->flow, "INTERNAL_ERROR",
			"The request ended without an answer");
	pthread_mutex_lock(&flows->lock);
	LIST_REMOVE(p, link);
	flows->count--;
	pthread_mutex_unlock(&flows->lock);
	release(&p->flow);
	snapshot_unref(p->flow.snapshot);
	free(p);
}

/* The next flow to run, or NULL when the thread should leave. Called and left with the
 * lock held. */
static struct flow_private *next_flow(struct flows *flows)
{
	struct timespec until;
	struct flow_private *p;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += FLOW_IDLE_S;
	while (STAILQ_EMPTY(&flows->queue)) {
		int error;

		if (flows->stopping)
			return NULL;
		flows->idle++;
		error = pthread_cond_timedwait(&flows->work, &flows->lock, &until);
		flows->idle--;
		if (error == ETIMEDOUT && STAILQ_EMPTY(&flows->queue))
			return NULL;
	}
	p = STAILQ_FIRST(&flows->queue);
	STAILQ_REMOVE_HEAD(&flows->queue, queued);
	flows->waiting--;
	return p;
}

static void *run(void *arg)
{
	struct flows *flows = arg;
	struct flow_private *p;

	pthread_mutex_lock(&flows->lock);
	while ((p = next_flow(flows)) != NULL) {
		pthread_mutex_unlock(&flows->lock);
		p->fn(&p->flow);
		flow_end(p);
		pthread_mutex_lock(&flows->lock);
	}
	flows->threads--;
	pthread_mutex_unlock(&flows->lock);
	return NULL;
}

static int start_thread(
	void *(*fn)(void *arg), void *arg, pthread_t *thread, bool detached)
{
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, FLOW_STACK_BYTES);
	if (detached)
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(thread, &attributes, fn, arg);
	pthread_attr_destroy(&attributes);
	return -error;
}

static struct flow_private *flow_new(struct flows *flows, flow_fn *fn)
{
	struct flow_private *p = xcalloc(1, sizeof(*p));

	p->flow = (struct flow){.flows = flows,
		.worker = flows->worker,
		.http = flows->http,
		.snapshot = snapshot_ref(flows->snapshot),
		.private_ = p};
	p->fn = fn;
	return p;
}

/* Puts a flow into the line, and makes a thread for it when none is idle. */
static void enqueue(struct flows *flows, struct flow_private *p)
{
	pthread_t thread;
	bool more;

	pthread_mutex_lock(&flows->lock);
	STAILQ_INSERT_TAIL(&flows->queue, p, queued);
	LIST_INSERT_HEAD(&flows->all, p, link);
	flows->waiting++;
	flows->count++;
	more = flows->idle < flows->waiting && flows->threads < FLOW_THREADS_MAX;
	flows->threads += more;
	pthread_cond_signal(&flows->work);
	pthread_mutex_unlock(&flows->lock);
	if (more && start_thread(run, flows, &thread, true) < 0) {
		/* The flow waits for another thread; without any it waits until there is
		 * one. */
		log_warn("no thread for a flow", "threads", "%u", flows->threads, NULL);
		pthread_mutex_lock(&flows->lock);
		flows->threads--;
		pthread_mutex_unlock(&flows->lock);
	}
}

static bool refuses(struct flows *flows)
{
	bool full;

	pthread_mutex_lock(&flows->lock);
	full = flows->stopping || flows->waiting >= FLOW_QUEUE_MAX;
	pthread_mutex_unlock(&flows->lock);
	return full;
}

bool flow_start(struct flows *flows, flow_fn *fn, struct bus_request *request,
	const void *message)
{
	struct flow_private *p;

	if (refuses(flows)) {
		bus_answer_error(request, "BUSY", (struct str){NULL, 0},
			flows->stopping ? "The daemon is stopping"
					: "Too many requests are waiting for Claude");
		return false;
	}
	p = flow_new(flows, fn);
	p->flow.message = message;
	p->flow.body = request->body;
	p->request = request;
	enqueue(flows, p);
	return true;
}

void flow_spawn(struct flows *flows, flow_fn *fn, struct str body)
{
	struct flow_private *p;

	if (refuses(flows))
		return;
	p = flow_new(flows, fn);
	p->flow.body = arena_str(&p->flow.arena, body);
	enqueue(flows, p);
}

void flows_cancel(struct flows *flows, const struct bus_request *request)
{
	struct flow_private *p;

	pthread_mutex_lock(&flows->lock);
	LIST_FOREACH(p, &flows->all, link)
	if (p->request == request)
		p->cancelled = true;
	pthread_mutex_unlock(&flows->lock);
}

void flows_on_end(struct flows *flows,
	void (*fn)(
		void *arg, const struct bus_request *request, const struct flow_end *end),
	void *arg)
{
	flows->on_end = fn;
	flows->on_end_arg = arg;
}

/* ---- stopping ---- */

bool flows_stopping(const struct flows *flows)
{
	return flows->stopping; /* written by the loop alone */
}

static void on_stop_check(EVENT_UNUSED, void *arg)
{
	struct flows *flows = arg;
	unsigned left;

	pthread_mutex_lock(&flows->lock);
	left = flows->count;
	pthread_mutex_unlock(&flows->lock);
	if (left > 0 && clock_mono().us < flows->deadline.us)
		return;
	if (left > 0)
		log_warn("flows did not end in time", "flows", "%u", left, NULL);
	event_free(flows->check);
	flows->done(flows->done_arg);
}

void flows_stop(struct flows *flows, int deadline_ms, void (*done)(void *arg), void *arg)
{
	struct flow_private *p;

	pthread_mutex_lock(&flows->lock);
	flows->stopping = true;
	LIST_FOREACH(p, &flows->all, link)
	p->cancelled = true;
	pthread_cond_broadcast(&flows->work);
	pthread_mutex_unlock(&flows->lock);
	http_cancel_all(flows->http);
	flows->deadline = mono_add_ms(clock_mono(), deadline_ms);
	flows->done = done;
	flows->done_arg = arg;
	flows->check =
		event_new(flows->worker->base, -1, EV_PERSIST, on_stop_check, flows);
	if (!flows->check || event_add_ms(flows->check, STOP_CHECK_MS) < 0)
		abort();
}

/* ---- answers and events: tasks of the loop ---- */

struct output {
	struct loop_task task;
	struct bus *bus;
	struct flows *flows;
	struct bus_request *request;
	struct buf topic, body;
	struct buf code; /* of an error; ends with NUL, as topic */
};

static struct output *output_new(struct flow *flow)
{
	struct output *o = xcalloc(1, sizeof(*o));

	o->bus = flow->worker->bus;
	o->flows = flow->flows;
	return o;
}

static void output_free(struct output *o)
{
	buf_free(&o->topic);
	buf_free(&o->body);
	buf_free(&o->code);
	free(o);
}

static void on_answer(struct loop_task *task)
{
	struct output *o = CONTAINER_OF(task, struct output, task);
	const struct flow_end end = {
		.code = o->code.len > 0 ? o->code.data : NULL, .body = buf_str(&o->body)};

	if (o->flows->on_end)
		o->flows->on_end(o->flows->on_end_arg, o->request, &end);
	if (o->code.len > 0)
		bus_answer_error(o->request, o->code.data, (struct str){NULL, 0}, "%.*s",
			STR_ARG(buf_str(&o->body)));
	else
		bus_answer(o->request, buf_str(&o->body));
	output_free(o);
}

static void send_answer(struct flow *flow, struct output *o)
{
	struct flow_private *p = flow->private_;

	if (p->answered)
		abort(); /* a flow that answers twice is a bug */
	p->answered = true;
	/* What the request lent to the flow ends with the answer. */
	flow->message = NULL;
	flow->body = (struct str){NULL, 0};
	o->request = p->request;
	o->task.run = on_answer;
	loop_post(flow->flows->post, &o->task);
}

void flow_answer(struct flow *flow, struct str body)
{
	struct output *o = output_new(flow);

	buf_add_str(&o->body, body);
	send_answer(flow, o);
}

void flow_answer_message(struct flow *flow, const struct type *type, const void *message)
{
	struct output *o = output_new(flow);

	proto_encode(type, message, &o->body);
	send_answer(flow, o);
}

void flow_fail(struct flow *flow, const char *code, const char *format, ...)
{
	struct output *o = output_new(flow);
	AUTO_ARENA arena = {0};
	va_list args;

	va_start(args, format);
	buf_add_str(&o->body, arena_vprintf(&arena, format, args));
	va_end(args);
	buf_add(&o->code, code, strlen(code) + 1);
	send_answer(flow, o);
}

bool flow_answered(const struct flow *flow)
{
	return flow->private_->answered;
}

static void on_publish(struct loop_task *task)
{
	struct output *o = CONTAINER_OF(task, struct output, task);

	bus_publish(o->bus, o->topic.data, buf_str(&o->body));
	output_free(o);
}

void flow_publish(struct flow *flow, const char *topic, const struct type *type,
	const void *message)
{
	struct output *o = output_new(flow);

	buf_add(&o->topic, topic, strlen(topic) + 1);
	proto_encode(type, message, &o->body);
	o->task.run = on_publish;
	loop_post(flow->flows->post, &o->task);
}

/* ---- calls, branches, pauses ---- */

void *flow_context(const struct flow *flow)
{
	return flow->flows->context;
}

const struct bus_request *flow_request(const struct flow *flow)
{
	return flow->private_->request;
}

struct bus_reply flow_call(struct flow *flow, enum method method, const void *request)
{
	return bus_call_wait(flow->worker->bus, method, (struct str){NULL, 0}, request, 0,
		&flow->arena);
}

struct bus_reply flow_call_keyed(
	struct flow *flow, enum method method, const void *request)
{
	char key[UUID_SIZE];

	uuid4(key); /* uuid7 counts in memory of the loop's thread */
	return flow_call_with_key(
		flow, method, arena_str(&flow->arena, str_of(key)), request);
}

struct bus_reply flow_call_with_key(
	struct flow *flow, enum method method, struct str key, const void *request)
{
	return bus_call_wait(flow->worker->bus, method, key, request, 0, &flow->arena);
}

const atomic_bool *flow_cancelled(const struct flow *flow)
{
	return &flow->private_->cancelled;
}

struct flow_branch {
	struct flow flow; /* shares everything but the arena, which is not thread-safe */
	pthread_t thread;
	bool threaded;
	void (*fn)(struct flow *flow, void *arg);
	void *arg;
};

static void *run_branch(void *arg)
{
	struct flow_branch *b = arg;

	b->fn(&b->flow, b->arg);
	return NULL;
}

struct flow_branch *flow_fork(
	struct flow *flow, void (*fn)(struct flow *flow, void *arg), void *arg)
{
	struct flow_branch *b = xcalloc(1, sizeof(*b));

	b->flow = *flow;
	b->flow.arena = (struct arena){0};
	b->flow.documents = NULL;
	b->fn = fn;
	b->arg = arg;
	b->threaded = start_thread(run_branch, b, &b->thread, false) == 0;
	if (!b->threaded)
		run_branch(b); /* one behind the other then */
	return b;
}

void flow_join(struct flow_branch *branch)
{
	if (branch->threaded)
		pthread_join(branch->thread, NULL);
	release(&branch->flow);
	free(branch);
}

void flow_sleep_ms(struct flow *flow, int64_t ms)
{
	const int64_t slice_ms = 50;

	while (ms > 0 && !flow->private_->cancelled) {
		int64_t now_ms = ms < slice_ms ? ms : slice_ms;
		struct timespec wait = {now_ms / 1000, (now_ms % 1000) * 1000000};

		nanosleep(&wait, NULL);
		ms -= now_ms;
	}
}
