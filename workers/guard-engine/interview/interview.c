/* interview.c - the rules of the interview; see interview.h. */
#include "workers/guard-engine/interview/interview.h"
#include "workers/guard-engine/interview/coverage.h"
#include "workers/guard-engine/interview/interview_config.h"
#include "workers/guard-engine/interview/interview_flow.h"
#include "workers/guard-engine/interview/interview_view.h"
#include "workers/guard-engine/phrases/assistant_policy.h"
#include <ctype.h>
#include <errno.h>

/* ---- which section ---- */

/* A prompt id begins with the id of its section. */
static int section_of_prompt(const struct interview_schema *schema, struct str prompt)
{
	for (int i = 0; i < schema->section_count; i++) {
		size_t len = strlen(schema->sections[i].id);

		if (str_starts(prompt, schema->sections[i].id) && prompt.len > len &&
			prompt.ptr[len] == '_')
			return i;
	}
	return -1;
}

/* The section before still takes messages: it ended by time, a moment ago (IV-5.2). */
static bool in_grace(const struct interview *s, int64_t at_ms)
{
	const struct interview_part *before;

	if (s->current == 0)
		return false;
	before = &s->parts[s->current - 1];
	return before->exit == INTERVIEW_EXIT_TIME_EXPIRED &&
	       at_ms - before->deadline_ms <= s->grace_ms;
}

/* The section that a message counts for (I2). */
struct place {
	int section; /* -1: the message is not allowed */
	bool late;
	const char *refusal;
};

/* `section`, `prompt`: what the client named, or absent. */
static struct place place_of(
	const struct interview *s, struct str section, struct str prompt, int64_t at_ms)
{
	bool grace = in_grace(s, at_ms);
	int named = -1;

	if (section.ptr) {
		named = interview_schema_section(s->schema, section);
		if (named < 0)
			return (struct place){
				.section = -1, .refusal = "there is no such section"};
	} else if (prompt.ptr) {
		named = section_of_prompt(s->schema, prompt);
	}
	if (named > s->current)
		return (struct place){
			.section = -1, .refusal = "that section has not begun"};
	if (grace && named != s->current && (named < 0 || named == s->current - 1))
		return (struct place){.section = s->current - 1, .late = true};
	return (struct place){.section = s->current};
}

static bool is_blank(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!isspace((unsigned char)text.ptr[i]))
			return false;
	return true;
}

/* Why nothing can be taken from the candidate now, or NULL. */
static const char *closed(const struct interview *s)
{
	switch (s->status) {
	case INTERVIEW_NOT_STARTED:
		return "the interview has not started";
	case INTERVIEW_PAUSED:
		return "the interview is paused; reconnect first";
	case INTERVIEW_COMPLETED:
	case INTERVIEW_TERMINATED:
		return "the interview is over";
	case INTERVIEW_IN_PROGRESS:
		break;
	}
	return NULL;
}

/* ---- what the candidate does ---- */

static int on_start(
	struct interview *s, const struct machine_event *e, struct machine_out *out)
{
	if (s->status != INTERVIEW_NOT_STARTED)
		return machine_refuse(out, "the interview was started already");
	machine_add_ref(out, e->type, NULL);
	s->status = INTERVIEW_IN_PROGRESS;
	s->started_at_ms = e->at_ms;
	interview_start_section(s, 0, e->at_ms, out);
	return 0;
}

static int on_message(
	struct interview *s, const struct machine_event *e, struct machine_out *out)
{
	const struct interview_message *m = e->fields;
	struct interview_row_message *row;
	struct place place;
	const char *why = closed(s);

	if (!why && is_blank(m->text))
		why = "the message is empty";
	if (why)
		return machine_refuse(out, why);
	place = place_of(s, m->section, m->prompt, e->at_ms);
	if (place.section < 0)
		return machine_refuse(out, place.refusal);
	row = machine_add(out, &interview_machine, e->type);
	row->text = m->text;
	row->section = m->section;
	row->prompt = m->prompt;
	row->section_id = str_of(s->schema->sections[place.section].id);
	row->late = place.late;
	if (!place.late)
		interview_take_answer(s, e->seq, m->text,
			coverage_is_substantive(m->text), e->at_ms, out);
	return 0;
}

/* Code counts for a section that takes code: the one that runs, or the one before within
 * its grace. */
static struct place place_of_code(
	const struct interview *s, const struct interview_code *c, int64_t at_ms)
{
	struct place place = place_of(s, c->section, (struct str){0}, at_ms);

	if (place.section < 0 || s->schema->sections[place.section].takes_code)
		return place;
	if (place.late && !c->section.ptr && s->schema->sections[s->current].takes_code)
		return (struct place){.section = s->current};
	return (struct place){.section = -1, .refusal = "this section takes no code"};
}

static int on_code(
	struct interview *s, const struct machine_event *e, struct machine_out *out)
{
	const struct interview_code *c = e->fields;
	struct interview_row_code *row;
	struct place place;
	const char *why = closed(s);

	if (!why && is_blank(c->code))
		why = "the code is empty";
	if (why)
		return machine_refuse(out, why);
	place = place_of_code(s, c, e->at_ms);
	if (place.section < 0)
		return machine_refuse(out, place.refusal);
	s->submissions++;
	row = machine_add(out, &interview_machine, e->type);
	row->code = c->code;
	row->language = c->language;
	row->section = c->section;
	row->section_id = str_of(s->schema->sections[place.section].id);
	row->submission_id = s->submissions;
	row->late = place.late;
	if (!place.late)
		interview_take_answer(s, e->seq, c->code, true, e->at_ms, out);
	return 0;
}

static int on_query(
	struct interview *s, const struct machine_event *e, struct machine_out *out)
{
	const struct interview_query *q = e->fields;
	struct interview_row_query *row;
	struct interview_assistant *blocked;
	const char *why = closed(s);

	if (!why && is_blank(q->text))
		why = "the query is empty";
	if (!why && s->query_count == INTERVIEW_MAX_QUERIES)
		why = "the assistant has not answered the queries before this one";
	if (why)
		return machine_refuse(out, why);
	row = machine_add(out, &interview_machine, e->type);
	row->text = q->text;
	row->section_id = str_of(s->schema->sections[s->current].id);
	if (!e->facts.verdict.ptr) {
		s->queries[s->query_count++] = e->seq;
		return 0;
	}
	row->has_facts = true;
	row->facts.verdict = e->facts.verdict;
	blocked = machine_add(out, &interview_machine, INTERVIEW_ITEM_QUERY_BLOCKED);
	blocked->query_seq = e->seq;
	blocked->text = STR_LIT(ASSISTANT_OVERSTEP);
	blocked->reason = e->facts.verdict;
	blocked->blocked = true;
	return 0;
}

static int on_done(
	struct interview *s, const struct machine_event *e, struct machine_out *out)
{
	const char *why = closed(s);

	if (why)
		return machine_refuse(out, why);
	machine_add_ref(out, e->type, NULL);
	if (s->parts[s->current].content > 0)
		interview_end_section(s, INTERVIEW_EXIT_CANDIDATE_DONE, e->at_ms, out);
	else
		interview_reject_skip(s, out);
	return 0;
}

static int on_connection(
	struct interview *s, const struct machine_event *e, struct machine_out *out)
{
	bool gone = e->type == INTERVIEW_ITEM_DISCONNECTED;

	if (s->status != (gone ? INTERVIEW_IN_PROGRESS : INTERVIEW_PAUSED))
		return machine_refuse(out, gone ? "the interview does not run"
						: "the interview is not paused");
	s->status = gone ? INTERVIEW_PAUSED : INTERVIEW_IN_PROGRESS;
	machine_add_ref(out, e->type, NULL);
	return 0;
}

static int on_terminate(
	struct interview *s, const struct machine_event *e, struct machine_out *out)
{
	const struct interview_terminate *t = e->fields;
	struct interview_end *row;

	if (s->status == INTERVIEW_COMPLETED || s->status == INTERVIEW_TERMINATED)
		return machine_refuse(out, "the interview is over");
	row = machine_add(out, &interview_machine, e->type);
	row->reason = t->reason;
	if (s->status != INTERVIEW_NOT_STARTED)
		row->section_id = str_of(s->schema->sections[s->current].id);
	interview_close(s, INTERVIEW_TERMINATED);
	return 0;
}

/* ---- what models say ---- */

static bool forget_query(struct interview *s, const struct machine_event *e)
{
	for (int i = 0; i < s->query_count; i++) {
		if (!e->facts.has_request_seq || s->queries[i] != e->facts.request_seq)
			continue;
		s->query_count--;
		for (; i < s->query_count; i++)
			s->queries[i] = s->queries[i + 1];
		return true;
	}
	return false;
}

static int on_answered(
	struct interview *s, const struct machine_event *e, struct machine_out *out)
{
	const struct interview_answer *a = e->fields;
	struct interview_assistant *row;

	if (!forget_query(s, e))
		return machine_refuse(out, "no such query is open");
	row = machine_add(out, &interview_machine, e->type);
	row->query_seq = e->facts.request_seq;
	row->text = a->text;
	row->category = a->category;
	row->error = a->error;
	row->reason = e->facts.verdict;
	row->blocked = e->type == INTERVIEW_ITEM_ANSWER_BLOCKED;
	row->has_facts = true;
	row->facts = e->facts;
	return 0;
}

/* An answer that goes too far is replaced before it is written anywhere; without one the
 * candidate is told so (IV-8.2). */
static void examine(const void *state, struct machine_event *event)
{
	(void)state;
	if (event->type == INTERVIEW_ITEM_QUERY) {
		const struct interview_query *q = event->fields;

		event->facts.verdict = str_of(assistant_check_query(q->text));
	} else if (event->type == INTERVIEW_ITEM_ANSWERED) {
		struct interview_answer *a = event->fields;

		event->facts.verdict = str_of(assistant_check_answer(a->text));
		if (event->facts.verdict.ptr) {
			event->type = INTERVIEW_ITEM_ANSWER_BLOCKED;
			a->text = STR_LIT(ASSISTANT_OVERSTEP);
			a->category = (struct str){0};
		} else if (is_blank(a->text)) {
			a->text = STR_LIT(ASSISTANT_AWAY);
			a->category = STR_LIT("error");
		}
	}
}

/* ---- the machine ---- */

static int step(void *state, const struct machine_event *e, struct machine_out *out)
{
	struct interview *s = state;

	switch (e->type) {
	case ITEM_CREATED:
		return 0;
	case ITEM_TICK:
		machine_add_ref(out, e->type, NULL);
		interview_tick(s, e->at_ms, out);
		return 0;
	case INTERVIEW_ITEM_START:
		return on_start(s, e, out);
	case INTERVIEW_ITEM_MESSAGE:
		return on_message(s, e, out);
	case INTERVIEW_ITEM_CODE:
		return on_code(s, e, out);
	case INTERVIEW_ITEM_QUERY:
		return on_query(s, e, out);
	case INTERVIEW_ITEM_DONE:
		return on_done(s, e, out);
	case INTERVIEW_ITEM_DISCONNECTED:
	case INTERVIEW_ITEM_RECONNECTED:
		return on_connection(s, e, out);
	case INTERVIEW_ITEM_TERMINATE:
		return on_terminate(s, e, out);
	case INTERVIEW_ITEM_JUDGED:
		return interview_judged(s, e, out);
	case INTERVIEW_ITEM_FAILED:
		return interview_failed(s, e, out);
	case INTERVIEW_ITEM_ANSWERED:
	case INTERVIEW_ITEM_ANSWER_BLOCKED:
		return on_answered(s, e, out);
	default:
		return machine_refuse(out, "not an event of this machine");
	}
}

static int requests(const void *state, struct machine_request out[MACHINE_MAX_REQUESTS])
{
	const struct interview *s = state;
	int count = 0;

	if (s->evaluating_seq)
		out[count++] = (struct machine_request){
			MACHINE_REQUEST_COVERAGE, s->evaluating_seq, s->attempt};
	for (int i = 0; i < s->query_count; i++)
		out[count++] = (struct machine_request){
			MACHINE_REQUEST_ASSISTANT, s->queries[i], 1};
	return count;
}

static const struct machine_item_info items[INTERVIEW_ITEMS] = {
	MACHINE_COMMON_ITEMS("INTERVIEW_CREATED", "EVENT_REFUSED", "TICK", empty_type),
#define ITEM(symbol, ...) [INTERVIEW_ITEM_##symbol] = MACHINE_ITEM(__VA_ARGS__),
#include "workers/guard-engine/interview/interview.def"
#undef ITEM
};

const struct machine interview_machine = {
	.kind = GUARD_INTERVIEW,
	.rules = INTERVIEW_RULES,
	.clock = MACHINE_CLOCK_BOOT,
	.state_size = sizeof(struct interview),
	.items = items,
	.item_count = INTERVIEW_ITEMS,
	.create = interview_create,
	.config = interview_config_out,
	.step = step,
	.deadline = interview_deadline,
	.render = interview_render,
	.save = interview_save,
	.load = interview_load,
	.requests = requests,
	.examine = examine,
};
