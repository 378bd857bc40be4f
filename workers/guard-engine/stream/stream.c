/* stream.c - see stream.h. */
#include "workers/guard-engine/stream/stream.h"
#include "common/base/alloc.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void stream_result_free(struct stream_result *r)
{
	buf_free(&r->text);
	*r = (struct stream_result){0};
}

static void result_clear(struct stream_result *r)
{
	buf_clear(&r->text);
	r->row_count = 0;
	r->effect_count = 0;
	r->decision = (struct str){0};
	r->refusal = NULL;
}

/* When it was, and the window that it was in: what a view of the state needs. */
static void note_event(struct stream_result *r, const struct machine_event *event)
{
	r->at_ms = event->at_ms;
	r->facts = event->facts;
	r->facts.verdict = (struct str){0};
}

/* ---- writing ---- */

/* A piece of r->text; its place is known only when all is written. */
struct piece {
	size_t at, len;
};

static struct str piece_str(const struct stream_result *r, struct piece p)
{
	return (struct str){r->text.data + p.at, p.len};
}

static struct piece write_payload(
	const struct machine_item_info *info, const void *payload, struct buf *out)
{
	size_t at = out->len;

	if (payload)
		proto_encode(info->payload(), payload, out);
	else
		buf_add_str(out, STR_LIT("{}"));
	return (struct piece){at, out->len - at};
}

/* {"type": …} and the payload's own members. */
static struct piece write_effect(const char *type, struct piece payload, struct buf *out)
{
	size_t at = out->len;

	buf_printf(out, "{\"type\":\"%s\"", type);
	if (payload.len > 2) {
		buf_add_char(out, ',');
		buf_reserve(out, payload.len);
		buf_add(out, out->data + payload.at + 1, payload.len - 1);
	} else {
		buf_add_char(out, '}');
	}
	return (struct piece){at, out->len - at};
}

static void write_result(struct stream *s, const struct machine_out *out, int64_t at_ms,
	struct stream_result *r)
{
	struct piece payloads[MACHINE_MAX_ITEMS], effects[MACHINE_MAX_ITEMS],
		decision = {0, 0};

	for (int i = 0; i < out->count; i++) {
		const struct machine_item_info *info =
			&s->machine->items[out->items[i].type];

		payloads[i] = write_payload(info, out->items[i].payload, &r->text);
		if (info->effect)
			effects[r->effect_count++] =
				write_effect(info->effect, payloads[i], &r->text);
		r->rows[i] = (struct stream_row){
			.seq = s->cursor + 1 + i,
			.at = at_ms,
			.actor = str_of(info->actor),
			.type = str_of(info->row),
		};
	}
	if (out->decision) {
		decision.at = r->text.len;
		proto_encode(guard_decision_type(), out->decision, &r->text);
		decision.len = r->text.len - decision.at;
		r->decision = piece_str(r, decision);
	}
	r->row_count = out->count;
	for (int i = 0; i < r->row_count; i++)
		r->rows[i].payload = piece_str(r, payloads[i]);
	for (int i = 0; i < r->effect_count; i++)
		r->effects[i] = piece_str(r, effects[i]);
	s->cursor += out->count;
}

/* ---- the first row ---- */

int stream_new(struct stream *s, yyjson_val *config,
	const struct machine_defaults *defaults, struct arena *arena,
	struct proto_error *error)
{
	AUTO_DOC *empty = NULL;

	s->cursor = 0;
	if (!config) {
		empty = proto_parse(STR_LIT("{}"), error);
		assert(empty);
		config = yyjson_doc_get_root(empty);
	}
	return s->machine->create(config, defaults, arena, s->state, error);
}

static void open_at(
	struct stream *s, const struct machine_event *created, struct stream_result *r)
{
	struct machine_base *base = s->state;
	struct guard_row_created row = {.rules = base->rules};
	AUTO_BUF config = {0};
	AUTO_FREE struct machine_out *out = xmalloc(sizeof(*out));
	int err;

	s->machine->config(s->state, &config);
	row.config.raw = buf_str(&config);
	row.has_facts = created->facts.has_window_start_ms;
	row.facts = created->facts;
	err = machine_step(s->machine, s->state, created, out);
	/* Nothing has happened yet that could stand against it. */
	assert(err == 0);
	result_clear(r);
	note_event(r, created);
	out->count = 0;
	machine_add_ref(out, ITEM_CREATED, &row);
	write_result(s, out, created->at_ms, r);
}

void stream_open(struct stream *s, int64_t at_ms, const struct guard_facts *facts,
	struct stream_result *r)
{
	struct machine_event created = {
		.type = ITEM_CREATED, .at_ms = at_ms, .seq = 1, .facts = *facts};

	open_at(s, &created, r);
}

bool stream_window(const struct stream *s, const struct machine_event *event,
	struct str *timezone, int *hours)
{
	if (!s->machine->window)
		return false;
	s->machine->window(s->state, event, timezone, hours);
	return true;
}

/* ---- events ---- */

static int decode_fields(const struct machine *m, int type, yyjson_val *val,
	const char *at, struct arena *arena, struct machine_event *out,
	struct proto_error *error)
{
	const struct type *fields =
		m->items[type].fields ? m->items[type].fields() : NULL;
	void *message;

	*out = (struct machine_event){.type = type};
	if (!fields)
		return 0;
	message = arena_alloc(arena, fields->size ? fields->size : 1);
	if (proto_decode(fields, val, at, DECODE_LENIENT, arena, message, error) < 0)
		return -EINVAL;
	out->fields = message;
	return 0;
}

int stream_decode(const struct stream *s, yyjson_val *val, enum stream_sender sender,
	struct arena *arena, struct machine_event *out, struct proto_error *error)
{
	yyjson_val *name = yyjson_obj_get(val, "type");
	struct str type = {yyjson_get_str(name), yyjson_get_len(name)};
	int item;

	if (!yyjson_is_str(name)) {
		snprintf(error->text, sizeof(error->text),
			"event.type: expected a string");
		return -EINVAL;
	}
	item = machine_event_type(s->machine, type, sender);
	if (item < 0) {
		snprintf(error->text, sizeof(error->text),
			"event.type: no event \"%.64s\" of %s", type.ptr,
			guard_kind_enumeration()->names[s->machine->kind]);
		return -ENOENT;
	}
	return decode_fields(s->machine, item, val, "event", arena, out, error);
}

bool stream_due(const struct stream *s, int64_t now_ms, struct machine_event *tick)
{
	int64_t deadline = s->machine->deadline(s->state);

	if (deadline > now_ms)
		return false;
	*tick = (struct machine_event){.type = ITEM_TICK, .at_ms = deadline};
	return true;
}

static void write_refusal(struct stream *s, const struct machine_event *event,
	struct machine_out *out, struct stream_result *r)
{
	struct guard_row_refused row = {
		.type = str_of(s->machine->items[event->type].event),
		.reason = str_of(out->refusal),
	};

	r->refusal = out->refusal;
	out->count = 0;
	out->decision = NULL;
	machine_add_ref(out, ITEM_REFUSED, &row);
	write_result(s, out, event->at_ms, r);
}

/* A step over the heap: what a step can cause is too big for a stack that others share.
 */
static int take(struct stream *s, struct machine_event *event, struct stream_result *r)
{
	AUTO_FREE struct machine_out *out = xmalloc(sizeof(*out));
	int err;

	result_clear(r);
	note_event(r, event);
	event->seq = s->cursor + 1;
	err = machine_step(s->machine, s->state, event, out);
	if (err == 0)
		write_result(s, out, event->at_ms, r);
	else if (err == -EPERM)
		write_refusal(s, event, out, r);
	return err;
}

int stream_apply(struct stream *s, struct machine_event *event, struct stream_result *r)
{
	if (s->machine->examine)
		s->machine->examine(s->state, event);
	return take(s, event, r);
}

/* ---- folding ---- */

static int fail(struct proto_error *error, int64_t seq, const char *what)
{
	snprintf(
		error->text, sizeof(error->text), "event %lld: %s", (long long)seq, what);
	return -EBADMSG;
}

/* Reads facts that a row carries. */
static int row_facts(yyjson_val *payload, struct arena *arena, struct guard_facts *facts,
	struct proto_error *error)
{
	yyjson_val *val = yyjson_obj_get(payload, "facts");

	if (!val)
		return 0;
	return proto_decode(guard_facts_type(), val, "payload.facts", DECODE_LENIENT,
		arena, facts, error);
}

static int fold_created(struct stream *s, const struct stream_row *row,
	yyjson_val *payload, struct arena *arena, struct stream_result *r,
	struct proto_error *error)
{
	struct machine_defaults none = {.timezone = STR_LIT("UTC")};
	struct machine_event created = {.type = ITEM_CREATED, .at_ms = row->at, .seq = 1};
	struct guard_row_created c;

	if (proto_decode(guard_row_created_type(), payload, "payload", DECODE_LENIENT,
		    arena, &c, error) < 0)
		return -EBADMSG;
	if (c.rules > s->machine->rules)
		return fail(error, row->seq, "made by newer rules than this program has");
	if (stream_new(s, c.config.val, &none, arena, error) < 0)
		return -EBADMSG;
	((struct machine_base *)s->state)->rules = (int)c.rules;
	created.facts = c.facts;
	if (!r) {
		s->cursor = 1;
		return 1;
	}
	open_at(s, &created, r);
	return 1;
}

/* The event whose own row this is; the payload holds its fields and the facts that went
 * with it. */
static int row_event(const struct stream *s, const struct stream_row *row,
	yyjson_val *payload, struct arena *arena, struct machine_event *event,
	struct proto_error *error)
{
	int type = machine_row_event(s->machine, row->type);

	if (type < ITEM_TICK)
		return fail(error, row->seq, "not a row that a step begins with");
	if (decode_fields(s->machine, type, payload, "payload", arena, event, error) <
			0 ||
		row_facts(payload, arena, &event->facts, error) < 0)
		return -EBADMSG;
	event->at_ms = row->at;
	return 0;
}

static int compare(const struct stream_row *rows, size_t count,
	const struct stream_result *r, struct proto_error *error)
{
	if ((size_t)r->row_count > count)
		return -EAGAIN;
	for (int i = 0; i < r->row_count; i++) {
		const struct stream_row *is = &rows[i], *was = &r->rows[i];

		if (is->seq != was->seq || is->at != was->at ||
			!str_eq(is->type, was->type) || !str_eq(is->actor, was->actor) ||
			!str_eq(is->payload, was->payload))
			return fail(error, is->seq,
				"the rules give another row than the one that is stored");
	}
	return r->row_count;
}

/* Nothing happened then, and nothing does now; only why is kept. */
static int fold_refused(struct stream *s, const struct stream_row *row,
	yyjson_val *payload, struct stream_result *r)
{
	yyjson_val *reason = yyjson_obj_get(payload, "reason");

	result_clear(r);
	r->at_ms = row->at;
	buf_add_str(
		&r->text, (struct str){yyjson_get_str(reason), yyjson_get_len(reason)});
	buf_add_char(&r->text, '\0');
	r->refusal = r->text.data;
	s->cursor = row->seq;
	return 1;
}

static int fold_step(struct stream *s, const struct stream_row *rows, size_t count,
	yyjson_val *payload, struct arena *arena, struct stream_result *r,
	struct proto_error *error)
{
	struct machine_event event;
	int err;

	if (s->cursor == 0) {
		err = fold_created(s, &rows[0], payload, arena, r, error);
	} else if (str_is(rows[0].type, s->machine->items[ITEM_REFUSED].row)) {
		return fold_refused(s, &rows[0], payload, r);
	} else {
		err = row_event(s, &rows[0], payload, arena, &event, error);
		if (err == 0 && take(s, &event, r) != 0)
			err = fail(error, rows[0].seq, "the rules do not allow it");
	}
	return err < 0 ? err : compare(rows, count, r, error);
}

int stream_fold(struct stream *s, const struct stream_row *rows, size_t count,
	struct arena *arena, struct stream_result *r, struct proto_error *error)
{
	AUTO_DOC *doc = proto_parse(rows[0].payload, error);
	int64_t cursor = s->cursor;
	AUTO_FREE void *before = NULL;
	int err;

	if (!doc)
		return -EBADMSG;
	/* Only near the end of what is given rows can be missing. */
	if (count < MACHINE_MAX_ITEMS) {
		before = xmalloc(s->machine->state_size);
		memcpy(before, s->state, s->machine->state_size);
	}
	err = fold_step(s, rows, count, yyjson_doc_get_root(doc), arena, r, error);
	if (err == -EAGAIN) {
		memcpy(s->state, before, s->machine->state_size);
		s->cursor = cursor;
	}
	return err;
}

/* ---- snapshots ---- */

void stream_save(const struct stream *s, struct buf *out)
{
	s->machine->save(s->state, out);
}

int stream_load(struct stream *s, const struct stream_row *created, yyjson_val *snapshot,
	int64_t cursor, struct arena *arena, struct proto_error *error)
{
	struct machine_base *base = s->state;
	AUTO_DOC *doc = proto_parse(created->payload, error);
	int rules, err;

	if (!doc)
		return -EBADMSG;
	s->cursor = 0;
	err = fold_created(s, created, yyjson_doc_get_root(doc), arena, NULL, error);
	if (err < 0)
		return err;
	rules = base->rules;
	if (s->machine->load(snapshot, arena, s->state, error) < 0)
		return -EBADMSG;
	if (base->rules != rules)
		return fail(error, cursor, "the snapshot is of other rules");
	s->cursor = cursor;
	return 0;
}
