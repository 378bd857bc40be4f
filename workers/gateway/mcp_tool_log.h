/*
 * mcp_tool_log.h - telling the store of every tool call (mcp_tool_call, FR-079).
 *
 * The calls of one turn of the loop go out together, at its end. Called by mcp_tools.c.
 */
#ifndef PAIGE_GATEWAY_MCP_TOOL_LOG_H
#define PAIGE_GATEWAY_MCP_TOOL_LOG_H

#include "common/str.h"

struct gateway;

/* `tool` lives for ever; `session_id` may be absent. */
void mcp_tool_log(struct gateway *g, const char *tool, struct str session_id);

#endif
