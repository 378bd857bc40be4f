/*
 * bus_answer.c - answers: collected per message, sent as one reply, or as several parts
 * when they are large. Called by whoever serves a method, and by bus_serve.c.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/bus/bus_private.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A part ends with the answer that passes this, so it stays below BUS_RECEIVE_MAX. */
#define PART_SOFT_BYTES (2u * 1024 * 1024)
_Static_assert(PART_SOFT_BYTES + BUS_BODY_MAX + (1024 * 1024) < BUS_RECEIVE_MAX,
	"a part fits into a message");

/* A longer body is not copied beside the others. */
#define LARGE_BYTES (64u * 1024)

/* ---- sending ---- */

static void send_message(struct bus_batch *batch, struct nng_msg *message)
{
	struct bus_reception *reply_slot = batch->reply_slot;

	bus_publish_flush(batch->bus);
	batch->reply_slot = NULL;
	batch->bus->sent_at = clock_mono();
	batch->bus->server.replies_sent++;
	bus_reception_answer(reply_slot, message);
	bus_serve_answered(batch->bus, reply_slot);
}

static struct str body_of(const struct bus_batch *batch, const struct bus_answer *a)
{
	if (a->large.data)
		return buf_str(&a->large);
	return (struct str){batch->bodies.data + a->at, a->len};
}

static size_t put(char *to, const void *from, size_t len)
{
	if (len)
		memcpy(to, from, len);
	return len;
}

/* Sends the last part that was cut: its answers are kept until the next one is asked for,
 * so that a large one is copied only once. */
static void send_part(struct bus_batch *batch)
{
	struct bus_reply_head head = {.seq = batch->head.seq,
		.part = batch->part - 1,
		.kind = batch->finished ? BUS_REPLY_WHOLE : BUS_REPLY_MORE};
	size_t most = BUS_LINE_MAX, len;
	char line[BUS_LINE_MAX], *to;
	struct nng_msg *message;

	for (size_t i = batch->part_first; i < batch->part_end; i++)
		most += BUS_LINE_MAX + batch->answers[i].len;
	message = bus_message_new(most, &to);
	len = put(to, line, bus_reply_head_format(&head, line));
	for (size_t i = batch->part_first; i < batch->part_end; i++) {
		const struct bus_answer *a = &batch->answers[i];
		struct bus_reply_record record = {a->id, a->ok, body_of(batch, a)};

		if (!a->answered)
			continue; /* it came too late */
		len += put(to + len, line, bus_reply_format(&record, line));
		len += put(to + len, record.body.ptr, record.body.len);
	}
	bus_message_shorten(message, most - len);
	send_message(batch, message);
}

/* Takes the next answers, in the order of the calls, into a part. */
static void cut_part(struct bus_batch *batch)
{
	size_t bytes = 0;

	batch->part_first = batch->part_end;
	while (batch->part_end < batch->answer_count && bytes < PART_SOFT_BYTES)
		bytes += batch->answers[batch->part_end++].len;
	batch->bytes_waiting -= bytes;
	batch->part++;
	batch->finished = batch->begun && batch->part_end == batch->answer_count;
}

void bus_batch_forget_sent(struct bus_batch *batch)
{
	for (size_t i = batch->part_first; i < batch->part_end; i++)
		buf_free(&batch->answers[i].large);
	batch->part_first = batch->part_end;
	if (batch->part_end < batch->answer_count)
		return;
	buf_clear(&batch->bodies);
	batch->part_first = batch->part_end = batch->answer_count = 0;
}

void bus_batch_send_back(struct bus_batch *batch)
{
	struct bus_reply_head head = {
		.seq = batch->head.seq, .part = batch->part, .kind = BUS_REPLY_AGAIN};
	char line[BUS_LINE_MAX], *to;
	size_t len = bus_reply_head_format(&head, line);
	struct nng_msg *message = bus_message_new(len, &to);

	put(to, line, len);
	send_message(batch, message);
}

void bus_batch_repeat(struct bus_batch *batch)
{
	send_part(batch);
}

static void flush_next(struct bus_caller *caller)
{
	struct bus_batch *next = caller->batches[caller->order.reply_next % BUS_WINDOW];

	if (next && next->head.seq == caller->order.reply_next)
		bus_batch_flush(next);
}

void bus_batch_flush(struct bus_batch *batch)
{
	struct bus_caller *caller = batch->caller;

	if (batch->running || batch->yielded || batch->pending > 0 || batch->finished)
		return;
	if (!caller && batch->head.seq != 0) {
		bus_batch_free(batch); /* nobody waits for it */
		return;
	}
	if (!batch->reply_slot || (caller && batch->head.seq != caller->order.reply_next))
		return;
	cut_part(batch);
	send_part(batch);
	if (!batch->finished)
		return;
	if (!caller) {
		bus_batch_free(batch);
		return;
	}
	bus_batch_drop_message(batch);
	bus_order_replied(&caller->order);
	flush_next(caller);
}

/* ---- answering ---- */

static void free_request(void *arg)
{
	struct bus_request *request = arg;

	yyjson_doc_free(request->private_->document);
	arena_free(&request->arena);
	free(request->private_);
	free(request);
}

/* The request is answered; nothing of it is left. */
static void request_done(struct bus_request *request)
{
	struct bus_batch *batch = request->private_->batch;
	/* What was decoded beside the loop is freed there: that of millions of values takes
	 * its time. */
	const bool beside = request->private_->job.run != NULL;

	assert(batch->pending > 0);
	bus_batch_call_over(batch);
	jobs_release(beside ? request->bus->server.readers : NULL, free_request, request);
	bus_batch_flush(batch);
}

size_t bus_answer_expect(struct bus_batch *batch, uint64_t id)
{
	if (batch->answer_count == batch->answer_room) {
		batch->answer_room = batch->answer_room ? batch->answer_room * 2 : 4;
		batch->answers = xreallocarray(
			batch->answers, batch->answer_room, sizeof(*batch->answers));
	}
	batch->answers[batch->answer_count] = (struct bus_answer){.id = id};
	return batch->answer_count++;
}

/* The body is that of `owner`, which is taken over when it is large; NULL: it is copied. */
static void keep(struct bus_request *request, bool ok, struct str body, struct buf *owner)
{
	struct bus_batch *batch = request->private_->batch;
	struct bus_answer *a = &batch->answers[request->private_->index];

	bus_tap_answer(request, ok, body);
	if (!batch->caller && batch->head.seq != 0)
		return; /* nobody waits for it */
	a->answered = true;
	a->ok = ok;
	a->len = body.len;
	batch->bytes_waiting += body.len;
	if (body.len <= LARGE_BYTES) {
		a->at = batch->bodies.len;
		buf_add_str(&batch->bodies, body);
	} else if (owner) {
		a->large = *owner;
		*owner = (struct buf){0};
	} else {
		buf_add_str(&a->large, body);
	}
}

void bus_answer_late(struct bus_request *request)
{
	request_done(request);
}

static void answer(struct bus_request *request, struct str body, struct buf *owner)
{
	if (body.len > BUS_BODY_MAX) {
		bus_answer_error(request, "TOO_BIG", (struct str){NULL, 0},
			"The answer to %s is too big (%zu bytes, at most %u)",
			method_infos[request->method].name, body.len, BUS_BODY_MAX);
		return;
	}
	keep(request, true, body.len ? body : STR_LIT("{}"), owner);
	request_done(request);
}

void bus_answer(struct bus_request *request, struct str body)
{
	answer(request, body, NULL);
}

void bus_answer_taking(struct bus_request *request, struct buf *body)
{
	answer(request, buf_str(body), body);
	buf_free(body);
}

void bus_answer_message(struct bus_request *request, const void *reply)
{
	const struct type *(*type)(void) = method_infos[request->method].reply;
	struct buf body = {0};

	if (type && reply)
		proto_encode(type(), reply, &body);
	bus_answer_taking(request, &body);
}

void bus_answer_error(struct bus_request *request, const char *code, struct str context,
	const char *format, ...)
{
	AUTO_BUF body = {0};
	struct str message;
	va_list args;

	va_start(args, format);
	message = arena_vprintf(&request->arena, format, args);
	va_end(args);
	buf_add_str(&body, STR_LIT("{\"code\":"));
	buf_add_json_string(&body, str_of(code));
	buf_add_str(&body, STR_LIT(",\"message\":"));
	buf_add_json_string(&body, message);
	if (context.ptr && context.len) {
		buf_add_str(&body, STR_LIT(",\"context\":"));
		buf_add_str(&body, context);
	}
	buf_add_char(&body, '}');
	keep(request, false, buf_str(&body), NULL);
	request_done(request);
}
