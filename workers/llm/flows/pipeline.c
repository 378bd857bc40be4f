/*
 * pipeline.c - paige_run_coaching_pipeline: a plan becomes a course of phases for this
 * learner (story 9; FR-108 to FR-116).
 */
#include "common/base/log.h"
#include "common/base/relative_path.h"
#include "workers/llm/claude/flow_helpers.h"
#include "workers/llm/flows/dreyfus_stage.h"
#include "workers/llm/flows/flows.h"
#include "workers/llm/flows/llm.h"

/* What the learner and the model read while it is made. */
enum step { STEP_RECALL, STEP_CHOOSE, STEP_COACH, STEP_KEEP, STEPS };

static void step(const struct flow *flow, enum step step)
{
	static const char *const texts[STEPS] = {
		[STEP_RECALL] = "Looking for memories of earlier work",
		[STEP_CHOOSE] = "Choosing the memories that help",
		[STEP_COACH] = "Claude makes the phases and their hints",
		[STEP_KEEP] = "Keeping the plan",
	};

	paid_step(llm_of(flow)->paid, flow, (int)step, STEPS, texts[step]);
}

static bool is_blank(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!strchr(" \t\r\n", text.ptr[i]))
			return false;
	return true;
}

static struct str session_of(const struct coaching_context *context)
{
	return context->session.id;
}

/* ---- memories ---- */

/* What the filter keeps of what the search brings up. Nothing of it is worth failing for
 * (FR-111). */
static void recall(struct flow *flow, const struct tool_run_coaching_pipeline_input *m,
	const struct coaching_context *context, struct coach_agent_request *coach)
{
	struct memory_hits hits = memory_find(llm_memory(flow), flow, m->issue_summary,
		MEMORY_RESULTS, (struct str){NULL, 0});
	struct memory_retrieval_filter_request filter = {
		.issue_summary = m->issue_summary, .plan_summary = m->plan_text};
	const struct memory_retrieval_filter_response *kept;
	struct candidate_memory *candidates;
	struct coach_memory *memories;
	struct call_result result;

	if (hits.memories.count == 0) /* EC-55 */
		return;
	candidates = arena_array(&flow->arena, hits.memories.count, sizeof(*candidates));
	for (size_t i = 0; i < hits.memories.count; i++)
		candidates[i] = (struct candidate_memory){
			.content = hits.memories.items[i].content,
			.metadata = hits.memories.items[i].metadata};
	step(flow, STEP_CHOOSE);
	filter.candidate_memories.items = candidates;
	filter.candidate_memories.count = hits.memories.count;
	result = call_claude(
		flow, &(struct call_request){.kind = CALL_MEMORY_RETRIEVAL_FILTER,
			      .session_id = session_of(context),
			      .message = &filter});
	kept = result.response;
	if (!kept) {
		log_warn("memory filter failed, the coach continues without memories",
			"error", "%.*s", STR_ARG(result.text), NULL);
		return;
	}
	memories = arena_array(
		&flow->arena, kept->relevant_memories.count + 1, sizeof(*memories));
	for (size_t i = 0; i < kept->relevant_memories.count; i++)
		memories[i] = (struct coach_memory){
			.content = kept->relevant_memories.items[i].content,
			.connection = kept->relevant_memories.items[i].connection,
			.use_in_coaching =
				kept->relevant_memories.items[i].use_in_coaching};
	coach->relevant_memories.items = memories;
	coach->relevant_memories.count = kept->relevant_memories.count;
}

/* ---- what comes out ---- */

/* The phases as they are shown, renumbered in their order (P9.15). */
static struct plan_phase *shown_phases(
	struct flow *flow, const struct coach_agent_response *r, bool with_status)
{
	struct plan_phase *phases =
		arena_array(&flow->arena, r->phases.count + 1, sizeof(*phases));

	for (size_t i = 0; i < r->phases.count; i++)
		phases[i] = (struct plan_phase){.number = (int64_t)i + 1,
			.has_number = true,
			.title = r->phases.items[i].title,
			.description = r->phases.items[i].description,
			.hint_level = r->phases.items[i].hint_level,
			.has_hint_level = true,
			.status = PHASE_PENDING,
			.has_status = with_status};
	return phases;
}

/* The first phase's hints, as the tools would show them (P9.11). A path that leads out of
 * the project is kept in the plan but never shown (P9.22). */
static void show_hints(struct flow *flow, const struct coach_agent_response *r)
{
	struct explorer_hint_files files = {0};
	const struct coach_hints *hints;

	if (r->phases.count == 0)
		return;
	hints = &r->phases.items[0].hints;
	for (size_t i = 0; i < hints->line_hints.count; i++) {
		const struct coach_line_hint *h = &hints->line_hints.items[i];
		struct editor_highlight_lines lines = {.path = h->path,
			.start = h->start,
			.has_start = true,
			.end = h->end,
			.has_end = true,
			.style = str_of(coach_line_style_enumeration()->names[h->style]),
			.hover_text = h->hover_text};

		if (relative_path_inside(h->path))
			flow_publish(flow, "ui/editor:highlight_lines",
				editor_highlight_lines_type(), &lines);
	}
	files.hints.items = arena_array(
		&flow->arena, hints->file_hints.count + 1, sizeof(*files.hints.items));
	for (size_t i = 0; i < hints->file_hints.count; i++) {
		const struct coach_file_hint *h = &hints->file_hints.items[i];
		const char *style = coach_file_style_enumeration()->names[h->style];

		if (relative_path_inside(h->path))
			files.hints.items[files.hints.count++] =
				(struct file_hint){.path = h->path,
					.style = enumeration_index(
						hint_style_enumeration(), str_of(style)),
					.has_style = true};
	}
	if (files.hints.count > 0)
		flow_publish(flow, "ui/explorer:hint_files", explorer_hint_files_type(),
			&files);
}

static void announce(struct flow *flow, const struct plan_stored *stored,
	const struct coach_agent_response *r, struct str memory_connection)
{
	struct coaching_plan_ready ready = {.plan_id = stored->plan_id,
		.memory_connection = memory_connection,
		.estimated_difficulty =
			str_of(difficulty_enumeration()->names[r->estimated_difficulty])};
	struct tool_run_coaching_pipeline_output output = {.plan_id = stored->plan_id,
		.memory_connection = memory_connection,
		.estimated_difficulty = ready.estimated_difficulty};

	ready.phases.items = shown_phases(flow, r, true);
	ready.phases.count = r->phases.count;
	output.phases.items = shown_phases(flow, r, false);
	output.phases.count = r->phases.count;
	flow_publish(flow, "ui/coaching:plan_ready", coaching_plan_ready_type(), &ready);
	show_hints(flow, r);
	flow_answer_message(flow, tool_run_coaching_pipeline_output_type(), &output);
}

void flow_pipeline(struct flow *flow)
{
	const struct tool_run_coaching_pipeline_input *m = flow->message;
	struct coach_agent_request coach = {.plan = m->plan_text};
	const struct coach_agent_response *course;
	struct coaching_context context;
	struct plan_store store;
	struct plan_stored stored;
	struct call_result result;
	struct bus_reply reply;

	if (is_blank(m->plan_text)) { /* before anything is paid for */
		flow_fail(flow, "INVALID_MESSAGE",
			"arguments.planText: expected the plan for the change, got "
			"blanks "
			"only");
		return;
	}
	if (!load_context(flow, &context))
		return;
	if (!context.has_session) {
		flow_fail(flow, "NO_SESSION", "No active session");
		return;
	}
	step(flow, STEP_RECALL);
	recall(flow, m, &context, &coach);
	step(flow, STEP_COACH);
	coach.dreyfus_stage = dreyfus_stage_newest(&context);
	result = call_claude(flow, &(struct call_request){.kind = CALL_COACH_AGENT,
					   .session_id = session_of(&context),
					   .dreyfus_stage = coach.dreyfus_stage,
					   .message = &coach});
	course = result.response;
	if (!course) {
		flow_fail(flow, "MODEL_ERROR", "%.*s", STR_ARG(result.text));
		return;
	}
	step(flow, STEP_KEEP);
	store = (struct plan_store){.session_id = session_of(&context),
		.plan_text = m->plan_text,
		.issue_number = m->issue_number,
		.has_issue_number = m->has_issue_number};
	store.phases.items = course->phases.items;
	store.phases.count = course->phases.count;
	if (tell_once(flow, METHOD_PLAN_STORE, &store, &stored, &reply) < 0) {
		fail_with(flow, &reply);
		return;
	}
	/* Without memories there is nothing to connect to, whatever the model thinks
	 * (P9.14). */
	announce(flow, &stored, course,
		coach.relevant_memories.count > 0 ? course->memory_connection
						  : (struct str){NULL, 0});
}
