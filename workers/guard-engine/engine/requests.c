/*
 * requests.c - what machines want to know from a model (engine.h).
 *
 * A request stands in the state of its machine as the number of an event. Here the rows
 * around that event are read, the llm worker is asked, and the answer comes back as an
 * event of the engine. What a crash cuts off is asked again, since the state still wants
 * it.
 */
#include "workers/guard-engine/engine/requests.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "workers/guard-engine/interview/interview.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* One request under way. Names its instance, which may be read anew meanwhile. */
struct asking {
	struct engine *engine;
	enum guard_kind kind;
	char id[GUARD_ID_SIZE];
	struct machine_request request;
};

/* ---- what is under way ---- */

static bool same(const struct machine_request *a, const struct machine_request *b)
{
	return a->kind == b->kind && a->seq == b->seq && a->attempt == b->attempt;
}

static bool is_asked(const struct instance *i, const struct machine_request *request)
{
	for (int n = 0; n < i->asked_count; n++)
		if (same(&i->asked[n], request))
			return true;
	return false;
}

void requests_forget(struct instance *i, const struct machine_request *request)
{
	for (int n = 0; n < i->asked_count; n++) {
		if (!same(&i->asked[n], request))
			continue;
		i->asked[n] = i->asked[--i->asked_count];
		return;
	}
}

bool requests_open(const struct instance *i, const struct machine_request *request)
{
	struct machine_request open[MACHINE_MAX_REQUESTS];
	int count;

	if (i->phase != INSTANCE_READY || !i->stream.machine->requests)
		return false;
	count = i->stream.machine->requests(i->stream.state, open);
	for (int n = 0; n < count; n++)
		if (same(&open[n], request))
			return true;
	return false;
}

/* ---- the answer, as an event ---- */

/* Ends a request with an event {type, …}; NULL: without one, and it is asked again. */
static void finish(
	struct asking *a, const char *event, const struct type *type, const void *message)
{
	struct instance *i = instances_find(a->engine, a->kind, str_of(a->id));
	AUTO_BUF text = {0}, fields = {0};
	struct proto_error error;
	struct op *op;

	if (i && event && requests_open(i, &a->request) && !a->engine->stopping) {
		proto_encode(type, message, &fields);
		buf_printf(&text, "{\"type\":\"%s\",", event);
		buf_add(&text, fields.data + 1, fields.len - 1);
		op = op_new(a->engine, a->kind, NULL, NULL);
		op->doc = proto_parse(buf_str(&text), &error);
		op->event = yyjson_doc_get_root(op->doc);
		op->answers = a->request;
		apply_enqueue(i, op);
	} else if (i) {
		requests_forget(i, &a->request);
		if (i->phase == INSTANCE_READY)
			requests_sync(i);
	}
	free(a);
}

static void finish_failed(struct asking *a, struct str why)
{
	struct guard_failure failure = {.error = utf8_cut(why, 1000)};
	struct interview_answer nothing = {.error = failure.error};

	log_warn("a guard's question to the model failed", "kind", "%s",
		guard_kind_enumeration()->names[a->kind], "id", "%s", a->id, "seq",
		"%" PRId64, a->request.seq, "error", "%.*s", STR_ARG(failure.error),
		NULL);
	switch (a->request.kind) {
	case MACHINE_REQUEST_CONTROL:
		finish(a, "control_failed", guard_failure_type(), &failure);
		return;
	case MACHINE_REQUEST_COVERAGE:
		finish(a, "interviewer_failed", guard_failure_type(), &failure);
		return;
	case MACHINE_REQUEST_ASSISTANT:
		finish(a, "assistant_result", interview_answer_type(), &nothing);
		return;
	}
}

static void finish_control(struct asking *a, const struct control_response *r)
{
	struct guard_control_result result = {
		.pillars = {.adaptability = r->pillars.adaptability,
			.creativity = r->pillars.creativity,
			.reasoning = r->pillars.reasoning},
		.rationale = utf8_cut(r->rationale, REQUESTS_MAX_TEXT),
		.has_rationales = true,
		.rationales = {.adaptability = utf8_cut(r->pillar_rationales.adaptability,
				       REQUESTS_MAX_TEXT),
			.creativity = utf8_cut(
				r->pillar_rationales.creativity, REQUESTS_MAX_TEXT),
			.reasoning = utf8_cut(
				r->pillar_rationales.reasoning, REQUESTS_MAX_TEXT)},
	};

	finish(a, "control_result", guard_control_result_type(), &result);
}

static void finish_coverage(struct asking *a, const struct interview_coverage_response *r)
{
	struct interview_result result = {
		.coverage = {r->coverage.items, r->coverage.count}};

	finish(a, "interviewer_result", interview_result_type(), &result);
}

static void finish_assistant(
	struct asking *a, const struct interview_assistant_response *r)
{
	struct interview_answer result = {
		.text = utf8_cut(r->text, REQUESTS_MAX_TEXT),
		.category = str_of(interview_help_enumeration()->names[r->category]),
	};

	finish(a, "assistant_result", interview_answer_type(), &result);
}

static enum method method_of(enum machine_request_kind kind)
{
	switch (kind) {
	case MACHINE_REQUEST_CONTROL:
		return METHOD_CONTROL;
	case MACHINE_REQUEST_COVERAGE:
		return METHOD_INTERVIEW_COVERAGE;
	case MACHINE_REQUEST_ASSISTANT:
		break;
	}
	return METHOD_INTERVIEW_ASSISTANT;
}

static void on_answer(void *arg, const struct bus_reply *reply)
{
	struct asking *a = arg;
	AUTO_ARENA arena = {0};
	struct proto_error error;
	union {
		struct control_response control;
		struct interview_coverage_response coverage;
		struct interview_assistant_response assistant;
	} answer;

	if (reply->status != BUS_OK)
		finish_failed(a, reply->message);
	else if (bus_reply_decode(
			 method_of(a->request.kind), reply, &arena, &answer, &error) < 0)
		finish_failed(a, str_of(error.text));
	else if (a->request.kind == MACHINE_REQUEST_CONTROL)
		finish_control(a, &answer.control);
	else if (a->request.kind == MACHINE_REQUEST_COVERAGE)
		finish_coverage(a, &answer.coverage);
	else
		finish_assistant(a, &answer.assistant);
}

/* ---- the question ---- */

static void ask(struct asking *a, const void *message)
{
	static const int64_t deadlines_ms[] = {
		[MACHINE_REQUEST_CONTROL] = REQUESTS_CONTROL_MS,
		[MACHINE_REQUEST_COVERAGE] = REQUESTS_COVERAGE_MS,
		[MACHINE_REQUEST_ASSISTANT] = REQUESTS_ASSISTANT_MS,
	};

	bus_call_message(a->engine->bus, method_of(a->request.kind), (struct str){0},
		message, deadlines_ms[a->request.kind], on_answer, a);
}

static void ask_control(
	struct asking *a, const struct request_rows *rows, struct arena *arena)
{
	struct control_run message;

	if (requests_control(rows, a->request.seq, arena, &message))
		ask(a, &message);
	else
		finish_failed(a, STR_LIT("the answer is not in the stream"));
}

static void ask_coverage(struct asking *a, const struct instance *i,
	const struct request_rows *rows, struct arena *arena)
{
	const struct interview *s = i->stream.state;
	struct interview_coverage_request message;

	requests_coverage(
		&s->schema->sections[s->current], rows, a->request.seq, arena, &message);
	ask(a, &message);
}

static void ask_assistant(
	struct asking *a, const struct instance *i, const struct request_rows *rows)
{
	const struct interview *s = i->stream.state;
	struct interview_assistant_request message = {
		.section = str_of(s->schema->sections[s->current].name),
		.query = requests_text(rows, a->request.seq, "text"),
	};

	if (message.query.ptr)
		ask(a, &message);
	else
		finish_failed(a, STR_LIT("the query is not in the stream"));
}

/* The rows around the event are there: the model is asked, if that is still wanted. */
static void on_rows(void *arg, const struct bus_reply *reply)
{
	struct asking *a = arg;
	struct instance *i = instances_find(a->engine, a->kind, str_of(a->id));
	AUTO_ARENA arena = {0};
	struct proto_error error;
	struct stream_rows page;
	struct request_rows rows;

	if (!i || !requests_open(i, &a->request)) {
		finish(a, NULL, NULL, NULL);
	} else if (reply->status != BUS_OK || bus_reply_decode(METHOD_STREAM_ROWS, reply,
						      &arena, &page, &error) < 0) {
		finish_failed(a, STR_LIT("the stream could not be read"));
	} else {
		requests_read(&page, &arena, &rows);
		if (a->request.kind == MACHINE_REQUEST_CONTROL)
			ask_control(a, &rows, &arena);
		else if (a->request.kind == MACHINE_REQUEST_COVERAGE)
			ask_coverage(a, i, &rows, &arena);
		else
			ask_assistant(a, i, &rows);
		requests_free(&rows);
	}
}

static void begin(struct instance *i, const struct machine_request *request)
{
	struct asking *a = xcalloc(1, sizeof(*a));
	int64_t since = request->seq - REQUESTS_ROWS;
	struct stream_rows_query query = {
		.kind = i->kind, .id = str_of(i->id), .since = since > 0 ? since : 0};

	*a = (struct asking){.engine = i->engine, .kind = i->kind, .request = *request};
	snprintf(a->id, sizeof(a->id), "%s", i->id);
	i->asked[i->asked_count++] = *request;
	bus_call_message(i->engine->bus, METHOD_STREAM_ROWS, (struct str){0}, &query, 0,
		on_rows, a);
}

void requests_sync(struct instance *i)
{
	struct machine_request open[MACHINE_MAX_REQUESTS];
	int count;

	if (!i->stream.machine->requests || i->engine->stopping)
		return;
	count = i->stream.machine->requests(i->stream.state, open);
	for (int n = 0; n < count && i->asked_count < MACHINE_MAX_REQUESTS; n++)
		if (!is_asked(i, &open[n]))
			begin(i, &open[n]);
}
