/*
 * explain.c - "Explain This": what a piece of code means, for this learner, in this phase
 * (story 11; FR-151 to FR-153, FR-159, FR-160).
 */
#include "workers/llm/claude/flow_helpers.h"
#include "workers/llm/flows/dreyfus_stage.h"
#include "workers/llm/flows/flows.h"

#define CONTEXT_LINES 50

/* The request with its aliases settled (P5.14), borrowed. */
struct question {
	struct str path;
	struct str language;
	struct str selected;
	struct str context;
};

static void log_requested(struct flow *flow, const struct user_explain *m)
{
	struct explain_requested_data data = {.path = m->path};

	data.has_range = m->has_selection || m->has_range;
	if (data.has_range)
		data.range = m->has_selection ? m->selection : m->range;
	log_action(flow, ACTION_EXPLAIN_REQUESTED, &data);
}

static void log_completed(struct flow *flow, struct str path,
	const struct call_result *result, struct str error)
{
	struct explain_completed_data data = {.path = path,
		.model = result->model.ptr ? result->model : STR_LIT(""),
		.latency_ms = result->latency_ms,
		.has_latency_ms = true,
		.success = error.ptr == NULL,
		.has_success = true,
		.error = error};

	log_action(flow, ACTION_EXPLAIN_COMPLETED, &data);
}

/*
 * Looks at the file: what it may not see ends the flow, what is binary too; what the
 * client left out is filled in from buffer or disk. False when the flow has failed.
 */
static bool complete(struct flow *flow, const struct user_explain *m, struct question *q)
{
	const struct code_range *range = m->has_selection ? &m->selection : &m->range;
	struct fs_excerpt_query query = {.path = m->path,
		.start_line = range->start_line > 0 ? range->start_line : 1,
		.has_start_line = true,
		.end_line = range->end_line > 0 ? range->end_line : 1,
		.has_end_line = true,
		.around = CONTEXT_LINES,
		.has_around = true};
	struct call_result none = {.latency_ms = -1};
	struct fs_excerpt excerpt;
	struct bus_reply reply;

	if (ask(flow, METHOD_FS_EXCERPT, &query, &excerpt, &reply) < 0) {
		log_completed(flow, m->path, &none, reply.message);
		fail_with(flow, &reply);
		return false;
	}
	if (excerpt.binary) { /* EC-75 */
		log_completed(
			flow, m->path, &none, STR_LIT("Cannot explain binary files"));
		flow_fail(flow, "FILE_ERROR", "Cannot explain binary files");
		return false;
	}
	q->path = m->path;
	q->language = m->language.ptr ? m->language : excerpt.language;
	q->selected = m->selected_text;
	q->context = m->surrounding_context.ptr ? m->surrounding_context : excerpt.text;
	return true;
}

static void answer(struct flow *flow, const struct question *q,
	const struct explain_this_response *r, bool has_phase)
{
	struct explain_response response = {.path = q->path,
		.explanation = r->explanation,
		.key_concepts = r->key_concepts,
		.analogy = r->analogy,
		.related_files = r->related_files,
		/* Without a phase there is nothing to connect to, whatever the model
		   thinks (P11.14). */
		.phase_connection =
			has_phase ? r->phase_connection : (struct str){NULL, 0}};

	flow_answer_message(flow, explain_response_type(), &response);
}

void flow_explain(struct flow *flow)
{
	const struct user_explain *m = flow->message;
	struct explain_this_request message;
	struct coaching_context context;
	struct call_result result;
	struct question q;

	log_requested(flow, m);
	if (!complete(flow, m, &q) || !load_context(flow, &context))
		return;
	message = (struct explain_this_request){.selected_code = q.selected,
		.surrounding_context = q.context,
		.file_path = q.path,
		.language = q.language,
		.has_current_phase = context.has_phase};
	if (context.has_phase)
		message.current_phase =
			(struct phase_context){.number = context.phase.number,
				.has_number = true,
				.title = context.phase.title,
				.description = context.phase.description};
	result = call_claude_with_retry(flow,
		&(struct call_request){.kind = CALL_EXPLAIN_THIS,
			.session_id = context.has_session ? context.session.id
							  : (struct str){NULL, 0},
			.dreyfus_stage = dreyfus_stage_for_language(&context, q.language),
			.message = &message});
	log_completed(flow, q.path, &result,
		result.response ? (struct str){NULL, 0} : result.text);
	if (result.response)
		answer(flow, &q, result.response, context.has_phase);
	else
		flow_fail(flow, "MODEL_ERROR", "%.*s", STR_ARG(result.text));
}
