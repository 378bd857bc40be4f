/*
 * wrap_up.c - paige_end_session: what a session brought becomes knowledge (story 9;
 * FR-117 to FR-128). Three calls, one behind the other, each at its best effort; the
 * session is completed whatever becomes of them (D49, FR-124).
 */
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "workers/llm/claude/flow_helpers.h"
#include "workers/llm/flows/dreyfus_stage.h"
#include "workers/llm/flows/flows.h"
#include "workers/llm/flows/katas.h"
#include "workers/llm/flows/llm.h"
#include <stdlib.h>

#define TRANSCRIPT_MAX_CHARS 50000 /* EC-63 */

struct wrap_up {
	struct flow *flow;
	const struct tool_end_session_input *input;
	struct context_session session;
	bool under_way; /* begun, and not completed */
	struct wrap_up_context context;
	struct tool_end_session_output output;
	struct str gaps; /* [{topic, severity}] of this session, for the memories */
};

/* What the learner and the model read meanwhile. */
enum step { STEP_GAPS, STEP_SKILLS, STEP_MEMORIES, STEP_COMPLETE, STEPS };

/* Begins a step. False when the call was cancelled: then the session goes on. */
static bool step(const struct wrap_up *w, enum step step)
{
	static const char *const texts[STEPS] = {
		[STEP_GAPS] = "Looking for knowledge gaps",
		[STEP_SKILLS] = "Assessing skills",
		[STEP_MEMORIES] = "Keeping what was learned",
		[STEP_COMPLETE] = "Completing the session",
	};

	if (*flow_cancelled(w->flow)) {
		flow_fail(w->flow, "MODEL_ERROR",
			"The wrap-up was cut off; the session goes on. Call again to end "
			"it: "
			"what Claude has answered by then is not paid for twice");
		return false;
	}
	paid_step(llm_of(w->flow)->paid, w->flow, (int)step, STEPS, texts[step]);
	return true;
}

static struct call_result call(
	struct wrap_up *w, enum call_kind kind, const void *message)
{
	return call_claude(w->flow,
		&(struct call_request){
			.kind = kind, .session_id = w->session.id, .message = message});
}

/* ---- gaps and katas ---- */

static struct str list_gaps(
	struct flow *flow, const struct knowledge_gap_extraction_response *r)
{
	AUTO_BUF list = {0};

	buf_add_char(&list, '[');
	for (size_t i = 0; i < r->knowledge_gaps.count; i++) {
		const struct found_gap *gap = &r->knowledge_gaps.items[i];

		buf_add_str(&list, i ? STR_LIT(",{\"topic\":") : STR_LIT("{\"topic\":"));
		buf_add_json_string(&list, gap->topic);
		buf_printf(&list, ",\"severity\":\"%s\"}",
			urgency_enumeration()->names[gap->severity]);
	}
	buf_add_char(&list, ']');
	return arena_str(&flow->arena, buf_str(&list));
}

static void extract_gaps(struct wrap_up *w)
{
	struct knowledge_gap_extraction_request message = {
		.action_log = w->context.action_log,
		.phases = w->context.phases,
		.existing_gaps = w->context.existing_gaps};
	const struct knowledge_gap_extraction_response *r =
		call(w, CALL_KNOWLEDGE_GAP_EXTRACTION, &message).response;
	struct gaps_store store = {.session_id = w->session.id};
	struct gaps_stored stored;
	struct bus_reply reply;

	if (!r)
		return;
	w->gaps = list_gaps(w->flow, r);
	if (r->knowledge_gaps.count == 0 && r->kata_specs.count == 0)
		return;
	store.gaps.items = r->knowledge_gaps.items;
	store.gaps.count = r->knowledge_gaps.count;
	store.katas.items = arena_array(
		&w->flow->arena, r->kata_specs.count + 1, sizeof(*store.katas.items));
	store.katas.count = r->kata_specs.count;
	for (size_t i = 0; i < r->kata_specs.count; i++)
		store.katas.items[i] =
			kata_from_model(&r->kata_specs.items[i], &w->flow->arena);
	if (tell_once(w->flow, METHOD_GAPS_STORE, &store, &stored, &reply) < 0) {
		log_warn("knowledge gaps not kept", "error", "%.*s",
			STR_ARG(reply.message), NULL);
		return;
	}
	w->output.knowledge_gaps = stored.new_gaps;
	w->output.kata_specs = stored.katas;
}

/* ---- stages ---- */

static void assess(struct wrap_up *w)
{
	struct dreyfus_assessment_request message = {
		.accumulated_evidence = w->context.accumulated_evidence,
		.current_assessments = w->context.current_assessments,
		.recent_session = w->context.recent_session,
		.has_recent_session = true};
	const struct dreyfus_assessment_response *r =
		call(w, CALL_DREYFUS_ASSESSMENT, &message).response;
	struct dreyfus_store store = {0};
	struct bus_reply reply;
	struct written written;

	if (!r || r->assessments.count == 0) /* EC-59 */
		return;
	store.assessments.items = r->assessments.items;
	store.assessments.count = r->assessments.count;
	if (tell_once(w->flow, METHOD_DREYFUS_STORE, &store, &written, &reply) < 0)
		log_warn("assessments not kept", "error", "%.*s", STR_ARG(reply.message),
			NULL);
	else
		w->output.dreyfus_updates = written.count;
}

/* ---- memories ---- */

static void remember(struct wrap_up *w)
{
	struct str transcript = w->input->session_transcript;
	struct memory_summarisation_request message = {
		.transcript = utf8_cut_utf16(transcript, TRANSCRIPT_MAX_CHARS),
		.issue =
			w->session.issue_title.ptr ? w->session.issue_title : STR_LIT(""),
		.phases = w->context.completed_phases,
		.gaps = {.raw = w->gaps}};
	const struct memory_summarisation_response *r =
		call(w, CALL_MEMORY_SUMMARISATION, &message).response;

	if (r)
		w->output.memories_stored = (int64_t)memory_keep(llm_memory(w->flow),
			w->flow, r->memories.items, r->memories.count, w->session.id,
			w->session.project_dir);
}

/* ---- the whole ---- */

static void finish(struct wrap_up *w)
{
	struct session_complete complete = {.session_id = w->session.id};
	struct session_completed completed = {.session_id = w->session.id,
		.knowledge_gaps = w->output.knowledge_gaps,
		.has_knowledge_gaps = true,
		.kata_specs = w->output.kata_specs,
		.has_kata_specs = true,
		.dreyfus_updates = w->output.dreyfus_updates,
		.has_dreyfus_updates = true,
		.memories_stored = w->output.memories_stored,
		.has_memories_stored = true};
	struct bus_reply reply;

	if (tell(w->flow, METHOD_SESSION_COMPLETE, &complete, NULL, &reply) < 0) {
		fail_with(w->flow, &reply);
		return;
	}
	w->under_way = false;
	flow_publish(
		w->flow, "ui/session:completed", session_completed_type(), &completed);
	flow_answer_message(w->flow, tool_end_session_output_type(), &w->output);
}

/* No session is active: a repeated wrap-up of the newest one is no error (EC-62, P9.9).
 */
static void answer_repeated(struct wrap_up *w)
{
	static const struct empty nothing = {0};
	struct session_newest newest;
	struct bus_reply reply;

	if (ask(w->flow, METHOD_SESSION_NEWEST, &nothing, &newest, &reply) < 0)
		fail_with(w->flow, &reply);
	else if (str_is(newest.status, "completed"))
		flow_answer_message(w->flow, tool_end_session_output_type(), &w->output);
	else
		flow_fail(w->flow, "NO_SESSION", "No active session");
}

static void publish(const struct wrap_up *w, const char *topic)
{
	flow_publish(w->flow, topic, session_event_type(),
		&(struct session_event){.session_id = w->session.id});
}

static void run(struct wrap_up *w)
{
	struct coaching_context context;
	struct wrap_up_query query;
	struct bus_reply reply;

	if (!load_context(w->flow, &context))
		return;
	if (!context.has_session) {
		answer_repeated(w);
		return;
	}
	w->session = context.session;
	query.session_id = w->session.id;
	/* Before the calls, so that nobody is nudged meanwhile (P10.13). */
	w->under_way = true;
	publish(w, "wrap_up/begun");
	if (ask(w->flow, METHOD_WRAP_UP_CONTEXT, &query, &w->context, &reply) < 0) {
		fail_with(w->flow, &reply);
		return;
	}
	if (!step(w, STEP_GAPS))
		return;
	extract_gaps(w);
	if (!step(w, STEP_SKILLS))
		return;
	assess(w);
	if (!step(w, STEP_MEMORIES))
		return;
	remember(w);
	if (step(w, STEP_COMPLETE))
		finish(w);
}

void flow_wrap_up(struct flow *flow)
{
	struct wrap_up w = {.flow = flow,
		.input = flow->message,
		.gaps = STR_LIT("[]"),
		.output = {.has_knowledge_gaps = true,
			.has_kata_specs = true,
			.has_dreyfus_updates = true,
			.has_memories_stored = true,
			.session_status = STR_LIT("completed")}};

	/* Two at once: the second waits and finds the session completed (P9.9). */
	pthread_mutex_lock(&llm_of(flow)->wrap_up);
	run(&w);
	if (w.under_way)
		publish(&w, "wrap_up/failed");
	pthread_mutex_unlock(&llm_of(flow)->wrap_up);
}
