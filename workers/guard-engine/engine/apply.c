/*
 * apply.c - events of an instance, one after the other (engine.h).
 *
 * Ticks that are due come before an event that came later. Each step is taken on a copy
 * of the state; what the store says of its rows decides whether the copy becomes the
 * state.
 */
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "workers/guard-engine/breakloop/quota.h"
#include "workers/guard-engine/engine/engine.h"
#include "workers/guard-engine/engine/folds.h"
#include "workers/guard-engine/stream/machines.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- ops ---- */

struct op *apply_op_new(struct engine *e, enum guard_kind kind,
	struct bus_request *request, yyjson_val *event)
{
	struct op *op = xcalloc(1, sizeof(*op));

	op->request = request;
	op->event = event;
	op->came = clocks_now(&e->clocks, machine_of(kind)->clock);
	return op;
}

void apply_op_free(struct op *op)
{
	yyjson_doc_free(op->doc);
	free(op);
}

/* An op is done; whoever it came from has been told. */
static void end_op(struct instance *i, struct op *op)
{
	if (!op->request)
		requests_forget(i, &op->answers);
	apply_op_free(op);
}

static void fail_op(
	struct instance *i, struct op *op, const char *code, const char *message)
{
	if (op->request)
		bus_answer_error(op->request, code, (struct str){0}, "%s", message);
	end_op(i, op);
}

static struct op *take_first(struct instance *i)
{
	struct op *op = i->first;

	i->first = op->next;
	if (!i->first)
		i->last = &i->first;
	i->waiting--;
	return op;
}

void apply_fail_waiting(struct instance *i, const char *code, const char *message)
{
	while (i->first)
		fail_op(i, take_first(i), code, message);
}

void apply_fail_clients(struct instance *i, const char *code, const char *message)
{
	struct op **link = &i->first;

	while (*link) {
		struct op *op = *link;

		if (!op->request) {
			link = &op->next;
			continue;
		}
		*link = op->next;
		i->waiting--;
		fail_op(i, op, code, message);
	}
	i->last = link;
}

/* What the engine has to do comes first again. */
static void put_back(struct instance *i, struct op *op)
{
	op->again = true;
	op->next = i->first;
	if (!i->first)
		i->last = &op->next;
	i->first = op;
	i->waiting++;
}

void apply_enqueue(struct instance *i, struct op *op)
{
	if (i->waiting >= ENGINE_MAX_WAITING && op->request) {
		fail_op(i, op, "BUSY", "Too many events wait for this guard machine");
		return;
	}
	op->next = NULL;
	*i->last = op;
	i->last = &op->next;
	i->waiting++;
	if (i->phase == INSTANCE_KNOWN)
		load_start(i);
	else
		apply_go_on(i);
}

/* ---- time ---- */

int64_t apply_now(const struct instance *i)
{
	struct moment now = clocks_now(&i->engine->clocks, i->stream.machine->clock);
	const struct machine_base *base = i->stream.state;
	int64_t at_ms = timeline_now(&i->timeline, &now);

	return at_ms > base->at_ms ? at_ms : base->at_ms;
}

static int64_t time_of_op(const struct instance *i, const struct op *op)
{
	const struct machine_base *base = i->stream.state;
	int64_t at_ms = timeline_now(&i->timeline, &op->came);

	return at_ms > base->at_ms ? at_ms : base->at_ms;
}

bool apply_facts(const struct instance *i, const struct stream *s,
	const struct machine_event *event, int64_t at_ms, struct guard_facts *facts)
{
	struct moment now = clocks_now(&i->engine->clocks, s->machine->clock);
	/* What the wall clock showed then. */
	int64_t wall_ms = now.wall_ms - (timeline_now(&i->timeline, &now) - at_ms);
	struct quota_window window;
	const struct zone *zone;
	struct str name;
	int hours;

	*facts = (struct guard_facts){0};
	if (!stream_window(s, event, &name, &hours))
		return true;
	zone = zone_cache_find(name);
	if (!zone)
		return false;
	if (wall_ms < 0)
		wall_ms = 0;
	/* A length that is none is refused by the machine. */
	window =
		quota_window_at(zone, hours > 0 && 24 % hours == 0 ? hours : 24, wall_ms);
	facts->has_wall_ms = facts->has_window_start_ms = facts->has_window_end_ms = true;
	facts->wall_ms = wall_ms;
	facts->window_start_ms = window.start_ms > 0 ? window.start_ms : 0;
	facts->window_end_ms = window.end_ms > 0 ? window.end_ms : 0;
	return true;
}

void apply_set_alarm(struct instance *i)
{
	int64_t deadline = i->stream.machine->deadline(i->stream.state);

	clocks_set(&i->engine->clocks, i->stream.machine->clock, &i->alarm,
		deadline == MACHINE_NEVER ? MACHINE_NEVER
					  : timeline_raw(&i->timeline, deadline));
}

/* ---- the store ---- */

static bool is_asking(const struct stream *s)
{
	struct machine_request open[MACHINE_MAX_REQUESTS];

	return s->machine->requests && s->machine->requests(s->state, open) > 0;
}

static void on_appended(void *arg, const struct bus_reply *reply);

/* Sends the rows of the step to the store. */
static void append(struct instance *i)
{
	const struct stream *next = &i->next_stream;
	int64_t deadline = next->machine->deadline(next->state);
	struct stream_append message = {
		.kind = i->kind,
		.id = str_of(i->id),
		.after = i->stream.cursor,
		.rows = {i->result.rows, (size_t)i->result.row_count},
		.client_event_id =
			i->current ? i->current->client_event_id : (struct str){0},
		.has_deadline_ms = deadline != MACHINE_NEVER,
		.deadline_ms = deadline,
		.asking = is_asking(next),
		.has_clock = true,
		.clock = {.boot_id = str_of(i->timeline.boot_id),
			.offset_ms = i->timeline.offset_ms},
	};
	struct buf snapshot = {0};
	char key[UUID_SIZE];

	if (next->cursor - i->snapshot_cursor >= ENGINE_SNAPSHOT_ROWS) {
		stream_save(next, &snapshot);
		message.has_snapshot = true;
		message.snapshot.cursor = next->cursor;
		message.snapshot.state.raw = buf_str(&snapshot);
	}
	uuid7(clock_wall(), key);
	i->appending = true;
	i->engine->appending++;
	bus_call_message(i->engine->bus, METHOD_STREAM_APPEND, str_of(key), &message, 0,
		on_appended, i);
	buf_free(&snapshot);
}

static void make_copy(struct instance *i)
{
	i->next_stream.state = xmalloc(i->stream.machine->state_size);
	memcpy(i->next_stream.state, i->stream.state, i->stream.machine->state_size);
	i->next_stream.cursor = i->stream.cursor;
}

static void forget_copy(struct instance *i)
{
	free(i->next_stream.state);
	i->next_stream.state = NULL;
}

/* The copy becomes the state. */
static void commit(struct instance *i)
{
	free(i->stream.state);
	i->stream.state = i->next_stream.state;
	i->next_stream.state = NULL;
	i->stream.cursor = i->next_stream.cursor;
	i->failures = 0;
	if (i->stream.cursor - i->snapshot_cursor >= ENGINE_SNAPSHOT_ROWS)
		i->snapshot_cursor = i->stream.cursor;
	answers_publish(i, &i->result);
}

/* Tells the client what came of its event. */
static void answer(struct instance *i, struct op *op)
{
	if (op->request && i->result.refusal)
		bus_answer_error(op->request, "NOT_ALLOWED", (struct str){0},
			"Not allowed: %s", i->result.refusal);
	else if (op->request && i->creating)
		answers_created(i, op->request);
	else if (op->request)
		answers_event(&i->stream, str_of(i->id), &i->result, false, op->request);
	end_op(i, op);
}

/* A creation whose id is in use, or that failed: whatever is stored under the id holds.
 */
static void creation_failed(
	struct instance *i, struct op *op, const char *code, const char *message)
{
	i->creating = false;
	fail_op(i, op, code, message);
	load_again(i);
}

/* A step of the engine was not stored. It is taken again when the store is there again,
 * with the answer of the model that it may bring; never when the store has refused it. */
static void own_step_failed(
	struct instance *i, struct op *op, bool final, const char *why)
{
	if (op)
		put_back(i, op);
	if (final)
		load_break_off(i, why);
	else
		load_later(i, why);
}

/* The store did not take the rows, or nobody knows: what it has decides. */
static void append_failed(
	struct instance *i, struct op *op, const struct bus_reply *reply)
{
	struct arena arena = {0};
	char *code = arena_cstr(&arena, reply->code),
	     *message = arena_cstr(&arena, reply->message);

	log_warn("rows of a guard were not stored", "kind", "%s",
		guard_kind_enumeration()->names[i->kind], "id", "%s", i->id, "code", "%s",
		code, "message", "%s", message, NULL);
	if (i->creating) {
		creation_failed(i, op, code, message);
	} else if (op && op->request) {
		fail_op(i, op, code, message);
		load_again(i);
	} else {
		own_step_failed(i, op, folds_is_final(reply), message);
	}
	arena_free(&arena);
}

static void on_outcome(
	struct instance *i, struct op *op, const struct stream_appended *appended)
{
	switch ((enum stream_outcome)appended->outcome) {
	case STREAM_APPENDED:
		commit(i);
		if (op)
			answer(i, op);
		i->creating = false;
		requests_sync(i);
		apply_set_alarm(i);
		break;
	case STREAM_DUPLICATE:
		forget_copy(i);
		/* Only an event of a client has an id that can be there. */
		folds_answer_again(i, op->request, appended->first);
		apply_op_free(op);
		break;
	case STREAM_CONFLICT:
		if (i->creating) {
			creation_failed(i, op, "CONFLICT",
				"A guard machine with this id exists already");
			return;
		}
		log_error("the stream of a guard has another end than expected", "kind",
			"%s", guard_kind_enumeration()->names[i->kind], "id", "%s", i->id,
			"expected", "%" PRId64, i->stream.cursor, "found", "%" PRId64,
			appended->cursor, NULL);
		if (op)
			fail_op(i, op, "UNAVAILABLE",
				"The guard machine is read again; try again");
		load_again(i);
		return;
	}
}

static void on_appended(void *arg, const struct bus_reply *reply)
{
	struct instance *i = arg;
	struct op *op = i->current;
	struct stream_appended appended;
	struct proto_error error;
	struct arena arena = {0};

	i->appending = false;
	i->engine->appending--;
	i->current = NULL;
	if (reply->status == BUS_OK && bus_reply_decode(METHOD_STREAM_APPEND, reply,
					       &arena, &appended, &error) == 0)
		on_outcome(i, op, &appended);
	else
		append_failed(i, op, reply);
	arena_free(&arena);
	apply_go_on(i);
}

/* ---- steps ---- */

/* Takes a step on a copy and sends its rows. 0; -ENOSPC without rows for a refusal that
 * is not written down; or the error of stream_apply. */
static int take_step(struct instance *i, struct op *op, struct machine_event *event)
{
	int err;

	make_copy(i);
	err = stream_apply(&i->next_stream, event, &i->result);
	if (err == -EPERM && i->stream.cursor >= ENGINE_MAX_ROWS_FOR_REFUSALS)
		err = -ENOSPC;
	if (err != 0 && err != -EPERM) {
		forget_copy(i);
		return err;
	}
	i->current = op;
	append(i);
	return 0;
}

/* A tick that is due at `until_ms`; true when one is on its way. */
static bool take_tick(struct instance *i, int64_t until_ms)
{
	struct machine_event tick;
	int err;

	if (!stream_due(&i->stream, until_ms, &tick))
		return false;
	apply_facts(i, &i->stream, &tick, tick.at_ms, &tick.facts);
	err = take_step(i, NULL, &tick);
	if (err) {
		log_error("a tick of a guard was not taken", "error", "%s",
			strerror(-err), NULL);
		load_break_off(i, "a tick of it could not be taken");
	}
	return true;
}

/* A client that expects another cursor: perhaps its event is there already. */
static bool answer_stale(struct instance *i, struct op *op)
{
	if (!op->has_expected || op->expected_cursor == i->stream.cursor)
		return false;
	if (op->client_event_id.ptr)
		folds_answer_if_known(i, op->request, op->client_event_id);
	else
		bus_answer_error(op->request, "CONFLICT", (struct str){0},
			"The cursor is %" PRId64 ", not %" PRId64, i->stream.cursor,
			op->expected_cursor);
	apply_op_free(op);
	return true;
}

/* guard.get of one that had to be read first. */
static void answer_look(struct instance *i, struct op *op)
{
	answers_look(i, op->request);
	end_op(i, op);
}

static void take_op(struct instance *i, struct op *op)
{
	struct machine_event event;
	struct proto_error error;
	enum stream_sender sender = op->request ? STREAM_CLIENT : STREAM_ENGINE;
	int err;

	if (!op->event) {
		answer_look(i, op);
		return;
	}
	if (op->again && !requests_open(i, &op->answers)) {
		end_op(i, op);
		return;
	}
	if (answer_stale(i, op))
		return;
	arena_reset(&i->arena);
	err = stream_decode(&i->stream, op->event, sender, &i->arena, &event, &error);
	if (err < 0) {
		fail_op(i, op, "INVALID_MESSAGE", error.text);
		return;
	}
	if (i->stream.cursor >= ENGINE_MAX_ROWS && op->request) {
		fail_op(i, op, "NOT_ALLOWED", "Not allowed: the stream is full");
		return;
	}
	event.at_ms = time_of_op(i, op);
	if (!apply_facts(i, &i->stream, &event, event.at_ms, &event.facts)) {
		fail_op(i, op, "INVALID_MESSAGE",
			"event.timezone: the time zone database of this computer has no "
			"such zone");
		return;
	}
	if (!op->request) {
		event.facts.has_request_seq = true;
		event.facts.request_seq = op->answers.seq;
	}
	err = take_step(i, op, &event);
	if (err == -ENOSPC)
		fail_op(i, op, "NOT_ALLOWED", i->result.refusal);
	else if (err)
		fail_op(i, op, "INTERNAL_ERROR", "The event could not be applied");
}

void apply_go_on(struct instance *i)
{
	while (i->phase == INSTANCE_READY && !i->appending && !i->engine->stopping) {
		struct op *op = i->first;

		if (take_tick(i, op ? time_of_op(i, op) : apply_now(i)))
			continue;
		if (!op) {
			apply_set_alarm(i);
			return;
		}
		take_op(i, take_first(i));
	}
	if (i->phase == INSTANCE_BROKEN)
		apply_fail_waiting(i, "INTERNAL_ERROR", i->problem);
}

void apply_create(struct instance *i, struct op *op, const struct guard_facts *facts)
{
	i->phase = INSTANCE_READY;
	instances_touch(i);
	make_copy(i);
	stream_open(&i->next_stream, timeline_now(&i->timeline, &op->came), facts,
		&i->result);
	i->creating = true;
	i->current = op;
	append(i);
}
