/* answers.c - what clients are told (engine.h). */
#include "workers/guard-engine/engine/engine.h"

void answers_state(const struct stream *s, struct str id, int64_t at_ms,
	const struct guard_facts *facts, struct buf *out)
{
	struct machine_view view = {
		.id = id, .cursor = s->cursor, .now_ms = at_ms, .facts = *facts};

	s->machine->render(s->state, &view, out);
}

static void list_effects(const struct stream_result *r, struct buf *out)
{
	buf_add_char(out, '[');
	for (int i = 0; i < r->effect_count; i++) {
		if (i)
			buf_add_char(out, ',');
		buf_add_str(out, r->effects[i]);
	}
	buf_add_char(out, ']');
}

void answers_event(const struct stream *s, struct str id, const struct stream_result *r,
	bool duplicate, struct bus_request *request)
{
	struct buf state = {0}, effects = {0};
	struct guard_result answer = {.cursor = s->cursor, .duplicate = duplicate};

	answers_state(s, id, r->at_ms, &r->facts, &state);
	list_effects(r, &effects);
	answer.state.raw = buf_str(&state);
	answer.effects.raw = buf_str(&effects);
	answer.decision.raw = r->decision;
	bus_answer_message(request, &answer);
	buf_free(&state);
	buf_free(&effects);
}

void answers_look(const struct instance *i, struct bus_request *request)
{
	struct buf state = {0};
	int64_t now_ms = apply_now(i),
		deadline = i->stream.machine->deadline(i->stream.state);
	struct guard_snapshot answer = {
		.cursor = i->stream.cursor,
		.server_now = now_ms,
		.has_next_deadline = deadline != MACHINE_NEVER,
		.next_deadline = deadline,
	};
	struct guard_facts facts;

	/* A zone that is gone since: the window is shown as it was. */
	if (!apply_facts(i, &i->stream, NULL, now_ms, &facts))
		facts = (struct guard_facts){0};
	answers_state(&i->stream, str_of(i->id), now_ms, &facts, &state);
	answer.state.raw = buf_str(&state);
	bus_answer_message(request, &answer);
	buf_free(&state);
}

static void publish(const struct instance *i, const char *topic, const struct type *type,
	const void *message)
{
	struct buf body = {0};

	proto_encode(type, message, &body);
	bus_publish(i->engine->bus, topic, buf_str(&body));
	buf_free(&body);
}

void answers_created(const struct instance *i, struct bus_request *request)
{
	struct buf state = {0};
	struct guard_created answer = {
		.id = str_of(i->id), .kind = i->kind, .cursor = i->stream.cursor};
	struct guard_state told = {
		.kind = i->kind, .id = str_of(i->id), .cursor = i->stream.cursor};

	answers_state(
		&i->stream, str_of(i->id), i->result.at_ms, &i->result.facts, &state);
	answer.state.raw = buf_str(&state);
	told.state.raw = buf_str(&state);
	/* To windows that follow every machine: nobody can watch this one yet. */
	publish(i, "ui/guard:state", guard_state_type(), &told);
	bus_answer_message(request, &answer);
	buf_free(&state);
}

void answers_publish(const struct instance *i, const struct stream_result *r)
{
	struct buf text = {0};
	struct guard_state state = {
		.kind = i->kind, .id = str_of(i->id), .cursor = i->stream.cursor};

	for (int n = 0; n < r->effect_count; n++) {
		struct guard_effect effect = {.kind = i->kind,
			.id = str_of(i->id),
			.effect.raw = r->effects[n]};

		publish(i, "ui/guard:effect", guard_effect_type(), &effect);
	}
	answers_state(&i->stream, str_of(i->id), r->at_ms, &r->facts, &text);
	state.state.raw = buf_str(&text);
	publish(i, "ui/guard:state", guard_state_type(), &state);
	buf_free(&text);
}
