/*
 * bus_serve.c - requests to this worker: received, put in order, begun. bus_answer.c
 * sends the replies; bus_order.c decides what may run.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include "common/bus/rules/bus_folder.h"
#include "common/loop/timer.h"
#include <errno.h>
#include <stdlib.h>

/* No more calls of a batch are begun while this much of its reply waits to be sent. */
#define PART_BYTES (8u * 1024 * 1024)
/* Calls of a batch are begun for so long, then the loop has its turn. */
#define SLICE_US 4000
/* A caller keeps to BUS_MAX_CALLS, BUS_MAX_BYTES and BUS_ALONE_MAX; what a process before
 * it had asked for may not be over yet. */
#define SHARE 2
/* Longer than any method may take. */
#define DEADLINE_MAX_MS (24 * 3600 * 1000)
/* How long a batch waits for the one before it, before the caller is asked to send it
 * again. */
#define HOLD_MS 20

/* `head`: of the request, NULL when it was not understood. */
static void complain(struct bus *bus, const char *what, const struct bus_head *head)
{
	unsigned more;

	if (bus_may_complain(bus, &more))
		log_error(what, "from", "%s",
			head ? worker_infos[head->caller].name : "unknown", "more", "%u",
			more, NULL);
}

/* ---- what a caller has asked for ---- */

static struct bus_caller *caller_of(const struct bus_batch *batch)
{
	return &batch->bus->server.callers[batch->head.caller];
}

/* One that was taken over must not be able to fill our memory, or to take every reply slot
 * where requests arrive. */
static bool has_share(
	const struct bus_caller *caller, const struct bus_head *head, size_t bytes)
{
	return caller->bytes + bytes <= (size_t)SHARE * BUS_MAX_BYTES &&
	       caller->calls < SHARE * BUS_MAX_CALLS &&
	       (head->seq != 0 || caller->alone < SHARE * BUS_ALONE_MAX);
}

void bus_batch_drop_message(struct bus_batch *batch)
{
	if (!batch->message)
		return;
	caller_of(batch)->bytes -= bus_message_text(batch->message).len;
	bus_message_free(batch->message);
	batch->message = NULL;
}

void bus_batch_call_over(struct bus_batch *batch)
{
	batch->pending--;
	batch->bus->server.open_requests--;
	caller_of(batch)->calls--;
}

/* ---- one call ---- */

/* The end of the time that the caller has, whatever he wrote. */
static struct mono deadline_of(
	const struct bus_batch *batch, const struct bus_call_record *record)
{
	struct mono sent = {batch->head.sent_us < 0 ? 0 : batch->head.sent_us};
	int64_t left = record->deadline_ms;

	left = left < 0 ? 0 : left > DEADLINE_MAX_MS ? DEADLINE_MAX_MS : left;
	return mono_add_ms(sent, left);
}

static struct bus_request *request_new(
	struct bus_batch *batch, enum method method, const struct bus_call_record *record)
{
	struct bus_request *request = xcalloc(1, sizeof(*request));
	struct bus_request_private *p = xcalloc(1, sizeof(*p));

	p->request = request;
	p->batch = batch;
	p->index = bus_answer_expect(batch, record->id);
	request->method = method;
	request->caller = batch->head.caller;
	request->key = record->key;
	request->body = record->body;
	request->deadline = deadline_of(batch, record);
	request->bus = batch->bus;
	request->private_ = p;
	batch->pending++;
	batch->bus->server.open_requests++;
	caller_of(batch)->calls++;
	return request;
}

/* Parses and decodes the body. Touches nothing but the request: for any thread. */
static void read_body(struct bus_request *request)
{
	const struct method_info *info = &method_infos[request->method];
	const struct type *type = info->request ? info->request() : NULL;
	struct bus_request_private *p = request->private_;

	p->document = proto_parse(request->body, &p->error);
	if (!p->document)
		return;
	request->json = yyjson_doc_get_root(p->document);
	if (type)
		p->message = arena_alloc(&request->arena, type->size);
	p->understood =
		!type || proto_decode(type, request->json, "payload", DECODE_LENIENT,
				 &request->arena, p->message, &p->error) == 0;
}

static void hand_over(struct bus_request *request)
{
	struct bus_method *served = &request->bus->server.methods[request->method];
	struct bus_request_private *p = request->private_;

	if (p->understood)
		served->fn(served->arg, request, p->message);
	else
		bus_answer_error(request, "INVALID_MESSAGE", (struct str){NULL, 0}, "%s",
			p->error.text);
}

static void run_read(struct job *job)
{
	struct bus_request_private *p =
		CONTAINER_OF(job, struct bus_request_private, job);

	read_body(p->request);
}

/* The rest of the batch comes after it, as if it had been read at once. */
static void done_read(struct job *job)
{
	struct bus_request_private *p =
		CONTAINER_OF(job, struct bus_request_private, job);
	struct bus_batch *batch = p->batch;

	batch->reading = false;
	batch->running = true;
	/* The caller has given up, or is another process by now, whose calls may have been
	 * done. */
	if ((!batch->caller && batch->head.seq != 0) ||
		p->request->deadline.us <= clock_mono().us)
		bus_answer_late(p->request);
	else
		hand_over(p->request);
	batch->running = false;
	bus_batch_run(batch);
}

static void serve(struct bus_request *request)
{
	const struct method_info *info = &method_infos[request->method];
	struct bus_request_private *p = request->private_;

	if (!request->bus->server.methods[request->method].fn) {
		bus_answer_error(request, "NOT_IMPLEMENTED", (struct str){NULL, 0},
			"%s is not served by the %s worker", info->name,
			worker_infos[request->bus->self].name);
	} else if (request->body.len > BUS_READ_AT_ONCE_BYTES) {
		p->batch->reading = true;
		p->job = (struct job){.run = run_read, .done = done_read};
		jobs_add(request->bus->server.readers, &p->job);
	} else {
		read_body(request);
		hand_over(request);
	}
}

static void begin(struct bus_batch *batch, const struct bus_call_record *record)
{
	struct bus *bus = batch->bus;
	int method = method_by_name(record->method);
	struct bus_request *request;

	/* A caller of another version may ask for what nobody knows. */
	request = request_new(
		batch, method < 0 ? METHOD_COUNT : (enum method)method, record);
	bus_tap_call(request, record->method);
	if (request->deadline.us <= clock_mono().us)
		bus_answer_late(request);
	else if (method < 0)
		bus_answer_error(request, "NOT_IMPLEMENTED", (struct str){NULL, 0},
			"%.*s is not served by the %s worker", STR_ARG(record->method),
			worker_infos[bus->self].name);
	else if (!(method_infos[method].callers & 1u << batch->head.caller))
		bus_answer_error(request, "NOT_ALLOWED", (struct str){NULL, 0},
			"%s is not for the %s worker", method_infos[method].name,
			worker_infos[batch->head.caller].name);
	else
		serve(request);
}

/* ---- batches ---- */

void bus_batch_free(struct bus_batch *batch)
{
	bus_batch_drop_message(batch);
	if (batch->head.seq == 0)
		caller_of(batch)->alone--;
	buf_free(&batch->bodies);
	for (size_t i = 0; i < batch->answer_count; i++)
		buf_free(&batch->answers[i].large);
	free(batch->answers);
	free(batch);
}

static void run_next(struct bus_caller *caller)
{
	struct bus_batch *next = caller->batches[caller->order.next % BUS_WINDOW];

	if (next && next->held && next->head.seq == caller->order.next)
		bus_batch_run(next);
}

static void yield_loop(struct bus_batch *batch)
{
	struct bus_server *s = &batch->bus->server;

	batch->yielded = true;
	batch->next = NULL;
	if (s->yielded_last)
		s->yielded_last->next = batch;
	else
		s->yielded = batch;
	s->yielded_last = batch;
	event_add_ms(s->go_on, 0);
}

static void begin_calls(struct bus_batch *batch)
{
	struct mono end = {clock_mono().us + SLICE_US};
	struct bus_call_record record;
	int r;

	while (!batch->begun && batch->bytes_waiting < PART_BYTES) {
		r = bus_call_parse(&batch->rest, &record);
		if (r == 1 && ++batch->calls > BUS_BATCH_CALLS)
			r = -E2BIG;
		if (r == 1) {
			begin(batch, &record);
			if (batch->reading)
				return;
			if (clock_mono().us >= end.us && batch->rest.len > 0) {
				yield_loop(batch);
				return;
			}
			continue;
		}
		if (r < 0)
			complain(batch->bus,
				r == -E2BIG ? "request with too many calls"
					    : "request that cannot be read",
				&batch->head);
		batch->begun = true;
	}
}

void bus_batch_run(struct bus_batch *batch)
{
	struct bus_caller *caller = batch->caller;
	bool was_begun = batch->begun;

	if (batch->yielded || batch->reading)
		return;
	batch->held = false;
	batch->running = true;
	begin_calls(batch);
	batch->running = false;
	if (caller && batch->begun && !was_begun)
		bus_order_begun(&caller->order);
	else
		caller = NULL;
	bus_batch_flush(batch);
	if (caller)
		run_next(caller);
}

/* One batch per turn of the loop. */
static void on_go_on(EVENT_UNUSED, void *arg)
{
	struct bus *bus = arg;
	struct bus_server *s = &bus->server;
	struct bus_batch *batch = s->yielded;

	if (!batch)
		return;
	s->yielded = batch->next;
	if (s->yielded)
		event_add_ms(s->go_on, 0);
	else
		s->yielded_last = NULL;
	batch->yielded = false;
	bus_batch_run(batch);
}

/* The caller does not wait for this batch any more. */
static void drop_batch(struct bus_batch **slot)
{
	struct bus_batch *batch = *slot;

	*slot = NULL;
	if (!batch)
		return;
	bus_serve_drop_reply_slot(batch->bus, batch->reply_slot);
	batch->reply_slot = NULL;
	batch->caller = NULL;
	batch->begun = true;
	if (batch->pending == 0 && !batch->yielded)
		bus_batch_free(batch);
}

/*
 * What is held for long waits for a batch that never comes: it was answered by an earlier
 * process of this worker, which the caller knows by now and did not when it sent this
 * one.
 */
static void on_hold(EVENT_UNUSED, void *arg)
{
	struct bus *bus = arg;

	for (int i = 0; i < WORKER_COUNT * BUS_WINDOW; i++) {
		struct bus_caller *caller = &bus->server.callers[i / BUS_WINDOW];
		struct bus_batch **slot = &caller->batches[i % BUS_WINDOW];

		if (!*slot || !(*slot)->held)
			continue;
		if ((*slot)->reply_slot)
			bus_batch_send_back(*slot);
		drop_batch(slot);
	}
}

static void hold(struct bus_batch *batch)
{
	batch->held = true;
	event_add_ms(batch->bus->server.hold, HOLD_MS);
}

static struct bus_batch *batch_new(struct bus *bus, const struct bus_head *head,
	struct nng_msg *message, struct str rest, struct bus_reception *reply_slot)
{
	struct bus_batch *batch = xcalloc(1, sizeof(*batch));

	batch->bus = bus;
	batch->head = *head;
	caller_of(batch)->bytes += bus_message_text(message).len;
	if (head->seq == 0)
		caller_of(batch)->alone++;
	batch->message = message;
	batch->rest = rest;
	batch->reply_slot = reply_slot;
	batch->part = head->part;
	return batch;
}

/* The same batch once more, or the next part of its reply is asked for. */
static void again(struct bus_batch *batch, const struct bus_head *head,
	struct bus_reception *reply_slot)
{
	if (head->part > batch->part || head->part + 1 < batch->part) {
		bus_serve_drop_reply_slot(batch->bus, reply_slot);
		return;
	}
	bus_serve_drop_reply_slot(batch->bus, batch->reply_slot);
	batch->reply_slot = reply_slot;
	if (head->part < batch->part) {
		bus_batch_repeat(batch);
	} else {
		bus_batch_forget_sent(batch);
		bus_batch_run(batch);
	}
}

static void forget_answered(struct bus_caller *caller)
{
	for (int i = 0; i < BUS_WINDOW; i++)
		if (caller->batches[i] &&
			caller->batches[i]->head.seq < caller->order.base)
			drop_batch(&caller->batches[i]);
}

static void take_batch(struct bus *bus, const struct bus_head *head,
	struct nng_msg *message, struct str rest, struct bus_reception *reply_slot)
{
	struct bus_caller *caller = &bus->server.callers[head->caller];
	struct bus_batch **slot = &caller->batches[head->seq % BUS_WINDOW];
	enum bus_order_verdict verdict;

	if (bus_order_reset(&caller->order, head->incarnation, head->base))
		for (int i = 0; i < BUS_WINDOW; i++)
			drop_batch(&caller->batches[i]);
	verdict = bus_order_take(&caller->order, head->base, head->seq);
	forget_answered(caller);
	if (verdict != BUS_ORDER_REFUSE && *slot && (*slot)->head.seq == head->seq) {
		bus_message_free(message);
		if (verdict == BUS_ORDER_HOLD) {
			bus_serve_drop_reply_slot(bus, (*slot)->reply_slot);
			(*slot)->reply_slot = reply_slot;
		} else {
			again(*slot, head, reply_slot);
		}
		return;
	}
	if (verdict == BUS_ORDER_REFUSE || verdict == BUS_ORDER_REPEAT) {
		bus_message_free(message);
		bus_serve_drop_reply_slot(bus, reply_slot);
		return;
	}
	drop_batch(slot);
	*slot = batch_new(bus, head, message, rest, reply_slot);
	(*slot)->caller = caller;
	if (verdict == BUS_ORDER_RUN)
		bus_batch_run(*slot);
	else
		hold(*slot);
	/* With a newer base, one that was held may be the next. */
	run_next(caller);
}

/* ---- requests ---- */

void bus_serve_take(
	struct bus *bus, struct nng_msg *message, struct bus_reception *reply_slot)
{
	struct str text = bus_message_text(message);
	struct bus_head head;
	struct mono now = clock_mono();

	if (bus_head_parse(&text, &head) != 1 || head.caller == bus->self) {
		complain(bus, "request that cannot be read", NULL);
		goto drop;
	}
	/* A worker that an earlier run of the daemon left behind; it is gone in seconds.
	 */
	if (head.epoch != bus->epoch)
		goto drop;
	if (!bus_key_equal(&head.key, &bus->keys.from[head.caller])) {
		complain(bus, "request whose key is not its caller's; it says it is from",
			&head);
		goto drop;
	}
	if (!has_share(&bus->server.callers[head.caller], &head, text.len)) {
		complain(bus, "more requests than a caller may have under way", &head);
		goto drop;
	}
	/* Never later than now: the caller's clock is ours. */
	if (head.sent_us > now.us)
		head.sent_us = now.us;
	bus_affinity_request(bus, head.caller, text.len);
	if (head.seq == 0)
		bus_batch_run(batch_new(bus, &head, message, text, reply_slot));
	else
		take_batch(bus, &head, message, text, reply_slot);
	return;
drop:
	bus_message_free(message);
	bus_serve_drop_reply_slot(bus, reply_slot);
}

/* ---- life ---- */

static void on_connected(struct loop_task *task)
{
	struct bus_server *s = CONTAINER_OF(task, struct bus_server, listener.changed);

	bus_canary_connected(CONTAINER_OF(s, struct bus, server));
}

int bus_serve_open(struct bus *bus)
{
	char path[108];

	if (!bus->server.go_on)
		bus->server.go_on = evtimer_new(bus->base, on_go_on, bus);
	if (!bus->server.hold)
		bus->server.hold = evtimer_new(bus->base, on_hold, bus);
	if (!bus->server.readers)
		bus->server.readers = jobs_new(bus->base);
	if (!bus->server.go_on || !bus->server.hold || !bus->server.readers)
		return -ENOMEM;
	bus_socket_path(bus, bus->self, BUS_CALLS_SOCKET, path);
	return bus_listener_open(
		&bus->server.listener, BUS_LISTEN_REP, path, &bus->post, on_connected);
}

void bus_serve(struct bus *bus, enum method method, bus_serve_fn *fn, void *arg)
{
	bus->server.methods[method] = (struct bus_method){fn, arg};
}

bool bus_serves(const struct bus *bus, enum method method)
{
	return bus->server.methods[method].fn != NULL;
}
