/* interview_view.c - see interview_view.h. */
#include "workers/guard-engine/interview/interview_view.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Ids are plain ASCII without anything to escape. */
static void add_coverage(const struct interview_section *section,
	const struct interview_part *part, struct buf *out)
{
	buf_add_char(out, '{');
	for (int i = 0; i < section->dimension_count; i++)
		buf_printf(out, "%s\"%s\":\"%s\"", i ? "," : "",
			section->dimensions[i].id,
			interview_level_enumeration()->names[part->level[i]]);
	buf_add_char(out, '}');
}

struct str interview_coverage_text(const struct interview_section *section,
	const struct interview_part *part, struct machine_out *out)
{
	AUTO_BUF text = {0};

	add_coverage(section, part, &text);
	return machine_text(out, "%.*s", STR_ARG(buf_str(&text)));
}

/* ---- what the candidate's page shows ---- */

struct ui_lists {
	struct str upcoming[INTERVIEW_MAX_SECTIONS];
	struct str allowed[4];
};

static struct interview_ui make_ui(
	const struct interview *s, const char *remaining, struct ui_lists *lists)
{
	const struct interview_section *section = &s->schema->sections[s->current];
	bool runs = interview_runs(s);
	struct interview_ui ui = {
		.goal = runs ? str_of(section->goal) : STR_LIT(""),
		.time_remaining = str_of(remaining),
		.upcoming.items = lists->upcoming,
		.allowed.items = lists->allowed,
	};
	int next = s->status == INTERVIEW_NOT_STARTED ? 0 : s->current + 1;

	if (runs)
		ui.current_section = str_of(section->id);
	if (runs || s->status == INTERVIEW_NOT_STARTED)
		for (int i = next; i < s->schema->section_count; i++)
			lists->upcoming[ui.upcoming.count++] =
				str_of(s->schema->sections[i].name);
	if (s->status == INTERVIEW_IN_PROGRESS) {
		lists->allowed[ui.allowed.count++] = STR_LIT("chat");
		if (section->takes_code) {
			lists->allowed[ui.allowed.count++] = STR_LIT("code");
			lists->allowed[ui.allowed.count++] = STR_LIT("submit");
		}
		lists->allowed[ui.allowed.count++] = STR_LIT("ask_assistant");
	}
	return ui;
}

/* ---- what is remembered (IV-7.1, IV-7.2) ---- */

static struct interview_memory make_memory(const struct interview *s,
	struct interview_memory_section list[INTERVIEW_MAX_SECTIONS],
	struct buf texts[INTERVIEW_MAX_SECTIONS])
{
	struct interview_memory memory = {.sections.items = list};

	for (int i = 0; i < s->schema->section_count && s->parts[i].started_at_ms; i++) {
		add_coverage(&s->schema->sections[i], &s->parts[i], &texts[i]);
		list[i] = (struct interview_memory_section){
			.section_id = str_of(s->schema->sections[i].id),
			.exit_reason = s->parts[i].exit < 0 ? 0 : s->parts[i].exit,
			.has_exit_reason = s->parts[i].exit != INTERVIEW_RUNNING,
			.coverage.raw = buf_str(&texts[i]),
		};
		memory.sections.count++;
	}
	return memory;
}

void interview_render(const void *state, const struct machine_view *view, struct buf *out)
{
	const struct interview *s = state;
	const struct interview_part *part = &s->parts[s->current];
	bool runs = interview_runs(s);
	char remaining[MACHINE_CLOCK_TEXT];
	struct interview_memory_section sections[INTERVIEW_MAX_SECTIONS];
	struct buf texts[INTERVIEW_MAX_SECTIONS] = {{0}}, coverage = {0};
	struct ui_lists lists;
	struct interview_view v = {
		.interview_id = view->id,
		.schema_version = str_of(s->schema->version),
		.candidate_id =
			s->candidate_id[0] ? str_of(s->candidate_id) : (struct str){0},
		.status = s->status,
		.section_state = s->substate,
		.has_section_state = runs,
		.section_start_time = part->started_at_ms,
		.has_section_start_time = runs,
		.section_deadline = part->deadline_ms,
		.has_section_deadline = runs,
		.budget = runs ? part->followup_cap - part->followups : 0,
		.event_cursor = view->cursor,
		.evaluating = s->evaluating_seq != 0,
	};

	machine_minutes(runs ? part->deadline_ms - view->now_ms : 0, remaining);
	if (runs) {
		v.current_section_id = str_of(s->schema->sections[s->current].id);
		add_coverage(&s->schema->sections[s->current], part, &coverage);
	} else {
		buf_add_str(&coverage, STR_LIT("{}"));
	}
	v.coverage.raw = buf_str(&coverage);
	v.memory = make_memory(s, sections, texts);
	v.ui = make_ui(s, remaining, &lists);
	proto_encode(interview_view_type(), &v, out);
	buf_free(&coverage);
	for (int i = 0; i < INTERVIEW_MAX_SECTIONS; i++)
		buf_free(&texts[i]);
}

/* ---- snapshots ---- */

struct part_digits {
	char levels[INTERVIEW_MAX_DIMENSIONS + 1];
	char asked[INTERVIEW_MAX_DIMENSIONS + 1];
};

static struct interview_section_snapshot part_out(
	const struct interview_part *p, int dimensions, struct part_digits *digits)
{
	for (int i = 0; i < dimensions; i++) {
		digits->levels[i] = (char)('0' + (int)p->level[i]);
		digits->asked[i] = (char)('0' + p->asked[i]);
	}
	return (struct interview_section_snapshot){
		.exit = p->exit + 1,
		.started_at_ms = p->started_at_ms,
		.deadline_ms = p->deadline_ms,
		.followups = p->followups,
		.content = p->content,
		.warned = p->warned,
		.skip_prompted = p->skip_prompted,
		.levels = {digits->levels, (size_t)dimensions},
		.asked = {digits->asked, (size_t)dimensions},
	};
}

void interview_save(const void *state, struct buf *out)
{
	const struct interview *s = state;
	struct guard_seq queries[INTERVIEW_MAX_QUERIES];
	struct interview_section_snapshot sections[INTERVIEW_MAX_SECTIONS];
	struct part_digits digits[INTERVIEW_MAX_SECTIONS];
	struct interview_snapshot v = {
		.rules = s->base.rules,
		.at_ms = s->base.at_ms,
		.status = s->status,
		.substate = s->substate,
		.current = s->current,
		.started_at_ms = s->started_at_ms,
		.submissions = s->submissions,
		.evaluating_seq = s->evaluating_seq,
		.attempt = s->attempt,
		.waiting_seq = s->waiting_seq,
		.queries = {queries, (size_t)s->query_count},
		.sections = {sections, (size_t)s->schema->section_count},
	};

	for (int i = 0; i < s->query_count; i++)
		queries[i] = (struct guard_seq){.seq = s->queries[i]};
	for (int i = 0; i < s->schema->section_count; i++)
		sections[i] = part_out(
			&s->parts[i], s->schema->sections[i].dimension_count, &digits[i]);
	proto_encode(interview_snapshot_type(), &v, out);
}

static int part_in(const struct interview_section_snapshot *v, int dimensions,
	struct interview_part *p)
{
	if (v->levels.len != (size_t)dimensions || v->asked.len != (size_t)dimensions)
		return -EINVAL;
	p->exit = (int)v->exit - 1;
	p->started_at_ms = v->started_at_ms;
	p->deadline_ms = v->deadline_ms;
	p->followups = v->followups;
	p->content = v->content;
	p->warned = (unsigned)v->warned;
	p->skip_prompted = v->skip_prompted;
	for (int i = 0; i < dimensions; i++) {
		int level = v->levels.ptr[i] - '0', asked = v->asked.ptr[i] - '0';

		if (level < 0 || level > INTERVIEW_COVERED || asked < 0 ||
			asked > INTERVIEW_MAX_QUESTIONS)
			return -EINVAL;
		p->level[i] = (enum interview_level)level;
		p->asked[i] = asked;
	}
	return 0;
}

int interview_load(
	yyjson_val *snapshot, struct arena *arena, void *state, struct proto_error *error)
{
	struct interview *s = state;
	struct interview_snapshot v;
	int err = proto_decode(interview_snapshot_type(), snapshot, "snapshot",
		DECODE_STRICT, arena, &v, error);

	if (err)
		return err;
	if (v.sections.count != (size_t)s->schema->section_count ||
		v.current >= s->schema->section_count ||
		v.queries.count > INTERVIEW_MAX_QUERIES) {
		snprintf(error->text, sizeof(error->text),
			"snapshot.sections: not those of the schema");
		return -EINVAL;
	}
	s->base = (struct machine_base){.rules = (int)v.rules, .at_ms = v.at_ms};
	s->status = (enum interview_status)v.status;
	s->substate = (enum interview_substate)v.substate;
	s->current = (int)v.current;
	s->started_at_ms = v.started_at_ms;
	s->submissions = v.submissions;
	s->evaluating_seq = v.evaluating_seq;
	s->attempt = (int)v.attempt;
	s->waiting_seq = v.waiting_seq;
	s->query_count = (int)v.queries.count;
	for (int i = 0; i < s->query_count; i++)
		s->queries[i] = v.queries.items[i].seq;
	for (int i = 0; i < s->schema->section_count; i++) {
		err = part_in(&v.sections.items[i],
			s->schema->sections[i].dimension_count, &s->parts[i]);
		if (err) {
			snprintf(error->text, sizeof(error->text),
				"snapshot.sections[%d]: not of this section", i);
			return err;
		}
	}
	return 0;
}
