/* interview_flow.c - see interview_flow.h. */
#include "workers/guard-engine/interview/interview_flow.h"
#include "workers/guard-engine/interview/coverage.h"
#include "workers/guard-engine/interview/interview_view.h"

/* The wording is prescribed (IV-6.4). */
#define OUTLINE "Please provide a brief outline so we can proceed."

static const struct interview_section *section_of(const struct interview *s)
{
	return &s->schema->sections[s->current];
}

static struct interview_part *part_of(struct interview *s)
{
	return &s->parts[s->current];
}

static struct interview_row_section *add_section_row(
	struct interview *s, int type, struct machine_out *out)
{
	struct interview_row_section *row = machine_add(out, &interview_machine, type);

	row->section_id = str_of(section_of(s)->id);
	return row;
}

/* Prompt ids are the section's id and a suffix that is used once. */
static struct interview_prompt *add_prompt(
	struct interview *s, int type, struct str text, struct machine_out *out)
{
	struct interview_prompt *row = machine_add(out, &interview_machine, type);

	row->section_id = str_of(section_of(s)->id);
	row->text = text;
	return row;
}

void interview_close(struct interview *s, enum interview_status status)
{
	s->status = status;
	s->evaluating_seq = 0;
	s->waiting_seq = 0;
	s->query_count = 0;
}

void interview_start_section(
	struct interview *s, int section, int64_t at_ms, struct machine_out *out)
{
	int64_t total_end_ms = s->started_at_ms + s->total_ms;
	struct interview_part *part = &s->parts[section];
	struct interview_row_section *row;
	struct interview_prompt *prompt;

	s->current = section;
	part->started_at_ms = at_ms;
	part->deadline_ms = at_ms + part->duration_ms;
	if (part->deadline_ms > total_end_ms)
		part->deadline_ms = total_end_ms; /* R55 */
	/* A warning that would be due at once is none. */
	for (int i = 0; i < s->warning_count; i++)
		if (part->deadline_ms - s->warnings_ms[i] <= at_ms)
			part->warned |= 1u << i;
	row = add_section_row(s, INTERVIEW_ITEM_SECTION_STARTED, out);
	row->section_name = str_of(section_of(s)->name);
	row->goal = str_of(section_of(s)->goal);
	row->has_deadline_at = true;
	row->deadline_at = part->deadline_ms;
	row->has_budget = true;
	row->budget = part->followup_cap;
	prompt = add_prompt(s, INTERVIEW_ITEM_PROMPT, str_of(section_of(s)->prompt), out);
	prompt->prompt_id = machine_text(out, "%s_initial", section_of(s)->id);
	s->substate = INTERVIEW_SECTION_QUESTION_ACTIVE;
}

static void add_section_end(
	struct interview *s, enum interview_exit reason, struct machine_out *out)
{
	struct interview_row_section *row =
		add_section_row(s, INTERVIEW_ITEM_SECTION_ENDED, out);

	part_of(s)->exit = reason;
	row->reason = str_of(interview_exit_enumeration()->names[reason]);
	row->coverage.raw = interview_coverage_text(section_of(s), part_of(s), out);
	s->evaluating_seq = 0;
	s->waiting_seq = 0;
}

void interview_end_section(struct interview *s, enum interview_exit reason, int64_t at_ms,
	struct machine_out *out)
{
	bool last = s->current + 1 == s->schema->section_count;
	bool over = at_ms >= s->started_at_ms + s->total_ms;
	struct interview_end *end;

	add_section_end(s, reason, out);
	if (!last && !over) {
		interview_start_section(s, s->current + 1, at_ms, out);
		return;
	}
	end = machine_add(out, &interview_machine, INTERVIEW_ITEM_COMPLETED);
	if (!last)
		end->reason =
			STR_LIT("total_time_expired"); /* I16: the rest is not begun */
	interview_close(s, INTERVIEW_COMPLETED);
}

/* ---- coverage and follow-ups ---- */

/* The dimension to ask about next, or -1: what is not covered comes before what is
 * touched, and the more important before the less (IV-6.3, I13). */
static int next_dimension(
	const struct interview_section *section, const struct interview_part *part)
{
	for (enum interview_level level = INTERVIEW_NOT_COVERED;
		level < INTERVIEW_COVERED; level++)
		for (int i = 0; i < section->dimension_count; i++)
			if (part->level[i] == level &&
				interview_question(
					&section->dimensions[i], part->asked[i])
					.ptr)
				return i;
	return -1;
}

/* Does the section know enough (IV-6.4, I6)? */
static bool is_satisfied(
	const struct interview_section *section, const struct interview_part *part)
{
	int covered = 0;

	for (int i = 0; i < section->dimension_count; i++)
		covered += part->level[i] == INTERVIEW_COVERED;
	return covered >=
	       (section->threshold ? section->threshold : section->dimension_count);
}

/* After an answer was judged: the section is satisfied, or asks on, or waits (I5). */
static void go_on(struct interview *s, int64_t at_ms, struct machine_out *out)
{
	const struct interview_section *section = section_of(s);
	struct interview_part *part = part_of(s);
	struct interview_prompt *prompt;
	int next;

	if (is_satisfied(section, part)) {
		interview_end_section(s, INTERVIEW_EXIT_COVERAGE_SATISFIED, at_ms, out);
		return;
	}
	next = next_dimension(section, part);
	if (part->followups >= part->followup_cap || next < 0)
		return;
	prompt = add_prompt(s, INTERVIEW_ITEM_FOLLOWUP,
		interview_question(&section->dimensions[next], part->asked[next]), out);
	part->asked[next]++;
	part->followups++;
	prompt->prompt_id = machine_text(
		out, "%s_followup_%lld", section->id, (long long)part->followups);
	prompt->dimension = str_of(section->dimensions[next].id);
	s->substate = INTERVIEW_SECTION_FOLLOWUP_ACTIVE;
}

/* Levels only rise. True when one did. */
static bool raise_level(
	struct interview_part *part, int dimension, enum interview_level level)
{
	if (level <= part->level[dimension])
		return false;
	part->level[dimension] = level;
	return true;
}

static void note_coverage(struct interview *s, struct machine_out *out)
{
	struct interview_row_section *row =
		add_section_row(s, INTERVIEW_ITEM_COVERAGE, out);

	row->coverage.raw = interview_coverage_text(section_of(s), part_of(s), out);
}

static void ask_model(
	struct interview *s, int64_t seq, int attempt, struct machine_out *out)
{
	struct interview_request *row =
		machine_add(out, &interview_machine, INTERVIEW_ITEM_REQUEST);

	s->evaluating_seq = seq;
	s->attempt = attempt;
	row->purpose = STR_LIT("coverage");
	row->section_id = str_of(section_of(s)->id);
	row->request_seq = seq;
	row->attempt = attempt;
}

void interview_take_answer(struct interview *s, int64_t seq, struct str text,
	bool substantive, int64_t at_ms, struct machine_out *out)
{
	const struct interview_section *section = section_of(s);
	struct interview_part *part = part_of(s);
	bool raised = false;

	part->content += substantive;
	if (s->evaluator == INTERVIEW_EVALUATOR_CLAUDE) {
		if (s->evaluating_seq)
			s->waiting_seq = seq;
		else
			ask_model(s, seq, 1, out);
		return;
	}
	for (int i = 0; i < section->dimension_count; i++)
		raised |= raise_level(
			part, i, coverage_judge(&section->dimensions[i], text));
	if (raised)
		note_coverage(s, out);
	go_on(s, at_ms, out);
}

void interview_reject_skip(struct interview *s, struct machine_out *out)
{
	struct interview_part *part = part_of(s);
	struct interview_row_section *row =
		add_section_row(s, INTERVIEW_ITEM_SKIP_REJECTED, out);
	struct interview_prompt *prompt;

	row->reason = STR_LIT("minimum content is missing");
	if (part->skip_prompted)
		return;
	part->skip_prompted = true;
	prompt = add_prompt(s, INTERVIEW_ITEM_PROMPT, STR_LIT(OUTLINE), out);
	prompt->prompt_id = machine_text(out, "%s_outline", section_of(s)->id);
}

/* ---- the model ---- */

static bool is_open(const struct interview *s, const struct machine_event *e)
{
	return e->facts.has_request_seq && s->evaluating_seq &&
	       s->evaluating_seq == e->facts.request_seq;
}

int interview_judged(
	struct interview *s, const struct machine_event *e, struct machine_out *out)
{
	const struct interview_result *result = e->fields;
	struct interview_result *row;
	int section = s->current;
	bool raised = false;

	if (!is_open(s, e))
		return machine_refuse(out, "no such request is open");
	row = machine_add(out, &interview_machine, e->type);
	row->coverage = result->coverage;
	row->has_facts = true;
	row->facts = e->facts;
	s->evaluating_seq = 0;
	for (size_t i = 0; i < result->coverage.count; i++) {
		const struct interview_judgement *j = &result->coverage.items[i];

		for (int d = 0; d < section_of(s)->dimension_count; d++)
			if (str_is(j->dimension, section_of(s)->dimensions[d].id))
				raised |= raise_level(
					part_of(s), d, (enum interview_level)j->level);
	}
	if (raised)
		note_coverage(s, out);
	go_on(s, e->at_ms, out);
	if (s->waiting_seq && s->current == section && interview_runs(s)) {
		int64_t next = s->waiting_seq;

		s->waiting_seq = 0;
		ask_model(s, next, 1, out);
	}
	return 0;
}

int interview_failed(
	struct interview *s, const struct machine_event *e, struct machine_out *out)
{
	const struct guard_failure *failure = e->fields;
	struct guard_failure *row;
	struct interview_end *end;
	int64_t seq = s->evaluating_seq;

	if (!is_open(s, e))
		return machine_refuse(out, "no such request is open");
	row = machine_add(out, &interview_machine, e->type);
	row->error = failure->error;
	row->has_facts = true;
	row->facts = e->facts;
	if (s->attempt == 1) {
		ask_model(s, seq, 2, out);
		return 0;
	}
	add_section_end(s, INTERVIEW_EXIT_SYSTEM_ERROR, out);
	end = machine_add(out, &interview_machine, INTERVIEW_ITEM_BROKEN_OFF);
	end->reason = STR_LIT("system_error");
	end->section_id = str_of(section_of(s)->id);
	end->error = failure->error;
	end->has_request_seq = true;
	end->request_seq = seq;
	end->has_attempts = true;
	end->attempts = s->attempt;
	interview_close(s, INTERVIEW_TERMINATED);
	return 0;
}

/* ---- time ---- */

int64_t interview_deadline(const void *state)
{
	const struct interview *s = state;
	const struct interview_part *part = &s->parts[s->current];
	int64_t first;

	if (!interview_runs(s))
		return MACHINE_NEVER;
	first = part->deadline_ms;
	for (int i = 0; i < s->warning_count; i++)
		if (!(part->warned & 1u << i) &&
			part->deadline_ms - s->warnings_ms[i] < first)
			first = part->deadline_ms - s->warnings_ms[i];
	return first;
}

void interview_tick(struct interview *s, int64_t at_ms, struct machine_out *out)
{
	struct interview_part *part = part_of(s);

	if (at_ms >= part->deadline_ms) {
		interview_end_section(s, INTERVIEW_EXIT_TIME_EXPIRED, at_ms, out);
		return;
	}
	for (int i = 0; i < s->warning_count; i++) {
		struct interview_row_section *row;

		if (part->warned & 1u << i ||
			part->deadline_ms - s->warnings_ms[i] > at_ms)
			continue;
		part->warned |= 1u << i; /* once, also over a restart (I15) */
		row = add_section_row(s, INTERVIEW_ITEM_TIME_WARNING, out);
		row->has_remaining_ms = true;
		row->remaining_ms = part->deadline_ms - at_ms;
		row->has_deadline_at = true;
		row->deadline_at = part->deadline_ms;
	}
}
