/*
 * mcp_tool_log.h - logs calls (rows mcp_tool_call, FR-079) that changed nothing: of tools that
 * only read, and failed ones. A tool that changes something is logged by its owner together
 * with the change (tool_request).
 *
 * Nobody waits for these rows. They go out together, ACTION_REST_MS after the last ones, and
 * are lost if the gateway is killed before. Called by mcp_tool_call.c, and by
 * main.c at the stop.
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/str.h"

struct gateway;

/*
 * `id` is the id of the call and of its row, so there is one row even if the owner has logged
 * the call too. `at`: when the tool was called. `session_id` may be absent.
 */
void mcp_tool_log(struct gateway *g, const char *id, struct wall at, const char *tool,
	struct str session_id);

/* Sends the waiting rows; from now on each row is sent at once. */
void mcp_tool_log_stop(struct gateway *g);
