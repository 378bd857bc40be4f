/* session_guard.c - the rules of the session guard; see session_guard.h. */
#include "workers/guard-engine/session/session_guard.h"
#include "common/base/utf8.h"
#include "workers/guard-engine/phrases/solicitation.h"
#include "workers/guard-engine/session/session_guard_view.h"
#include <assert.h>
#include <errno.h>

/* The wording is prescribed (SG-FR-003). */
#define ASK_ANOTHER "Would you like to share another challenging project you worked on?"
#define DEFAULT_CODING_QUESTION "Thank you. Let's move on to the coding exercise now."

static int create(yyjson_val *config, const struct machine_defaults *defaults,
	struct arena *arena, void *state, struct proto_error *error)
{
	struct session_guard *s = state;
	struct session_guard_config c;
	struct str question = STR_LIT(DEFAULT_CODING_QUESTION);
	int err = proto_decode(session_guard_config_type(), config, "config",
		DECODE_STRICT, arena, &c, error);

	if (err)
		return err;
	*s = (struct session_guard){
		.base.rules = SESSION_GUARD_RULES,
		.timebox_ms = c.has_timebox_ms ? c.timebox_ms : defaults->timebox_ms,
		.zero_run_limit = c.has_zero_run_limit ? c.zero_run_limit
						       : defaults->zero_run_limit,
		.project_cap = c.has_project_cap ? c.project_cap : defaults->project_cap,
		.min_samples = c.has_min_samples ? c.min_samples : 2,
		.settle_ms = c.has_settle_ms ? c.settle_ms : 200,
		.reply_wait_ms = c.has_reply_wait_ms ? c.reply_wait_ms : 30000,
		.speech_wait_ms = c.has_speech_wait_ms ? c.speech_wait_ms : 120000,
		.tau = c.has_tau ? c.tau : 0.7,
		.c = c.has_c ? c.c : 2,
		.auto_score = c.auto_score,
		.project_pending = true,
	};
	for (int i = 0; i < SESSION_GUARD_TRAITS; i++)
		scorer_init(&s->traits[i]);
	if (c.coding_question.ptr)
		question = c.coding_question;
	memcpy(s->coding_question, question.ptr, question.len);
	return 0;
}

static bool gate_open(const struct session_guard *s)
{
	return scorer_gate(s->traits, SESSION_GUARD_TRAITS, s->c, s->tau, s->min_samples);
}

/* The criteria that hold at a moment (SG-FR-004). All of them stay true once they are. */
static unsigned criteria(const struct session_guard *s, int64_t at_ms)
{
	unsigned held = 0;

	if (s->started && at_ms - s->started_at_ms >= s->timebox_ms)
		held |= SESSION_GUARD_TIMEBOX;
	if (s->projects_used >= s->project_cap || s->zeros_after_asking)
		held |= SESSION_GUARD_PROJECTS_CAP;
	if (gate_open(s))
		held |= SESSION_GUARD_GATE;
	return held;
}

static void transition(
	struct session_guard *s, unsigned held, int64_t at_ms, struct machine_out *out)
{
	struct session_guard_transition *t =
		machine_add(out, &session_guard_machine, SESSION_GUARD_TRANSITION);

	s->phase = SESSION_GUARD_CODING;
	s->reasons = held;
	s->ended_at_ms = at_ms;
	s->pending_count = 0;
	t->reasons = session_guard_reasons(held);
	t->reason = t->reasons.items[0];
	t->coding_question = str_of(s->coding_question);
}

/*
 * Ends the phase when it is due and neither side speaks, nor spoke a moment ago (R54).
 * Until then no new prompt may be made (G11). `again`: say so even if it was said before.
 */
static void evaluate(
	struct session_guard *s, int64_t at_ms, bool again, struct machine_out *out)
{
	unsigned held = criteria(s, at_ms);

	if (!held || s->phase == SESSION_GUARD_CODING)
		return;
	if (!s->due) {
		s->due = true;
		s->due_since_ms = at_ms;
	}
	/* A side that was never heard to end is waited for only so long. */
	if (s->ai_speaking && at_ms - s->due_since_ms >= s->reply_wait_ms)
		s->ai_speaking = false;
	if (s->user_speaking && at_ms - s->due_since_ms >= s->speech_wait_ms)
		s->user_speaking = false;
	if (!s->ai_speaking && !s->user_speaking &&
		at_ms - s->quiet_since_ms >= s->settle_ms) {
		transition(s, held, at_ms, out);
	} else if (!s->suppressed || again) {
		s->suppressed = true;
		machine_add_ref(out, SESSION_GUARD_SUPPRESS_PROMPT, NULL);
	}
}

static int64_t min_ms(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t deadline(const void *state)
{
	const struct session_guard *s = state;
	int64_t at = MACHINE_NEVER;

	if (!s->started || s->phase == SESSION_GUARD_CODING)
		return MACHINE_NEVER;
	if (s->base.at_ms < s->started_at_ms + s->timebox_ms)
		at = s->started_at_ms + s->timebox_ms;
	if (!s->due)
		return at;
	if (s->ai_speaking)
		at = min_ms(at, s->due_since_ms + s->reply_wait_ms);
	if (s->user_speaking)
		at = min_ms(at, s->due_since_ms + s->speech_wait_ms);
	if (!s->ai_speaking && !s->user_speaking)
		at = min_ms(at, s->quiet_since_ms + s->settle_ms);
	return at;
}

/* The event's own row; says when it was. */
static struct session_guard_row *add_row(const struct session_guard *s,
	const struct machine_event *e, struct machine_out *out)
{
	struct session_guard_row *row = machine_add(out, &session_guard_machine, e->type);

	if (s->started) {
		row->has_elapsed_ms = true;
		row->elapsed_ms = e->at_ms - s->started_at_ms;
	}
	if (e->facts.verdict.ptr) {
		row->has_facts = true;
		row->facts.verdict = e->facts.verdict;
	}
	return row;
}

static int on_question(
	struct session_guard *s, const struct machine_event *e, struct machine_out *out)
{
	const struct guard_text *q = e->fields;

	if (!s->started) {
		s->started = true;
		s->started_at_ms = e->at_ms;
	}
	add_row(s, e, out)->text = q->text;
	evaluate(s, e->at_ms, true, out);
	return 0;
}

/* Starts and ends may come twice, late or in the wrong order: only a change counts. */
static int on_speaking(struct session_guard *s, const struct machine_event *e,
	bool *speaking, bool now, struct machine_out *out)
{
	add_row(s, e, out);
	if (*speaking != now) {
		*speaking = now;
		if (!now)
			s->quiet_since_ms = e->at_ms;
	}
	evaluate(s, e->at_ms, false, out);
	return 0;
}

static const char *closed(const struct session_guard *s)
{
	if (!s->started)
		return "no question was asked yet";
	if (s->phase == SESSION_GUARD_CODING)
		return "the background phase is over";
	return NULL;
}

static int on_answer(
	struct session_guard *s, const struct machine_event *e, struct machine_out *out)
{
	const struct guard_answer *a = e->fields;
	struct session_guard_row *row;
	const char *why = closed(s);

	if (why)
		return machine_refuse(out, why);
	row = add_row(s, e, out);
	row->question = a->question;
	row->answer = a->answer;
	if (s->auto_score && s->pending_count < SESSION_GUARD_MAX_PENDING)
		s->pending[s->pending_count++] = e->seq;
	evaluate(s, e->at_ms, false, out);
	return 0;
}

/* Forgets the answer that a score or a failure is about. */
static bool settle_request(struct session_guard *s, const struct machine_event *e)
{
	if (!e->facts.has_request_seq)
		return false;
	for (int i = 0; i < s->pending_count; i++) {
		if (s->pending[i] != e->facts.request_seq)
			continue;
		s->pending_count--;
		for (; i < s->pending_count; i++)
			s->pending[i] = s->pending[i + 1];
		return true;
	}
	return false;
}

static void keep_rationale(char kept[SESSION_GUARD_MAX_RATIONALE + 1], struct str text)
{
	struct str cut = utf8_cut(text, SESSION_GUARD_MAX_RATIONALE);

	if (cut.len)
		memcpy(kept, cut.ptr, cut.len);
	kept[cut.len] = '\0';
}

/* Adds the score to the traits: r = w = pillar / 100, and a zero is no sample. */
static void add_samples(struct session_guard *s, const struct guard_pillars *p,
	struct session_guard_samples *samples)
{
	const double given[SESSION_GUARD_TRAITS] = {
		p->adaptability, p->creativity, p->reasoning};
	struct session_guard_sample *to[SESSION_GUARD_TRAITS] = {
		&samples->adaptability, &samples->creativity, &samples->reasoning};

	for (int i = 0; i < SESSION_GUARD_TRAITS; i++) {
		double r = given[i] < 0 ? 0 : given[i] > 100 ? 1 : given[i] / 100;
		struct scorer_change change = {0};
		double w = 0;
		int err = scorer_weight(1, r, 1, 1, &w);

		/* The decoder lets no NaN through. */
		assert(err == 0);
		err = scorer_add(&s->traits[i], r, w, &change);
		assert(err == 0);
		s->pillars[i] = given[i] < 0 ? 0 : given[i] > 100 ? 100 : given[i];
		*to[i] = (struct session_guard_sample){
			.r = change.r,
			.w = change.w,
			.s_before = change.before.s,
			.w_before = change.before.w,
			.s = change.after.s,
			.w_after = change.after.w,
			.n = change.after.n,
			.conf = scorer_confidence(&change.after, s->c),
		};
	}
}

/* Counts projects and zeros (G1, G2). True when another project is to be asked for (G3).
 */
static bool count_result(struct session_guard *s, int64_t at_ms)
{
	bool zero = true;

	for (int i = 0; i < SESSION_GUARD_TRAITS; i++)
		zero = zero && s->pillars[i] == 0;
	if (!zero) {
		s->zero_runs = 0;
		if (s->project_pending)
			s->projects_used++;
		s->project_pending = false;
		return false;
	}
	s->zero_runs++;
	if (s->zero_runs < s->zero_run_limit)
		return false;
	if (s->asked_for_another) {
		s->zeros_after_asking = true; /* G4 */
		return false;
	}
	if (criteria(s, at_ms))
		return false; /* the phase is due to end: no new prompt (G11) */
	s->asked_for_another = true;
	s->project_pending = true;
	s->zero_runs = 0;
	return true;
}

static int on_control(
	struct session_guard *s, const struct machine_event *e, struct machine_out *out)
{
	const struct guard_control_result *r = e->fields;
	struct session_guard_row_control *row;
	const char *why = closed(s);
	bool ask;

	if (why)
		return machine_refuse(out, why);
	if (e->facts.has_request_seq && !settle_request(s, e))
		return machine_refuse(out, "no score of that answer is waited for");
	row = machine_add(out, &session_guard_machine, e->type);
	row->pillars = r->pillars;
	row->has_pillars = true;
	row->rationale = r->rationale;
	row->has_rationales = r->has_rationales;
	row->rationales = r->rationales;
	row->has_traits = row->traits.has_adaptability = row->traits.has_creativity =
		row->traits.has_reasoning = true;
	add_samples(s, &r->pillars, &row->traits);
	s->scored = true;
	keep_rationale(s->rationales[0], r->rationales.adaptability);
	keep_rationale(s->rationales[1], r->rationales.creativity);
	keep_rationale(s->rationales[2], r->rationales.reasoning);
	ask = count_result(s, e->at_ms);
	row->zero_runs = s->zero_runs;
	row->projects_used = s->projects_used;
	row->stop_check = gate_open(s);
	row->elapsed_ms = e->at_ms - s->started_at_ms;
	row->has_facts = e->facts.has_request_seq;
	row->facts.has_request_seq = e->facts.has_request_seq;
	row->facts.request_seq = e->facts.request_seq;
	if (ask) {
		struct guard_text *text = machine_add(
			out, &session_guard_machine, SESSION_GUARD_ASK_ANOTHER_PROJECT);

		text->text = STR_LIT(ASK_ANOTHER);
	}
	evaluate(s, e->at_ms, false, out);
	return 0;
}

static int on_control_failed(
	struct session_guard *s, const struct machine_event *e, struct machine_out *out)
{
	const struct guard_failure *failure = e->fields;
	struct guard_failure *row;

	if (!settle_request(s, e))
		return machine_refuse(out, "no score of that answer is waited for");
	row = machine_add(out, &session_guard_machine, e->type);
	row->error = failure->error;
	row->has_facts = true;
	row->facts = e->facts;
	return 0;
}

static int on_assistant(
	struct session_guard *s, const struct machine_event *e, struct machine_out *out)
{
	const struct guard_text *m = e->fields;

	add_row(s, e, out)->text = m->text;
	if (s->phase == SESSION_GUARD_BACKGROUND && e->facts.verdict.ptr) {
		struct guard_text *violation =
			machine_add(out, &session_guard_machine, SESSION_GUARD_VIOLATION);

		violation->text = m->text;
		s->violations++;
	}
	return 0;
}

static int step(void *state, const struct machine_event *e, struct machine_out *out)
{
	struct session_guard *s = state;

	switch (e->type) {
	case ITEM_CREATED:
		return 0;
	case ITEM_TICK:
		add_row(s, e, out);
		evaluate(s, e->at_ms, false, out);
		return 0;
	case SESSION_GUARD_QUESTION_ASKED:
		return on_question(s, e, out);
	case SESSION_GUARD_RESPONSE_STARTED:
		return on_speaking(s, e, &s->ai_speaking, true, out);
	case SESSION_GUARD_RESPONSE_DONE:
		return on_speaking(s, e, &s->ai_speaking, false, out);
	case SESSION_GUARD_SPEECH_STARTED:
		return on_speaking(s, e, &s->user_speaking, true, out);
	case SESSION_GUARD_SPEECH_ENDED:
		return on_speaking(s, e, &s->user_speaking, false, out);
	case SESSION_GUARD_ANSWER:
		return on_answer(s, e, out);
	case SESSION_GUARD_CONTROL_RESULT:
		return on_control(s, e, out);
	case SESSION_GUARD_CONTROL_FAILED:
		return on_control_failed(s, e, out);
	case SESSION_GUARD_ASSISTANT_MESSAGE:
		return on_assistant(s, e, out);
	default:
		return machine_refuse(out, "not an event of this machine");
	}
}

/* One score at a time, of the oldest answer. */
static int requests(const void *state, struct machine_request out[MACHINE_MAX_REQUESTS])
{
	const struct session_guard *s = state;

	if (!s->pending_count)
		return 0;
	out[0] = (struct machine_request){MACHINE_REQUEST_CONTROL, s->pending[0], 1};
	return 1;
}

static void examine(const void *state, struct machine_event *event)
{
	(void)state;
	if (event->type == SESSION_GUARD_ASSISTANT_MESSAGE) {
		const struct guard_text *m = event->fields;

		event->facts.verdict = str_of(solicitation_find(m->text));
	}
}

static const struct machine_item_info items[SESSION_GUARD_ITEMS] = {
	MACHINE_COMMON_ITEMS("created", "refused", "tick", session_guard_row_type),
#define ITEM(symbol, ...) [SESSION_GUARD_##symbol] = MACHINE_ITEM(__VA_ARGS__),
#include "workers/guard-engine/session/session_guard.def"
#undef ITEM
};

const struct machine session_guard_machine = {
	.kind = GUARD_SESSION,
	.rules = SESSION_GUARD_RULES,
	.clock = MACHINE_CLOCK_BOOT,
	.state_size = sizeof(struct session_guard),
	.items = items,
	.item_count = SESSION_GUARD_ITEMS,
	.create = create,
	.config = session_guard_config_out,
	.step = step,
	.deadline = deadline,
	.render = session_guard_render,
	.save = session_guard_save,
	.load = session_guard_load,
	.requests = requests,
	.examine = examine,
};
