/* flow_helpers.c - helpers that several flows share (flow_helpers.h). */
#include "workers/llm/claude/flow_helpers.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "proto/tables/mcp_tools.h"
#include "workers/llm/claude/paid_work.h"

/* Somebody waits for a flow that cannot begin: less patience than log rows have. */
#define LOG_CALL_MS 10000

static int decode(
	struct flow *flow, enum method method, void *out, struct bus_reply *reply)
{
	struct proto_error error;

	if (reply->status != BUS_OK)
		return -1;
	if (!out || bus_reply_decode(method, reply, &flow->arena, out, &error) == 0)
		return 0;
	log_error("reply not understood", "method", "%s", method_infos[method].name,
		"problem", "%s", error.text, NULL);
	reply->status = BUS_ERROR;
	reply->code = STR_LIT("INTERNAL_ERROR");
	reply->message = STR_LIT("A worker gave an answer that was not understood");
	return -1;
}

int ask(struct flow *flow, enum method method, const void *request, void *out,
	struct bus_reply *reply)
{
	*reply = flow_call(flow, method, request);
	return decode(flow, method, out, reply);
}

int tell(struct flow *flow, enum method method, const void *request, void *out,
	struct bus_reply *reply)
{
	*reply = flow_call_keyed(flow, method, request);
	return decode(flow, method, out, reply);
}

int tell_once(struct flow *flow, enum method method, const void *request, void *out,
	struct bus_reply *reply)
{
	*reply = flow_call_with_key(flow, method, paid_work_key(flow, method), request);
	return decode(flow, method, out, reply);
}

void fail_with(struct flow *flow, const struct bus_reply *reply)
{
	flow_fail(flow, arena_cstr(&flow->arena, reply->code), "%.*s",
		STR_ARG(reply->message));
}

void log_action(struct flow *flow, enum action action, const void *data)
{
	char id[UUID_SIZE];
	struct action_row row;
	const struct action_append append = {.actions = {&row, 1}};
	struct bus_reply reply;

	uuid4(id);
	action_row_make(&flow->arena, action, str_of(id), clock_wall(), data, &row);
	if (tell(flow, METHOD_ACTION_APPEND, &append, NULL, &reply) < 0)
		log_error("action not logged", "type", "%s", action_infos[action].name,
			"error", "%.*s", STR_ARG(reply.message), NULL);
}

void row_of_tool(struct arena *arena, enum method method, const struct tool_request *tool,
	struct action_row *row)
{
	action_row_make(arena, ACTION_MCP_TOOL_CALL, tool->call, clock_wall(),
		&(struct mcp_tool_call_data){
			.tool_name = str_of(mcp_tool_of(method)->name),
			.session_id = tool->session_id},
		row);
}

bool log_tool_call(struct flow *flow, enum method method, const struct tool_request *tool)
{
	struct action_row row;
	const struct action_append append = {.actions = {&row, 1}};
	struct bus_reply reply;

	row_of_tool(&flow->arena, method, tool, &row);
	reply = bus_call_wait(flow->worker->bus, METHOD_ACTION_APPEND, tool->call,
		&append, LOG_CALL_MS, &flow->arena);
	if (reply.status == BUS_OK)
		return true;
	fail_with(flow, &reply);
	return false;
}

bool load_context(struct flow *flow, struct coaching_context *context)
{
	static const struct empty nothing = {0};
	struct bus_reply reply;

	if (ask(flow, METHOD_COACHING_CONTEXT, &nothing, context, &reply) == 0)
		return true;
	fail_with(flow, &reply);
	return false;
}
