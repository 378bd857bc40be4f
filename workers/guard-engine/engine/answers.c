/* answers.c - what clients are told (engine.h). */
#include "workers/guard-engine/engine/engine.h"

/* The state at a time, as JSON. */
static void render(const struct stream *s, struct str id, int64_t at_ms,
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

static void answer_event(struct bus_request *request, int64_t cursor,
	const struct stream_result *r, struct str state, bool duplicate)
{
	AUTO_BUF effects = {0};
	struct guard_result answer = {.cursor = cursor, .duplicate = duplicate};

	if (r->refusal) {
		bus_answer_error(request, "NOT_ALLOWED", (struct str){0},
			"Not allowed: %s", r->refusal);
		return;
	}
	list_effects(r, &effects);
	answer.state.raw = state;
	answer.effects.raw = buf_str(&effects);
	answer.decision.raw = r->decision;
	bus_answer_message(request, &answer);
}

void answers_again(const struct stream *s, struct str id, const struct stream_result *r,
	struct bus_request *request)
{
	AUTO_BUF state = {0};

	render(s, id, r->at_ms, &r->facts, &state);
	answer_event(request, s->cursor, r, buf_str(&state), true);
}

static void answer_creation(
	struct bus_request *request, const struct instance *i, struct str state)
{
	struct guard_created answer = {.id = str_of(i->id),
		.kind = i->kind,
		.cursor = i->stream.cursor,
		.state.raw = state};

	bus_answer_message(request, &answer);
}

void answers_look(const struct instance *i, struct bus_request *request)
{
	struct moment now = clocks_now(&i->engine->clocks, i->stream.machine->clock);
	int64_t at_ms = apply_time(i, &now),
		deadline = i->stream.machine->deadline(i->stream.state);
	struct guard_snapshot answer = {
		.cursor = i->stream.cursor,
		.server_now = at_ms,
		.has_next_deadline = deadline != MACHINE_NEVER,
		.next_deadline = deadline,
	};
	struct guard_facts facts;
	AUTO_BUF state = {0};

	/* A zone that is gone since: the window is shown as it was. */
	if (!apply_facts(i, NULL, &now, at_ms, &facts))
		facts = (struct guard_facts){0};
	render(&i->stream, str_of(i->id), at_ms, &facts, &state);
	answer.state.raw = buf_str(&state);
	bus_answer_message(request, &answer);
}

static void publish(const struct instance *i, const char *topic, const struct type *type,
	const void *message)
{
	AUTO_BUF body = {0};

	proto_encode(type, message, &body);
	bus_publish(i->engine->bus, topic, buf_str(&body));
}

void answers_step(const struct instance *i, struct bus_request *request)
{
	const struct stream_result *r = &i->result;
	struct guard_state state = {
		.kind = i->kind, .id = str_of(i->id), .cursor = i->stream.cursor};
	AUTO_BUF text = {0};

	for (int n = 0; n < r->effect_count; n++) {
		struct guard_effect effect = {.kind = i->kind,
			.id = str_of(i->id),
			.effect.raw = r->effects[n]};

		publish(i, "ui/guard:effect", guard_effect_type(), &effect);
	}
	render(&i->stream, str_of(i->id), r->at_ms, &r->facts, &text);
	state.state.raw = buf_str(&text);
	publish(i, "ui/guard:state", guard_state_type(), &state);
	if (request && i->creating)
		answer_creation(request, i, buf_str(&text));
	else if (request)
		answer_event(request, i->stream.cursor, r, buf_str(&text), false);
}
