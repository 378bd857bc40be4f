/*
 * review.c - practice mode: a solution of a kata is judged, the attempt kept, constraints
 * unlocked (story 11; FR-154 to FR-160, FR-165 to FR-167).
 */
#include "common/base/alloc.h"
#include "workers/llm/claude/flow_helpers.h"
#include "workers/llm/flows/dreyfus_stage.h"
#include "workers/llm/flows/flows.h"
#include <stdlib.h>

/* Either form of the request (P5.16), borrowed. */
struct submission {
	struct str kata_id;
	struct str code;
	struct strs titles;
};

static void log_completed(
	struct flow *flow, struct str kata_id, const struct call_result *result)
{
	const struct practice_review_response *r = result->response;
	struct review_completed_data data = {.kata_id = kata_id,
		.model = result->model.ptr ? result->model : STR_LIT(""),
		.latency_ms = result->latency_ms,
		.has_latency_ms = true,
		.success = r != NULL,
		.has_success = true};

	if (r) {
		data.level = r->level;
		data.passed = r->passed;
		data.has_level = data.has_passed = true;
	} else {
		data.error = result->text;
	}
	log_action(flow, ACTION_REVIEW_COMPLETED, &data);
}

/* ---- constraints and attempts ---- */

static const struct kata_constraint *find_constraint(
	const struct kata *k, struct str title)
{
	for (size_t i = 0; i < k->constraints.count; i++)
		if (str_eq(k->constraints.items[i].title, title))
			return &k->constraints.items[i];
	return NULL;
}

/* Constraints that are switched on, with their titles beside them for what needs those
 * alone. */
struct active {
	const struct kata_constraint **items;
	struct strs titles;
};

/* Those that the kata knows, in the order given, each once; other titles are ignored
 * (EC-77, P11.6). */
static struct active match_titles(
	struct flow *flow, const struct kata *k, struct strs titles)
{
	struct active on = {
		.items = arena_array(&flow->arena, titles.count + 1, sizeof(*on.items)),
		.titles = {arena_array(
				   &flow->arena, titles.count + 1, sizeof(struct str)),
			0},
	};

	for (size_t i = 0; i < titles.count; i++) {
		const struct kata_constraint *found = find_constraint(k, titles.items[i]);
		bool again = false;

		for (size_t j = 0; j < on.titles.count; j++)
			again = again || on.items[j] == found;
		if (!found || again)
			continue;
		on.items[on.titles.count] = found;
		on.titles.items[on.titles.count++] = titles.items[i];
	}
	return on;
}

/* The constraints of a stored attempt are titles, or objects that have one (P2.4). */
static struct str title_of(yyjson_val *constraint)
{
	yyjson_val *title = yyjson_is_obj(constraint)
				    ? yyjson_obj_get(constraint, "title")
				    : constraint;

	return (struct str){yyjson_get_str(title), yyjson_get_len(title)};
}

static bool same_set(yyjson_val *constraints, struct strs titles)
{
	size_t i, max;
	yyjson_val *one;

	if (yyjson_arr_size(constraints) != titles.count)
		return false;
	yyjson_arr_foreach(constraints, i, max, one)
	{
		struct str title = title_of(one);
		bool found = false;

		for (size_t j = 0; j < titles.count; j++)
			found = found || str_eq(titles.items[j], title);
		if (!found)
			return false;
	}
	return true;
}

/* [{code, review?, level?, passed?}] of the attempts under the same set of constraints
 * (D75, P11.6). */
static struct str previous_attempts(
	struct flow *flow, const struct kata *k, struct strs titles)
{
	static const char *const keys[] = {"code", "review", "level", "passed"};
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *list = yyjson_mut_arr(doc);
	size_t i, max, len;
	yyjson_val *attempt;
	AUTO_FREE char *text = NULL;

	yyjson_arr_foreach(k->attempts.val, i, max, attempt)
	{
		yyjson_mut_val *copy;

		if (!same_set(yyjson_obj_get(attempt, "constraints"), titles))
			continue;
		copy = yyjson_mut_arr_add_obj(doc, list);
		for (size_t j = 0; j < sizeof(keys) / sizeof(keys[0]); j++) {
			yyjson_val *value = yyjson_obj_get(attempt, keys[j]);

			if (value)
				yyjson_mut_obj_add_val(doc, copy, keys[j],
					yyjson_val_mut_copy(doc, value));
		}
	}
	yyjson_mut_doc_set_root(doc, list);
	text = yyjson_mut_write(doc, 0, &len);
	yyjson_mut_doc_free(doc);
	return text ? arena_str(&flow->arena, (struct str){text, len}) : STR_LIT("[]");
}

/* ---- the call and its consequences ---- */

static struct call_result judge(struct flow *flow, const struct submission *s,
	const struct kata *k, const struct active *on)
{
	struct practice_review_request message = {.kata_description = k->description,
		.instructor_notes = k->instructor_notes,
		.user_code = s->code,
		.previous_attempts = {.raw = previous_attempts(flow, k, on->titles)}};
	struct active_constraint *active =
		arena_array(&flow->arena, on->titles.count + 1, sizeof(*active));
	struct coaching_context context;

	if (!load_context(flow, &context))
		return (struct call_result){.latency_ms = -1};
	for (size_t i = 0; i < on->titles.count; i++)
		active[i] = (struct active_constraint){.title = on->items[i]->title,
			.description = on->items[i]->description};
	message.active_constraints.items = active;
	message.active_constraints.count = on->titles.count;
	return call_claude_with_retry(flow,
		&(struct call_request){.kind = CALL_PRACTICE_REVIEW,
			.session_id = context.has_session ? context.session.id
							  : (struct str){NULL, 0},
			.dreyfus_stage = dreyfus_stage_for_topic(&context, k->topic),
			.message = &message});
}

/* Keeps the attempt. False when that failed; the caller was told. */
static bool keep(struct flow *flow, const struct submission *s, struct strs titles,
	const struct practice_review_response *r, struct kata_attempted *kept)
{
	struct kata_attempt attempt = {.kata_id = s->kata_id,
		.code = s->code,
		.review = r->feedback,
		.level = r->level,
		.has_level = true,
		.passed = r->passed,
		.has_passed = true,
		.constraints = titles};
	struct bus_reply reply;

	if (tell_once(flow, METHOD_KATA_ATTEMPT, &attempt, kept, &reply) == 0)
		return true;
	fail_with(flow, &reply);
	return false;
}

static void answer(struct flow *flow, const struct submission *s,
	const struct practice_review_response *r, const struct kata_attempted *kept)
{
	struct review_response response = {.kata_id = s->kata_id,
		.correct = r->correct,
		.has_correct = true,
		.feedback = r->feedback,
		.level = r->level,
		.has_level = true,
		.passed = r->passed,
		.has_passed = true,
		.has_follow_up = r->has_follow_up,
		.dreyfus_signal = r->dreyfus_signal,
		.has_dreyfus_signal = true};

	if (r->has_follow_up)
		response.follow_up = (struct review_follow_up){.type = r->follow_up.type,
			.has_type = true,
			.constraint = r->follow_up.constraint,
			.reason = r->follow_up.reason};
	response.unlocked_constraints.items = kept->unlocked.items;
	response.unlocked_constraints.count = kept->unlocked.count;
	flow_answer_message(flow, review_response_type(), &response);
}

static void answer_older(struct flow *flow, const struct practice_review_response *r,
	const struct kata_attempted *kept)
{
	struct practice_solution_review older = {.review = r->feedback,
		.level = r->level,
		.has_level = true,
		.passed = r->passed,
		.has_passed = true};

	older.constraints_unlocked.items = kept->unlocked.items;
	older.constraints_unlocked.count = kept->unlocked.count;
	flow_publish(flow, "ui/practice:solution_review", practice_solution_review_type(),
		&older);
}

static void review(struct flow *flow, const struct submission *s, bool older_form)
{
	struct review_requested_data requested = {.kata_id = s->kata_id};
	struct kata_query query = {.kata_id = s->kata_id};
	struct kata_attempted kept;
	struct call_result result;
	struct bus_reply reply;
	struct active on;
	struct kata kata;

	log_action(flow, ACTION_REVIEW_REQUESTED, &requested);
	if (s->kata_id.len == 0) { /* P5.15 */
		flow_fail(flow, "NOT_FOUND",
			"No kata was named: open one and submit its solution");
		return;
	}
	if (ask(flow, METHOD_KATA_GET, &query, &kata, &reply) < 0) {
		if (str_is(reply.code, "NOT_FOUND"))
			flow_fail(flow, "NOT_FOUND", "Kata not found");
		else
			fail_with(flow, &reply);
		return;
	}
	on = match_titles(flow, &kata, s->titles);
	result = judge(flow, s, &kata, &on);
	if (flow_answered(flow))
		return;
	if (!result.response) {
		log_completed(flow, s->kata_id, &result);
		flow_fail(flow, "MODEL_ERROR", "%.*s", STR_ARG(result.text));
		return;
	}
	if (!keep(flow, s, on.titles, result.response, &kept))
		return;
	log_completed(flow, s->kata_id, &result);
	answer(flow, s, result.response, &kept);
	if (older_form)
		answer_older(flow, result.response, &kept);
}

void flow_review(struct flow *flow)
{
	const struct user_review *m = flow->message;

	review(flow,
		&(struct submission){.kata_id = m->kata_id,
			.code = m->user_code.ptr ? m->user_code : STR_LIT(""),
			.titles = m->active_constraint_titles},
		false);
}

void flow_review_submit(struct flow *flow)
{
	const struct practice_submit_solution *m = flow->message;

	review(flow,
		&(struct submission){.kata_id = m->kata_id,
			.code = m->code,
			.titles = m->active_constraints},
		true);
}
