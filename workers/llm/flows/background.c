/*
 * background.c - flows that nobody waits for: the connection to Chroma at the start
 * (P1.2), and the title of a session's issue (P2.14).
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

void flow_fetch_title(struct flow *flow)
{
	struct proto_error error;
	yyjson_doc *doc = proto_parse(flow->body, &error);
	struct session_event event;
	struct session_title title;
	struct bus_reply reply;

	if (!doc)
		return;
	flow_keep_document(flow, doc);
	if (proto_decode(session_event_type(), yyjson_doc_get_root(doc), "event",
		    DECODE_LENIENT, &flow->arena, &event, &error) < 0 ||
		!event.has_issue_number)
		return;
	title = (struct session_title){.session_id = event.session_id,
		.issue_title = ask_for_title(flow, event.issue_number)};
	if (title.issue_title.len > 0 &&
		tell(flow, METHOD_SESSION_SET_TITLE, &title, NULL, &reply) < 0)
		log_warn("title of the issue not kept", "error", "%.*s",
			STR_ARG(reply.message), NULL);
}
