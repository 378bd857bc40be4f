/*
 * mcp_tool_log.h - telling the store of every tool call (mcp_tool_call, FR-079).
 *
 * Rows go out together at the end of a turn of the loop; those that nobody waits for rest
 * until ACTION_REST_MS after the last ones. Called by mcp_tools.c, and by main.c at the
 * stop. Who must not answer before the row is safe is told when the store has it; a row
 * that nobody waits for may be lost with a gateway that is killed before it went out.
 */
#ifndef PAIGE_GATEWAY_MCP_TOOL_LOG_H
#define PAIGE_GATEWAY_MCP_TOOL_LOG_H

#include "common/str.h"

struct gateway;

/* `tool` lives for ever; `session_id` may be absent. `on_logged`, if any, is called once:
 * when the row is committed, was dropped for want of a session (EC-17), or cannot be
 * written. */
void mcp_tool_log(struct gateway *g, const char *tool, struct str session_id,
	void (*on_logged)(void *arg), void *arg);

/* From now on no row rests. */
void mcp_tool_log_stop(struct gateway *g);

#endif
