/*
 * mcp_tool_call.h - one call of a tool, from its arguments to its result.
 *
 *   arguments are decoded -> places in them are looked at (mcp_places.h) -> the owner of
 *   the tool's method does it -> the answer is brought to size (mcp_fit.h)
 *
 * Called by mcp_tools.c; by main.c at the beginning and the end.
 */
#ifndef PAIGE_GATEWAY_TOOLS_MCP_TOOL_CALL_H
#define PAIGE_GATEWAY_TOOLS_MCP_TOOL_CALL_H

#include "proto/tables/mcp_tools.h"
#include "workers/gateway/mcp/mcp.h"

/* The result of a call that an earlier gateway did not finish, for mcp_service. */
#define MCP_TOOL_LOST_RESULT                                                             \
	"{\"content\":[{\"type\":\"text\",\"text\":\"" MCP_TOOL_LOST_TEXT                \
	"\"}],\"isError\":true}"
#define MCP_TOOL_LOST_TEXT                                                               \
	"Paige was restarted or stopped while this call was under way, so its answer "   \
	"did "                                                                           \
	"not arrive. Call the tool again with the same arguments: what was finished or " \
	"is still being made is found, and nothing is paid for twice."

/* During init: hears how far calls have come, and tells the llm worker that whoever
 * called through an earlier gateway is gone. */
void mcp_tool_calls_begin(struct gateway *g);
/* Ends with the call's answer. */
void mcp_tool_call(struct gateway *g, struct mcp_call *call, enum mcp_tool tool,
	yyjson_val *arguments);
/* At the stop: every call that is under way gets MCP_TOOL_LOST_TEXT as its answer. */
void mcp_tool_calls_end_all(struct gateway *g);

#endif
