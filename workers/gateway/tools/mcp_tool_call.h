/*
 * mcp_tool_call.h - one call of a tool, from its arguments to its result.
 *
 *   decode the arguments -> check the places in them (mcp_places.h) -> call the owner of the
 *   tool's method -> cut the answer to size (mcp_fit.h)
 *
 * Called by mcp_tools.c, and by main.c at start and stop.
 */
#pragma once

#include "proto/tables/mcp_tools.h"
#include "workers/gateway/mcp/mcp.h"

/* The lost_result of the service: for a call that an earlier gateway did not finish. */
#define MCP_TOOL_LOST_RESULT                                                             \
	"{\"content\":[{\"type\":\"text\",\"text\":\"" MCP_TOOL_LOST_TEXT                \
	"\"}],\"isError\":true}"
#define MCP_TOOL_LOST_TEXT                                                               \
	"Paige was restarted or stopped while this call was under way, so its answer "   \
	"did "                                                                           \
	"not arrive. Call the tool again with the same arguments: what was finished or " \
	"is still being made is found, and nothing is paid for twice."

/* Call during init: subscribes to the progress of calls, and tells the llm worker that the
 * callers of an earlier gateway are gone. */
void mcp_tool_calls_begin(struct gateway *g);
/* Serves the call and answers it. */
void mcp_tool_call(struct gateway *g, struct mcp_call *call, enum mcp_tool tool,
	yyjson_val *arguments);
/* At stop: answers every running call with MCP_TOOL_LOST_TEXT. */
void mcp_tool_calls_end_all(struct gateway *g);
