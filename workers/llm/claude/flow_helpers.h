/* flow_helpers.h - helpers that several flows share. */
#ifndef PAIGE_LLM_CLAUDE_FLOW_HELPERS_H
#define PAIGE_LLM_CLAUDE_FLOW_HELPERS_H

#include "proto/codec/messages.h"
#include "proto/tables/actions.h"
#include "workers/llm/claude/claude_call.h"

/* Logs an action with its data, now, and waits until it is durable. Without a session the
 * store drops it. */
void log_action(struct flow *flow, enum action action, const void *data);
/* The row of a tool's call (mcp_tool_call, FR-079), in the arena. */
void row_of_tool(struct arena *arena, enum method method, const struct tool_request *tool,
	struct action_row *row);
/* Logs the call of the tool that the flow is for, and waits until it is durable. Answers
 * the caller and returns false when it cannot be logged: then nothing may be done. */
bool log_tool_call(
	struct flow *flow, enum method method, const struct tool_request *tool);
/* Session, phase and assessments. Answers the flow's caller and returns false when the
 * store cannot be asked. */
bool load_context(struct flow *flow, struct coaching_context *context);
/* Asks a worker and decodes its answer into `out`. 0; -1 after a failure, with the reply
 * in *reply. */
int ask(struct flow *flow, enum method method, const void *request, void *out,
	struct bus_reply *reply) __attribute__((warn_unused_result));
/* The same for METHOD_KEYED. */
int tell(struct flow *flow, enum method method, const void *request, void *out,
	struct bus_reply *reply) __attribute__((warn_unused_result));
/* The same for what a flow does once: whoever does the work of the flow again after a
 * kill -9 meets the rows that it has written (paid_work.h). */
int tell_once(struct flow *flow, enum method method, const void *request, void *out,
	struct bus_reply *reply) __attribute__((warn_unused_result));
/* Hands a failed reply on to the flow's caller. */
void fail_with(struct flow *flow, const struct bus_reply *reply);

#endif
