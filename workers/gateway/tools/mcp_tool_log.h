/*
 * mcp_tool_log.h - rows mcp_tool_call (FR-079) of calls that did nothing: tools that only
 * read, and calls that failed. The owner of a tool that does something logs its call with
 * what it does (tool_request).
 *
 * Nobody waits for these rows: they go out together, ACTION_REST_MS after the last ones,
 * and may be lost with a gateway that is killed before. Called by mcp_tool_call.c, and by
 * main.c at the stop.
 */
#ifndef PAIGE_GATEWAY_TOOLS_MCP_TOOL_LOG_H
#define PAIGE_GATEWAY_TOOLS_MCP_TOOL_LOG_H

#include "common/base/clock.h"
#include "common/base/str.h"

struct gateway;

/*
 * `id` is the id of the call, and of its row: when the owner has logged it, too, there is
 * one row. `at`: when the tool was called. `session_id` may be absent.
 */
void mcp_tool_log(struct gateway *g, const char *id, struct wall at, const char *tool,
	struct str session_id);

/* From now on no row rests. */
void mcp_tool_log_stop(struct gateway *g);

#endif
