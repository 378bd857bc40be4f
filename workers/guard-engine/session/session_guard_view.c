/* session_guard_view.c - see session_guard_view.h. */
#include "workers/guard-engine/session/session_guard_view.h"
#include <errno.h>
#include <stdio.h>

#define TIMEBOX                                                                          \
	{                                                                                \
		"timebox", 7                                                             \
	}
#define CAP                                                                              \
	{                                                                                \
		"projects_cap", 12                                                       \
	}
#define GATE                                                                             \
	{                                                                                \
		"gate", 4                                                                \
	}

struct strs session_guard_reasons(unsigned criteria)
{
	static struct str names[8][SESSION_GUARD_TRAITS] = {
		{{"", 0}},
		{TIMEBOX},
		{CAP},
		{TIMEBOX, CAP},
		{GATE},
		{TIMEBOX, GATE},
		{CAP, GATE},
		{TIMEBOX, CAP, GATE},
	};
	static const size_t counts[8] = {0, 1, 1, 2, 1, 2, 2, 3};

	return (struct strs){names[criteria & 7], counts[criteria & 7]};
}

void session_guard_config_out(const void *state, struct buf *out)
{
	const struct session_guard *s = state;
	struct session_guard_config c = {
		.timebox_ms = s->timebox_ms,
		.has_timebox_ms = true,
		.zero_run_limit = s->zero_run_limit,
		.has_zero_run_limit = true,
		.project_cap = s->project_cap,
		.has_project_cap = true,
		.tau = s->tau,
		.has_tau = true,
		.c = s->c,
		.has_c = true,
		.min_samples = s->min_samples,
		.has_min_samples = true,
		.coding_question = str_of(s->coding_question),
		.auto_score = s->auto_score,
		.has_auto_score = true,
		.settle_ms = s->settle_ms,
		.has_settle_ms = true,
		.reply_wait_ms = s->reply_wait_ms,
		.has_reply_wait_ms = true,
		.speech_wait_ms = s->speech_wait_ms,
		.has_speech_wait_ms = true,
	};

	proto_encode(session_guard_config_type(), &c, out);
}

static struct session_guard_trait trait_view(const struct session_guard *s, int i)
{
	return (struct session_guard_trait){
		.n = s->traits[i].n,
		.w = s->traits[i].w,
		.s = s->traits[i].s,
		.conf = scorer_confidence(&s->traits[i], s->c),
		.tau = s->tau,
	};
}

static struct guard_pillars pillars_view(const struct session_guard *s)
{
	return (struct guard_pillars){
		.adaptability = s->pillars[0],
		.creativity = s->pillars[1],
		.reasoning = s->pillars[2],
	};
}

static struct guard_rationales rationales_view(const struct session_guard *s)
{
	return (struct guard_rationales){
		.adaptability = str_of(s->rationales[0]),
		.creativity = str_of(s->rationales[1]),
		.reasoning = str_of(s->rationales[2]),
	};
}

/* Time since the first question; it stands still once the phase is over (G8). */
static int64_t elapsed_ms(const struct session_guard *s, int64_t now_ms)
{
	int64_t until = s->phase == SESSION_GUARD_CODING ? s->ended_at_ms : now_ms;

	if (!s->started || until < s->started_at_ms)
		return 0;
	return until - s->started_at_ms;
}

void session_guard_render(
	const void *state, const struct machine_view *view, struct buf *out)
{
	const struct session_guard *s = state;
	int64_t elapsed = elapsed_ms(s, view->now_ms);
	struct strs reasons = session_guard_reasons(s->reasons);
	char remaining[MACHINE_CLOCK_TEXT];
	struct session_guard_view v = {
		.phase = s->phase,
		.remaining = {remaining, 0},
		.started_at_ms = s->started_at_ms,
		.has_started_at_ms = s->started,
		.elapsed_ms = elapsed,
		.timebox_ms = s->timebox_ms,
		.zero_runs = s->zero_runs,
		.projects_used = s->projects_used,
		.asked_for_another = s->asked_for_another,
		.stop_check = scorer_gate(
			s->traits, SESSION_GUARD_TRAITS, s->c, s->tau, s->min_samples),
		.traits = {.adaptability = trait_view(s, 0),
			.creativity = trait_view(s, 1),
			.reasoning = trait_view(s, 2)},
		.has_pillars = s->scored,
		.pillars = pillars_view(s),
		.has_rationales = s->scored,
		.rationales = rationales_view(s),
		.ai_speaking = s->ai_speaking,
		.user_speaking = s->user_speaking,
		.violations = s->violations,
		.scoring = s->pending_count,
		.reason = reasons.count ? reasons.items[0] : (struct str){0},
		.reasons = reasons,
	};

	machine_minutes(s->timebox_ms - elapsed, remaining);
	v.remaining = str_of(remaining);
	proto_encode(session_guard_view_type(), &v, out);
}

static struct session_guard_trait_snapshot trait_out(const struct scorer_trait *t)
{
	return (struct session_guard_trait_snapshot){.s = t->s, .w = t->w, .n = t->n};
}

void session_guard_save(const void *state, struct buf *out)
{
	const struct session_guard *s = state;
	struct guard_seq pending[SESSION_GUARD_MAX_PENDING];
	struct session_guard_snapshot v = {
		.rules = s->base.rules,
		.at_ms = s->base.at_ms,
		.started_at_ms = s->started_at_ms,
		.has_started_at_ms = s->started,
		.phase = s->phase,
		.ended_at_ms = s->ended_at_ms,
		.reasons = s->reasons,
		.zero_runs = s->zero_runs,
		.projects_used = s->projects_used,
		.project_pending = s->project_pending,
		.asked_for_another = s->asked_for_another,
		.zeros_after_asking = s->zeros_after_asking,
		.ai_speaking = s->ai_speaking,
		.user_speaking = s->user_speaking,
		.quiet_since_ms = s->quiet_since_ms,
		.due_since_ms = s->due_since_ms,
		.has_due_since_ms = s->due,
		.suppressed = s->suppressed,
		.violations = s->violations,
		.adaptability = trait_out(&s->traits[0]),
		.creativity = trait_out(&s->traits[1]),
		.reasoning = trait_out(&s->traits[2]),
		.has_pillars = s->scored,
		.pillars = pillars_view(s),
		.has_rationales = s->scored,
		.rationales = rationales_view(s),
		.pending = {pending, (size_t)s->pending_count},
	};

	for (int i = 0; i < s->pending_count; i++)
		pending[i] = (struct guard_seq){.seq = s->pending[i]};
	proto_encode(session_guard_snapshot_type(), &v, out);
}

static struct scorer_trait trait_in(const struct session_guard_trait_snapshot *t)
{
	return (struct scorer_trait){.s = t->s, .w = t->w, .n = t->n};
}

static void load_scores(struct session_guard *s, const struct session_guard_snapshot *v)
{
	const struct str rationales[SESSION_GUARD_TRAITS] = {v->rationales.adaptability,
		v->rationales.creativity, v->rationales.reasoning};

	s->traits[0] = trait_in(&v->adaptability);
	s->traits[1] = trait_in(&v->creativity);
	s->traits[2] = trait_in(&v->reasoning);
	s->scored = v->has_pillars;
	s->pillars[0] = v->pillars.adaptability;
	s->pillars[1] = v->pillars.creativity;
	s->pillars[2] = v->pillars.reasoning;
	for (int i = 0; i < SESSION_GUARD_TRAITS; i++)
		snprintf(s->rationales[i], sizeof(s->rationales[i]), "%.*s",
			STR_ARG(rationales[i]));
}

int session_guard_load(
	yyjson_val *snapshot, struct arena *arena, void *state, struct proto_error *error)
{
	struct session_guard *s = state;
	struct session_guard_snapshot v;
	int err = proto_decode(session_guard_snapshot_type(), snapshot, "snapshot",
		DECODE_STRICT, arena, &v, error);

	if (err)
		return err;
	s->base = (struct machine_base){.rules = (int)v.rules, .at_ms = v.at_ms};
	s->started = v.has_started_at_ms;
	s->started_at_ms = v.started_at_ms;
	s->phase = (enum session_guard_phase)v.phase;
	s->ended_at_ms = v.ended_at_ms;
	s->reasons = (unsigned)v.reasons;
	s->zero_runs = v.zero_runs;
	s->projects_used = v.projects_used;
	s->project_pending = v.project_pending;
	s->asked_for_another = v.asked_for_another;
	s->zeros_after_asking = v.zeros_after_asking;
	s->ai_speaking = v.ai_speaking;
	s->user_speaking = v.user_speaking;
	s->quiet_since_ms = v.quiet_since_ms;
	s->due = v.has_due_since_ms;
	s->due_since_ms = v.due_since_ms;
	s->suppressed = v.suppressed;
	s->violations = v.violations;
	load_scores(s, &v);
	s->pending_count = (int)v.pending.count;
	for (int i = 0; i < s->pending_count; i++)
		s->pending[i] = v.pending.items[i].seq;
	return 0;
}
