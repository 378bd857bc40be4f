/*
 * tool_calls.h - calls of tools: the row of a call (mcp_tool_call, FR-079) is written in
 * the transaction of the tool's effect.
 *
 * So there is no effect without its row. A call that is refused has its row, too, and no
 * effect. Called by serve.c and group.c; coaching/tool_calls.c does it, as the rows of the
 * action log are written there.
 */
#pragma once

struct store;
struct call;
struct proto_error;

/* The row of a tool's call; the rows that its handler writes come behind it (row_ids.h). */
enum tool_call_row { ROW_TOOL_CALL, ROW_OF_TOOL };

/* Takes the arguments of a SERVICE_TOOL out of the request, as the message of its
 * handler. 0, or -EINVAL with *error. */
int tool_call_read(struct call *call, struct proto_error *error)
	__attribute__((warn_unused_result));

/* Logs the call of a SERVICE_TOOL. 1 written; 0 it was there already, there is no
 * session, or the call is of no tool; -errno. */
int tool_call_log(struct store *store, struct call *call)
	__attribute__((warn_unused_result));
