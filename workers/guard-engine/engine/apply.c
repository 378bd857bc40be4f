/*
 * apply.c - one event in one pass: load, decide, append, publish (engine.h).
 *
 * apply_enqueue has a stream that is not in memory loaded (load.c). apply_go_on takes what
 * is next: a tick that is due, else the first op. decide() takes the step on a copy of the
 * state and append() sends its rows; on_appended hears what the store says of them, and
 * only then the copy becomes the state and anybody is told (settle()).
 */
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "common/worker/metrics.h"
#include "workers/guard-engine/breakloop/quota.h"
#include "workers/guard-engine/engine/engine.h"
#include "workers/guard-engine/engine/folds.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

void apply_enqueue(struct instance *i, struct op *op)
{
	if (i->waiting >= ENGINE_MAX_WAITING && op->request) {
		op_fail(i, op, "BUSY", "Too many events wait for this guard machine");
		return;
	}
	ops_add(i, op);
	if (i->phase == INSTANCE_KNOWN)
		load_start(i);
	else
		apply_go_on(i);
}

/* ---- when it is ---- */

int64_t apply_time(const struct instance *i, const struct moment *now)
{
	const struct machine_base *base = i->stream.state;
	int64_t at_ms = timeline_now(&i->timeline, now);

	return at_ms > base->at_ms ? at_ms : base->at_ms;
}

bool apply_facts(const struct instance *i, const struct machine_event *event,
	const struct moment *now, int64_t at_ms, struct guard_facts *facts)
{
	int64_t wall_ms = now->wall_ms - (timeline_now(&i->timeline, now) - at_ms);
	struct quota_window window;
	const struct zone *zone;
	struct str name;
	int hours;

	*facts = (struct guard_facts){0};
	if (!stream_window(&i->stream, event, &name, &hours))
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

/* For the next tick. */
static void set_alarm(struct instance *i)
{
	int64_t deadline = i->stream.machine->deadline(i->stream.state);

	clocks_set(&i->engine->clocks, i->stream.machine->clock, &i->alarm,
		deadline == MACHINE_NEVER ? MACHINE_NEVER
					  : timeline_raw(&i->timeline, deadline));
}

/* ---- publish: what the store says of the rows ---- */

/* A creation whose id is in use, or that failed: whatever is stored under the id holds.
 */
static void creation_failed(
	struct instance *i, struct op *op, const char *code, const char *message)
{
	i->creating = false;
	op_fail(i, op, code, message);
	load_again(i);
}

/* A step of the engine was not stored. It is taken again when the store is there again,
 * with the answer of the model that it may bring; never when the store has refused it. */
static void own_step_failed(
	struct instance *i, struct op *op, bool final, const char *why)
{
	if (op)
		ops_put_back(i, op);
	if (final)
		load_break_off(i, why);
	else
		load_later(i, why);
}

/* The store did not take the rows, or nobody knows: what it has decides. */
static void append_failed(
	struct instance *i, struct op *op, const struct bus_reply *reply)
{
	AUTO_ARENA arena = {0};
	char *code = arena_cstr(&arena, reply->code),
	     *message = arena_cstr(&arena, reply->message);

	log_warn("rows of a guard were not stored", "kind", "%s",
		guard_kind_enumeration()->names[i->kind], "id", "%s", i->id, "code", "%s",
		code, "message", "%s", message, NULL);
	if (i->creating) {
		creation_failed(i, op, code, message);
	} else if (op && op->request) {
		op_fail(i, op, code, message);
		load_again(i);
	} else {
		own_step_failed(i, op, folds_is_final(reply), message);
	}
}

/* The stream has another end in the store: somebody else has written to it. */
static void on_conflict(struct instance *i, struct op *op, int64_t found)
{
	if (i->creating) {
		creation_failed(
			i, op, "CONFLICT", "A guard machine with this id exists already");
		return;
	}
	log_error("the stream of a guard has another end than expected", "kind", "%s",
		guard_kind_enumeration()->names[i->kind], "id", "%s", i->id, "expected",
		"%" PRId64, i->stream.cursor, "found", "%" PRId64, found, NULL);
	if (op)
		op_fail(i, op, "UNAVAILABLE",
			"The guard machine is read again; try again");
	load_again(i);
}

static void forget_copy(struct instance *i)
{
	free(i->next_stream.state);
	i->next_stream.state = NULL;
}

/* The rows are durable: the copy becomes the state, and everybody hears of it. */
static void settle(struct instance *i, struct op *op)
{
	free(i->stream.state);
	i->stream = i->next_stream;
	i->next_stream.state = NULL;
	i->failures = 0;
	if (i->stream.cursor - i->snapshot_cursor >= ENGINE_SNAPSHOT_ROWS)
		i->snapshot_cursor = i->stream.cursor;
	answers_step(i, op ? op->request : NULL);
	if (op)
		op_end(i, op);
	i->creating = false;
	requests_sync(i);
}

static void count_step(enum guard_kind kind)
{
	struct metric_labels labels = {.len = 0};

	metric_label(&labels, "kind", guard_kind_enumeration()->names[kind]);
	metric_add(METRIC_GUARD_STEPS, &labels, 1);
}

static void on_appended(void *arg, const struct bus_reply *reply)
{
	struct instance *i = arg;
	struct op *op = i->current;
	struct stream_appended appended;
	struct proto_error error;
	AUTO_ARENA arena = {0};

	i->appending = false;
	i->engine->appending--;
	i->current = NULL;
	if (reply->status != BUS_OK || bus_reply_decode(METHOD_STREAM_APPEND, reply,
					       &arena, &appended, &error) < 0) {
		append_failed(i, op, reply);
	} else if (appended.outcome == STREAM_APPENDED) {
		count_step(i->kind);
		settle(i, op);
	} else if (appended.outcome == STREAM_DUPLICATE) {
		forget_copy(i);
		/* Only an event of a client has an id that can be there. */
		folds_answer_again(i, op->request, appended.first);
		op_free(op);
	} else {
		on_conflict(i, op, appended.cursor);
	}
	apply_go_on(i);
}

/* ---- append ---- */

static bool is_asking(const struct stream *s)
{
	struct machine_request open[MACHINE_MAX_REQUESTS];

	return s->machine->requests && s->machine->requests(s->state, open) > 0;
}

/* Sends the rows of the step to the store. `op` is what it is for, NULL for a tick. */
static void append(struct instance *i, struct op *op)
{
	const struct stream *next = &i->next_stream;
	int64_t deadline = next->machine->deadline(next->state);
	struct stream_append message = {
		.kind = i->kind,
		.id = str_of(i->id),
		.after = i->stream.cursor,
		.rows = {i->result.rows, (size_t)i->result.row_count},
		.client_event_id = op ? op->client_event_id : (struct str){0},
		.has_deadline_ms = deadline != MACHINE_NEVER,
		.deadline_ms = deadline,
		.asking = is_asking(next),
		.has_clock = true,
		.clock = {.boot_id = str_of(i->timeline.boot_id),
			.offset_ms = i->timeline.offset_ms},
	};
	AUTO_BUF snapshot = {0};
	char key[UUID_SIZE];

	if (next->cursor - i->snapshot_cursor >= ENGINE_SNAPSHOT_ROWS) {
		stream_save(next, &snapshot);
		message.has_snapshot = true;
		message.snapshot.cursor = next->cursor;
		message.snapshot.state.raw = buf_str(&snapshot);
	}
	uuid7(clock_wall(), key);
	i->current = op;
	i->appending = true;
	i->engine->appending++;
	bus_call_message(i->engine->bus, METHOD_STREAM_APPEND, str_of(key), &message, 0,
		on_appended, i);
}

/* ---- decide ---- */

static void make_copy(struct instance *i)
{
	i->next_stream = i->stream;
	i->next_stream.state = xmalloc(i->stream.machine->state_size);
	memcpy(i->next_stream.state, i->stream.state, i->stream.machine->state_size);
}

/* Takes the step on a copy. 0: its rows are to be stored; -ENOSPC: a refusal that is not
 * written down; or the error of stream_apply. */
static int decide(struct instance *i, struct machine_event *event)
{
	int err;

	make_copy(i);
	err = stream_apply(&i->next_stream, event, &i->result);
	if (err == -EPERM)
		err = i->stream.cursor < ENGINE_MAX_ROWS_FOR_REFUSALS ? 0 : -ENOSPC;
	if (err)
		forget_copy(i);
	return err;
}

static void take_tick(
	struct instance *i, struct machine_event *tick, const struct moment *now)
{
	int err;

	apply_facts(i, tick, now, tick->at_ms, &tick->facts);
	err = decide(i, tick);
	if (err) {
		log_error("a tick of a guard was not taken", "error", "%s",
			strerror(-err), NULL);
		load_break_off(i, "a tick of it could not be taken");
	} else {
		append(i, NULL);
	}
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
	op_free(op);
	return true;
}

static void take_event(struct instance *i, struct op *op, int64_t at_ms)
{
	struct machine_event event;
	struct proto_error error;
	enum stream_sender sender = op->request ? STREAM_CLIENT : STREAM_ENGINE;
	int err;

	arena_reset(&i->arena);
	err = stream_decode(&i->stream, op->event, sender, &i->arena, &event, &error);
	if (err < 0) {
		op_fail(i, op, "INVALID_MESSAGE", error.text);
		return;
	}
	if (i->stream.cursor >= ENGINE_MAX_ROWS && op->request) {
		op_fail(i, op, "NOT_ALLOWED", "Not allowed: the stream is full");
		return;
	}
	event.at_ms = at_ms;
	if (!apply_facts(i, &event, &op->came, at_ms, &event.facts)) {
		op_fail(i, op, "INVALID_MESSAGE",
			"event.timezone: the time zone database of this computer has no "
			"such zone");
		return;
	}
	event.facts.has_request_seq = !op->request;
	event.facts.request_seq = op->answers.seq;
	err = decide(i, &event);
	if (err == 0)
		append(i, op);
	else if (err == -ENOSPC)
		op_fail(i, op, "NOT_ALLOWED", i->result.refusal);
	else
		op_fail(i, op, "INTERNAL_ERROR", "The event could not be applied");
}

/* `op` is out of the queue; `at_ms` is when it came. */
static void take_op(struct instance *i, struct op *op, int64_t at_ms)
{
	if (!op->event) {
		/* guard.get of one that had to be read first. */
		answers_look(i, op->request);
		op_end(i, op);
	} else if (op->again && !requests_open(i, &op->answers)) {
		op_end(i, op);
	} else if (!answer_stale(i, op)) {
		take_event(i, op, at_ms);
	}
}

void apply_go_on(struct instance *i)
{
	while (i->phase == INSTANCE_READY && !i->appending && !i->engine->stopping) {
		struct op *op = TAILQ_FIRST(&i->ops);
		struct moment now =
			op ? op->came
			   : clocks_now(&i->engine->clocks, i->stream.machine->clock);
		int64_t at_ms = apply_time(i, &now);
		struct machine_event tick;

		if (stream_due(&i->stream, at_ms, &tick)) {
			take_tick(i, &tick, &now);
		} else if (op) {
			take_op(i, ops_take(i), at_ms);
		} else {
			set_alarm(i);
			return;
		}
	}
	if (i->phase == INSTANCE_BROKEN)
		ops_fail_all(i, "INTERNAL_ERROR", i->problem);
}

void apply_create(struct instance *i, struct op *op, const struct guard_facts *facts)
{
	i->phase = INSTANCE_READY;
	instances_touch(i);
	make_copy(i);
	stream_open(&i->next_stream, timeline_now(&i->timeline, &op->came), facts,
		&i->result);
	i->creating = true;
	append(i, op);
}
