/*
 * flow.h - a flow: one request served by straight-line code on a thread of its own.
 *
 * The request's decoded message, its arena and its answer belong to the flow's thread
 * until it answers; answering and publishing happen on the loop. A flow that waits (for
 * Claude, Chroma, the store) costs only a sleeping thread with a small stack, so short flows
 * never wait behind long ones.
 */
#pragma once

#include "common/loop/loop_post.h"
#include "common/worker/worker.h"
#include "workers/llm/claude/http.h"
#include "workers/llm/claude/snapshot.h"

/* Flows at once; more are queued, and beyond FLOW_QUEUE_MAX a request is refused with
 * BUSY. */
#define FLOW_THREADS_MAX 64
#define FLOW_QUEUE_MAX 512

struct flows;
struct flow;

typedef void flow_fn(struct flow *flow);

struct flow {
	struct flows *flows;
	struct worker *worker;
	struct http *http;
	const struct snapshot *snapshot; /* settings and prompts */
	struct arena arena;		 /* for whatever the flow allocates */
	const void *message;		 /* the request's decoded type */
	struct str body;		 /* the request as received */
	struct flow_document *documents; /* see flow_keep_document */
	struct flow_work *work;		 /* see paid_work.h; NULL for none */
	struct flow_private *private_;
};

/* Returns new. `context` is the worker's own, see flow_context. Flows begin after
 * flows_reload. */
struct flows *flows_new(
	struct worker *w, struct http *http, struct loop_post *post, void *context);
/* On the loop: flows that start from now on use the worker's current settings. */
void flows_reload(struct flows *flows);
/* On the loop: serves `request` with `fn`. False if it was refused; then it is answered. */
bool flow_start(struct flows *flows, flow_fn *fn, struct bus_request *request,
	const void *message);
/* On the loop: starts a flow that nobody waits for. Copies `body`. */
void flow_spawn(struct flows *flows, flow_fn *fn, struct str body);
/* On the loop: tells every flow to end. Calls `done` when all have ended, or after
 * `deadline_ms`. */
void flows_stop(struct flows *flows, int deadline_ms, void (*done)(void *arg), void *arg);
/* On the loop: tells the flow that serves a request to end. */
void flows_cancel(struct flows *flows, const struct bus_request *request);

/* How a flow answered. If there is a code, it is an error with `body` as its text. */
struct flow_end {
	const char *code;
	struct str body;
};

/* Calls `fn` on the loop for each answer, before it is sent. One for all flows. */
void flows_on_end(struct flows *flows,
	void (*fn)(
		void *arg, const struct bus_request *request, const struct flow_end *end),
	void *arg);

/* True after flows_stop: a flow that ends now was not cancelled by its caller. */
bool flows_stopping(const struct flows *flows);

/* ---- on the flow's thread ---- */

void *flow_context(const struct flow *flow);
/* Identifies the flow on the loop; do not read it. NULL when nobody waits for the flow. */
const struct bus_request *flow_request(const struct flow *flow);
/* A flow calls exactly one of these to answer its caller. It may go on afterwards. Text is
 * copied. */
void flow_answer(struct flow *flow, struct str body);
void flow_answer_message(struct flow *flow, const struct type *type, const void *message);
void flow_fail(struct flow *flow, const char *code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool flow_answered(const struct flow *flow);
/* Publishes "ui/<type>" with the message. */
void flow_publish(struct flow *flow, const char *topic, const struct type *type,
	const void *message);
/* Calls another worker; blocks. The reply is borrowed until the flow ends. */
struct bus_reply flow_call(struct flow *flow, enum method method, const void *request);
/* The same for a METHOD_KEYED method, with a new key. */
struct bus_reply flow_call_keyed(
	struct flow *flow, enum method method, const void *request);
/* The same with the given key. */
struct bus_reply flow_call_with_key(
	struct flow *flow, enum method method, struct str key, const void *request);
/* Runs `fn(arg)` on a thread beside this one and returns a handle; flow_join waits for
 * it. */
struct flow_branch *flow_fork(
	struct flow *flow, void (*fn)(struct flow *flow, void *arg), void *arg);
void flow_join(struct flow_branch *branch);
/* Becomes true when the flow should end. */
const atomic_bool *flow_cancelled(const struct flow *flow);
/* Takes over a document, which is freed with the flow. */
void flow_keep_document(struct flow *flow, yyjson_doc *doc);
/* Waits, or returns early when the flow is cancelled. */
void flow_sleep_ms(struct flow *flow, int64_t ms);
