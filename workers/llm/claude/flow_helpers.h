/* flow_helpers.h - helpers that several flows share. */
#pragma once

#include "proto/codec/messages.h"
#include "proto/tables/actions.h"
#include "workers/llm/claude/claude_call.h"

/* Logs an action with the time of now and waits until it is durable. Without a session the
 * store drops it. */
void log_action(struct flow *flow, enum action action, const void *data);
/* Makes the row of a tool's call (mcp_tool_call, FR-079) in the arena. */
void row_of_tool(struct arena *arena, enum method method, const struct tool_request *tool,
	struct action_row *row);
/* Logs the tool's call and waits until the row is durable. If that fails, answers the caller
 * and returns false; then the flow must do nothing. */
bool log_tool_call(
	struct flow *flow, enum method method, const struct tool_request *tool);
/* Loads session, phase and assessments. If the store does not answer, answers the flow's
 * caller and returns false. */
bool load_context(struct flow *flow, struct coaching_context *context);
/* Calls a worker and decodes its answer into `out`. 0, or -1 with the failed reply in
 * *reply. */
int ask(struct flow *flow, enum method method, const void *request, void *out,
	struct bus_reply *reply) __attribute__((warn_unused_result));
/* The same for METHOD_KEYED. */
int tell(struct flow *flow, enum method method, const void *request, void *out,
	struct bus_reply *reply) __attribute__((warn_unused_result));
/* The same for what a flow does once: after a kill -9, the flow that repeats the work finds
 * the rows that this one wrote (paid_work.h). */
int tell_once(struct flow *flow, enum method method, const void *request, void *out,
	struct bus_reply *reply) __attribute__((warn_unused_result));
/* Answers the flow's caller with a failed reply. */
void fail_with(struct flow *flow, const struct bus_reply *reply);
