/* serve.c - the methods of the guard worker (engine.h). */
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "workers/guard-engine/engine/folds.h"
#include <stdio.h>
#include <stdlib.h>

/* A list is cut here; newer ones are what somebody looks for. */
#define MAX_LISTED 10000

/* Every method that names a machine asks this first. True when it was answered. */
static bool refuse_id(struct bus_request *request, struct str id)
{
	char problem[GUARD_ID_PROBLEM_SIZE];

	if (guard_id_valid(id, problem))
		return false;
	bus_answer_error(request, "INVALID_MESSAGE", (struct str){0}, "%s", problem);
	return true;
}

/* ---- guard.create ---- */

static void refuse_creation(struct instance *i, struct op *op, const char *message)
{
	bus_answer_error(op->request, "INVALID_MESSAGE", (struct str){0}, "%s", message);
	op_free(op);
	instances_drop(i);
}

static void serve_create(void *arg, struct bus_request *request, const void *message)
{
	const struct guard_create *c = message;
	struct engine *e = arg;
	enum guard_kind kind = (enum guard_kind)c->kind;
	char made[UUID_SIZE];
	struct str id = c->id;
	struct proto_error error;
	struct guard_facts facts;
	struct instance *i;
	struct op *op;

	if (!id.ptr) {
		uuid7(clock_wall(), made);
		id = str_of(made);
	}
	if (refuse_id(request, id))
		return;
	i = instances_find(e, kind, id);
	if (i) {
		bus_answer_error(request,
			i->phase == INSTANCE_LOADING ? "BUSY" : "CONFLICT",
			(struct str){0}, "A guard machine with this id exists already");
		return;
	}
	i = instances_add(e, kind, id);
	op = op_new(e, kind, request, NULL);
	i->timeline = timeline_new(&op->came);
	i->stream.state = xcalloc(1, i->stream.machine->state_size);
	if (stream_new(&i->stream, c->config.val, &e->defaults, &request->arena, &error) <
		0)
		refuse_creation(i, op, error.text);
	else if (!apply_facts(i, NULL, &op->came, timeline_now(&i->timeline, &op->came),
			 &facts))
		refuse_creation(i, op,
			"config.timezone: the time zone database of this computer has no "
			"such zone");
	else
		apply_create(i, op, &facts);
}

/* ---- guard.event and guard.get ---- */

static struct instance *find_or_add(struct engine *e, enum guard_kind kind, struct str id)
{
	struct instance *i = instances_find(e, kind, id);

	return i ? i : instances_add(e, kind, id);
}

/* What every event may have beside its own fields; NULL, or what is wrong with it. */
static const char *read_envelope(struct op *op)
{
	yyjson_val *id = yyjson_obj_get(op->event, "clientEventId");
	yyjson_val *cursor = yyjson_obj_get(op->event, "expectedCursor");

	if (id && !yyjson_is_null(id)) {
		op->client_event_id =
			(struct str){yyjson_get_str(id), yyjson_get_len(id)};
		if (!yyjson_is_str(id) || op->client_event_id.len == 0 ||
			op->client_event_id.len > 128)
			return "event.clientEventId: expected a string of 1 to 128 bytes";
	}
	if (cursor && !yyjson_is_null(cursor)) {
		if (!yyjson_is_uint(cursor))
			return "event.expectedCursor: expected an integer not below 0";
		op->has_expected = true;
		op->expected_cursor = (int64_t)yyjson_get_uint(cursor);
	}
	return NULL;
}

static void serve_event(void *arg, struct bus_request *request, const void *message)
{
	const struct guard_event *ev = message;
	struct engine *e = arg;
	enum guard_kind kind = (enum guard_kind)ev->kind;
	struct op *op;
	const char *problem;

	if (refuse_id(request, ev->id))
		return;
	op = op_new(e, kind, request, ev->event.val);
	problem = read_envelope(op);
	if (problem) {
		bus_answer_error(
			request, "INVALID_MESSAGE", (struct str){0}, "%s", problem);
		op_free(op);
		return;
	}
	apply_enqueue(find_or_add(e, kind, ev->id), op);
}

static void serve_get(void *arg, struct bus_request *request, const void *message)
{
	const struct guard_ref *ref = message;
	struct engine *e = arg;
	struct instance *i;

	if (refuse_id(request, ref->id))
		return;
	i = find_or_add(e, (enum guard_kind)ref->kind, ref->id);
	if (i->phase == INSTANCE_READY && !i->creating)
		answers_look(i, request);
	else
		apply_enqueue(i, op_new(e, i->kind, request, NULL));
}

/* ---- guard.events ---- */

static void on_rows(void *arg, const struct bus_reply *reply)
{
	struct bus_request *request = arg;
	AUTO_ARENA arena = {0};
	struct proto_error error;
	struct stream_rows page;
	struct guard_events answer = {0};

	if (reply->status != BUS_OK) {
		bus_answer_error(request,
			str_is(reply->code, "NOT_FOUND") ? "NOT_FOUND" : "UNAVAILABLE",
			(struct str){0}, "%.*s", STR_ARG(reply->message));
	} else if (bus_reply_decode(METHOD_STREAM_ROWS, reply, &arena, &page, &error) <
		   0) {
		bus_answer_error(
			request, "INTERNAL_ERROR", (struct str){0}, "%s", error.text);
	} else {
		answer.events.count = page.rows.count;
		answer.events.items = arena_array(
			&arena, page.rows.count + 1, sizeof(*answer.events.items));
		for (size_t n = 0; n < page.rows.count; n++) {
			const struct stream_row *row = &page.rows.items[n];

			answer.events.items[n] = (struct guard_stream_event){
				.seq = row->seq,
				.at = row->at,
				.actor = row->actor,
				.type = row->type,
				.payload.raw = row->payload,
			};
		}
		bus_answer_message(request, &answer);
	}
}

static void serve_events(void *arg, struct bus_request *request, const void *message)
{
	const struct guard_events_query *q = message;
	struct stream_rows_query query = {
		.kind = q->kind, .id = q->id, .since = q->since};
	struct engine *e = arg;

	if (refuse_id(request, q->id))
		return;
	bus_call_message(
		e->bus, METHOD_STREAM_ROWS, (struct str){0}, &query, 0, on_rows, request);
}

/* ---- guard.list ---- */

struct listing {
	struct engine *engine;
	struct bus_request *request;
	struct guard_list list;
	struct arena arena;
	size_t room;
	int64_t after;
};

static void ask_for_page(struct listing *l);

static void listing_end(struct listing *l, const char *problem)
{
	if (problem)
		bus_answer_error(
			l->request, "UNAVAILABLE", (struct str){0}, "%s", problem);
	else
		bus_answer_message(l->request, &l->list);
	free(l->list.instances.items);
	arena_free(&l->arena);
	free(l);
}

static void add_info(struct listing *l, const struct stream_info *s)
{
	if (l->list.instances.count == l->room) {
		l->room = l->room ? 2 * l->room : 64;
		l->list.instances.items = xrealloc(l->list.instances.items,
			l->room * sizeof(*l->list.instances.items));
	}
	l->list.instances.items[l->list.instances.count++] = (struct guard_info){
		.id = arena_str(&l->arena, s->id),
		.cursor = s->cursor,
		.created_ms = s->created_ms,
		.changed_ms = s->changed_ms,
		.has_deadline_ms = s->has_deadline_ms,
		.deadline_ms = s->deadline_ms,
	};
}

static void on_page(void *arg, const struct bus_reply *reply)
{
	struct listing *l = arg;
	AUTO_ARENA arena = {0};
	struct proto_error error;
	struct stream_list page;
	bool ok = reply->status == BUS_OK &&
		  bus_reply_decode(METHOD_STREAM_LIST, reply, &arena, &page, &error) == 0;

	for (size_t n = 0; ok && n < page.streams.count; n++)
		add_info(l, &page.streams.items[n]);
	if (ok && page.has_next && l->list.instances.count < MAX_LISTED) {
		l->after = page.next;
		ask_for_page(l);
	} else {
		listing_end(l,
			ok ? NULL : "The store does not answer; try again in a moment");
	}
}

static void ask_for_page(struct listing *l)
{
	struct stream_page query = {
		.kind = l->list.kind, .has_kind = true, .after = l->after};

	bus_call_message(l->engine->bus, METHOD_STREAM_LIST, (struct str){0}, &query, 0,
		on_page, l);
}

static void serve_list(void *arg, struct bus_request *request, const void *message)
{
	struct listing *l = xcalloc(1, sizeof(*l));

	l->engine = arg;
	l->request = request;
	l->list.kind = ((const struct guard_list_query *)message)->kind;
	l->list.instances.items = xcalloc(1, sizeof(*l->list.instances.items));
	ask_for_page(l);
}

/* ---- the rest ---- */

static void serve_bundle(void *arg, struct bus_request *request, const void *message)
{
	const struct guard_bundle_query *q = message;

	if (!refuse_id(request, q->id))
		folds_bundle(arg, q->id, (enum guard_bundle_for)q->reader, request);
}

static void serve_replay(void *arg, struct bus_request *request, const void *message)
{
	const struct guard_ref *ref = message;

	if (!refuse_id(request, ref->id))
		folds_replay(arg, (enum guard_kind)ref->kind, ref->id, request);
}

void serve_init(struct engine *e)
{
	bus_serve(e->bus, METHOD_GUARD_CREATE, serve_create, e);
	bus_serve(e->bus, METHOD_GUARD_EVENT, serve_event, e);
	bus_serve(e->bus, METHOD_GUARD_GET, serve_get, e);
	bus_serve(e->bus, METHOD_GUARD_EVENTS, serve_events, e);
	bus_serve(e->bus, METHOD_GUARD_LIST, serve_list, e);
	bus_serve(e->bus, METHOD_GUARD_BUNDLE, serve_bundle, e);
	bus_serve(e->bus, METHOD_GUARD_REPLAY, serve_replay, e);
}
