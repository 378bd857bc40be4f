/*
 * background.c - flows that nobody waits for: the connection to Chroma at the start
 * (P1.2), and the title of a session's issue (P2.14). A session that began while this
 * worker was away is found when the store is connected again.
 */
#include "common/base/log.h"
#include "workers/llm/claude/flow_helpers.h"
#include "workers/llm/flows/flows.h"
#include "workers/llm/flows/llm.h"
#include "workers/llm/gh/gh.h"
#include <stdio.h>

void flow_connect_memory(struct flow *flow)
{
	memory_connect(llm_memory(flow), flow);
}

static struct str ask_for_title(struct flow *flow, int64_t issue_number)
{
	char number[24];
	const char *const arguments[] = {
		"issue", "view", number, "--json", "title", NULL};
	const char *problem;
	yyjson_val *title;

	snprintf(number, sizeof(number), "%lld", (long long)issue_number);
	title = yyjson_obj_get(gh_run_json(flow, arguments, &problem), "title");
	return (struct str){yyjson_get_str(title), yyjson_get_len(title)};
}

static void fetch_title(struct flow *flow, struct str session_id, int64_t issue_number)
{
	struct session_title title = {.session_id = session_id,
		.issue_title = ask_for_title(flow, issue_number)};
	struct bus_reply reply;

	if (title.issue_title.len > 0 &&
		tell(flow, METHOD_SESSION_SET_TITLE, &title, NULL, &reply) < 0)
		log_warn("title of the issue not kept", "error", "%.*s",
			STR_ARG(reply.message), NULL);
}

/* The active session; false without one. */
static bool active_session(struct flow *flow, struct context_session *out)
{
	static const struct empty nothing = {0};
	struct coaching_context context;
	struct bus_reply reply;

	if (ask(flow, METHOD_COACHING_CONTEXT, &nothing, &context, &reply) < 0) {
		log_warn("the active session is not known", "error", "%.*s",
			STR_ARG(reply.message), NULL);
		return false;
	}
	*out = context.session;
	return context.has_session;
}

void flow_fetch_title(struct flow *flow)
{
	struct llm *llm = llm_of(flow);
	struct proto_error error;
	yyjson_doc *doc = proto_parse(flow->body, &error);
	struct session_event event;
	struct context_session active;

	if (!doc)
		return;
	flow_keep_document(flow, doc);
	if (proto_decode(session_event_type(), yyjson_doc_get_root(doc), "event",
		    DECODE_LENIENT, &flow->arena, &event, &error) < 0 ||
		!event.has_issue_number)
		return;
	pthread_mutex_lock(&llm->titles);
	if (!active_session(flow, &active) || !str_eq(active.id, event.session_id) ||
		!active.issue_title.ptr)
		fetch_title(flow, event.session_id, event.issue_number);
	pthread_mutex_unlock(&llm->titles);
}

void flow_fetch_missed_title(struct flow *flow)
{
	struct llm *llm = llm_of(flow);
	struct context_session active;

	pthread_mutex_lock(&llm->titles);
	if (active_session(flow, &active) && active.has_issue_number &&
		!active.issue_title.ptr)
		fetch_title(flow, active.id, active.issue_number);
	pthread_mutex_unlock(&llm->titles);
}
