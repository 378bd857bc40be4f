/*
 * triage.c - questions that other workers have for the model: whether to nudge (the
 * Observer; FR-139), and what the guards want to know: what an answer is worth, what
 * the answers of a section cover, what the assistant says.
 */
#include "proto/codec/messages.h"
#include "workers/llm/claude/flow_helpers.h"
#include "workers/llm/flows/flows.h"

static void finish(
	struct flow *flow, const struct call_result *result, const struct type *type)
{
	if (result->response)
		flow_answer_message(flow, type, result->response);
	else
		flow_fail(flow, "MODEL_ERROR", "%.*s", STR_ARG(result->text));
}

void flow_triage(struct flow *flow)
{
	const struct triage_run *m = flow->message;
	struct call_result result =
		call_claude(flow, &(struct call_request){.kind = CALL_OBSERVER_TRIAGE,
					  .session_id = m->session_id,
					  .dreyfus_stage = m->context.dreyfus_stage,
					  .message = &m->context});

	finish(flow, &result, observer_triage_response_type());
}

/* Earlier talk goes behind the rules, marked as reference: only the last answer is
 * scored. */
void flow_control(struct flow *flow)
{
	const struct control_run *m = flow->message;
	struct control_request message = {.question = m->question, .answer = m->answer};
	struct str history = {NULL, 0};
	struct call_result result;

	if (m->history.len > 0)
		history = arena_printf(&flow->arena,
			"What was said before, for reference only; it earns "
			"nothing:\n%.*s",
			STR_ARG(m->history));
	result = call_claude(flow, &(struct call_request){.kind = CALL_CONTROL,
					   .more_system = history,
					   .message = &message});
	finish(flow, &result, control_response_type());
}

/* Whether it is asked again after a failure is the interview's to decide (I8). */
static void ask_as_it_is(struct flow *flow, enum call_kind kind, const struct type *type)
{
	struct call_result result = call_claude(
		flow, &(struct call_request){.kind = kind, .message = flow->message});

	finish(flow, &result, type);
}

void flow_interview_coverage(struct flow *flow)
{
	ask_as_it_is(flow, CALL_INTERVIEW_COVERAGE, interview_coverage_response_type());
}

void flow_interview_assistant(struct flow *flow)
{
	ask_as_it_is(flow, CALL_INTERVIEW_ASSISTANT, interview_assistant_response_type());
}
