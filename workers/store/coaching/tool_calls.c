/* tool_calls.c - see tool_calls.h. */
#include "workers/store/service/tool_calls.h"
#include "proto/codec/messages.h"
#include "proto/tables/mcp_tools.h"
#include "workers/store/coaching/actions.h"
#include "workers/store/service/store.h"
#include <errno.h>

int tool_call_read(struct call *call, struct proto_error *error)
{
	const struct tool_request *request = call->message;
	const void *input = mcp_tool_input(call->method, request, call->arena, error);

	if (!input)
		return -EINVAL;
	call->tool = request;
	call->message = input;
	return 0;
}

int tool_call_log(struct store *store, struct call *call)
{
	if (!call->tool)
		return 0;
	return action_log(store, call, ROW_TOOL_CALL, ACTION_MCP_TOOL_CALL,
		&(struct mcp_tool_call_data){
			.tool_name = str_of(mcp_tool_of(call->method)->name),
			.session_id = call->tool->session_id});
}
