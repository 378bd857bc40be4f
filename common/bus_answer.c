/*
 * bus_answer.c - answers: collected per message, sent as one reply, or as several parts
 * when they are large. Called by whoever serves a method, and by bus_serve.c.
 */
#include "common/bus_private.h"
#include "common/log.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A part ends with the answer that passes this, so it stays below BUS_RECEIVE_MAX. */
#define PART_SOFT_BYTES (2u * 1024 * 1024)
_Static_assert(PART_SOFT_BYTES + BUS_BODY_MAX + (1024 * 1024) < BUS_RECEIVE_MAX,
	"a part fits into a message");

/* ---- sending ---- */

static void send_text(struct bus_batch *batch, struct str text)
{
	struct bus_reception *place = batch->place;
	struct nng_msg *message;
	char *to;

	bus_publish_flush(batch->bus);
	message = bus_message_new(text.len, &to);
	memcpy(to, text.ptr, text.len);
	batch->place = NULL;
	batch->bus->sent_at = clock_mono();
	bus_reception_answer(place, message);
	bus_serve_answered(batch->bus, place);
}

static void add_record(
	struct buf *to, const struct bus_batch *batch, const struct bus_answer *a)
{
	struct str body = {batch->bodies.data + a->at, a->len};
	struct bus_reply_record record = {a->id, a->ok, body};
	char line[BUS_LINE_MAX];

	buf_add(to, line, bus_reply_format(&record, line));
	buf_add_str(to, body);
}

/* Moves the next answers, in the order of the calls, to sent. */
static void cut_part(struct bus_batch *batch)
{
	struct bus_reply_head head = {.seq = batch->head.seq, .part = batch->part};
	struct buf records = {0};
	char line[BUS_LINE_MAX];

	while (batch->answers_sent < batch->answer_count &&
		records.len < PART_SOFT_BYTES) {
		const struct bus_answer *a = &batch->answers[batch->answers_sent++];

		if (!a->answered)
			continue; /* it came too late */
		add_record(&records, batch, a);
		batch->bytes_sent += a->len;
	}
	if (batch->answers_sent == batch->answer_count) {
		buf_clear(&batch->bodies);
		batch->bytes_sent = batch->answers_sent = batch->answer_count = 0;
	}
	if (!batch->begun || batch->answer_count > 0)
		head.kind = BUS_REPLY_MORE;
	buf_clear(&batch->sent);
	buf_add(&batch->sent, line, bus_reply_head_format(&head, line));
	buf_add_str(&batch->sent, buf_str(&records));
	buf_free(&records);
	batch->part++;
	batch->finished = head.kind == BUS_REPLY_WHOLE;
}

void bus_batch_send_back(struct bus_batch *batch)
{
	struct bus_reply_head head = {
		.seq = batch->head.seq, .part = batch->part, .kind = BUS_REPLY_AGAIN};
	char line[BUS_LINE_MAX];

	send_text(batch, (struct str){line, bus_reply_head_format(&head, line)});
}

void bus_batch_repeat(struct bus_batch *batch)
{
	send_text(batch, buf_str(&batch->sent));
}

static void flush_next(struct bus_peer *peer)
{
	struct bus_batch *next = peer->batches[peer->order.reply_next % BUS_WINDOW];

	if (next && next->head.seq == peer->order.reply_next)
		bus_batch_flush(next);
}

void bus_batch_flush(struct bus_batch *batch)
{
	struct bus_peer *peer = batch->peer;

	if (batch->running || batch->tired || batch->pending > 0 || batch->finished)
		return;
	if (!peer && batch->head.seq != 0) {
		bus_batch_free(batch); /* nobody waits for it */
		return;
	}
	if (!batch->place || (peer && batch->head.seq != peer->order.reply_next))
		return;
	cut_part(batch);
	send_text(batch, buf_str(&batch->sent));
	if (!batch->finished)
		return;
	if (!peer) {
		bus_batch_free(batch);
		return;
	}
	bus_batch_drop_message(batch);
	bus_order_replied(&peer->order);
	flush_next(peer);
}

/* ---- answering ---- */

/* The request is answered; nothing of it is left. */
static void request_done(struct bus_request *request)
{
	struct bus_batch *batch = request->private_->batch;

	assert(batch->pending > 0);
	bus_batch_call_over(batch);
	yyjson_doc_free(request->private_->document);
	arena_free(&request->arena);
	free(request->private_);
	free(request);
	bus_batch_flush(batch);
}

size_t bus_answer_expect(struct bus_batch *batch, uint64_t id)
{
	if (batch->answer_count == batch->answer_room) {
		batch->answer_room = batch->answer_room ? batch->answer_room * 2 : 4;
		batch->answers = reallocarray(
			batch->answers, batch->answer_room, sizeof(*batch->answers));
		if (!batch->answers)
			abort();
	}
	batch->answers[batch->answer_count] = (struct bus_answer){.id = id};
	return batch->answer_count++;
}

static void keep(struct bus_request *request, bool ok, struct str body)
{
	struct bus_batch *batch = request->private_->batch;
	struct bus_answer *a = &batch->answers[request->private_->index];

	bus_tap_answer(request, ok, body);
	if (!batch->peer && batch->head.seq != 0)
		return; /* nobody waits for it */
	a->answered = true;
	a->ok = ok;
	a->at = batch->bodies.len;
	a->len = body.len;
	buf_add_str(&batch->bodies, body);
}

void bus_answer_late(struct bus_request *request)
{
	request_done(request);
}

void bus_answer(struct bus_request *request, struct str body)
{
	if (body.len > BUS_BODY_MAX) {
		bus_answer_error(request, "TOO_BIG", (struct str){NULL, 0},
			"The answer to %s is too big (%zu bytes, at most %u)",
			method_infos[request->method].name, body.len, BUS_BODY_MAX);
		return;
	}
	keep(request, true, body.len ? body : STR_LIT("{}"));
	request_done(request);
}

void bus_answer_message(struct bus_request *request, const void *reply)
{
	const struct type *(*type)(void) = method_infos[request->method].reply;
	struct buf body = {0};

	if (type && reply)
		proto_encode(type(), reply, &body);
	bus_answer(request, buf_str(&body));
	buf_free(&body);
}

void bus_answer_error(struct bus_request *request, const char *code, struct str context,
	const char *format, ...)
{
	struct buf body = {0};
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
	keep(request, false, buf_str(&body));
	buf_free(&body);
	request_done(request);
}
