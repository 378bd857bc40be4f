/*
 * paid.h - calls of tools that cost money and minutes: nothing that was paid for is lost
 * with its caller, or paid for twice.
 *
 * A call whose caller is gone goes on. Who asks for the same (method and arguments) next,
 * gets what came of it, or waits for it with it. A call whose caller is there is his
 * alone: the same asked for once more is done once more (EC-61).
 *
 * The store keeps what Claude has answered so far (paid_work.h): after a kill -9 of this
 * worker who asks for the same gets it, and what is missing is asked for.
 *
 * What is kept is bounded, and forgotten when another session begins. Everything here
 * runs on the loop, but for paid_step.
 */
#pragma once

#include "workers/llm/claude/flow.h"

#define PAID_MAX_KEPT 16
/* How long a result waits to be asked for again. */
#define PAID_KEEP_MS 900000
#define PAID_MAX_JOINED 8

struct paid;
struct tool_request;

/* Returns new. */
struct paid *paid_new(struct worker *w, struct flows *flows, struct loop_post *post);
/* Serves what windows ask and Claude is paid for with `fn`; `message` becomes its
 * message. Windows do not cancel, and what they were answered is not kept. */
void paid_serve(
	struct paid *paid, flow_fn *fn, struct bus_request *request, const void *message);
/* The same for a tool; its arguments become the message. The call is logged before the
 * flow begins. */
void paid_serve_tool(struct paid *paid, flow_fn *fn, struct bus_request *request,
	const struct tool_request *tool);
/* Ends a call; nothing when it is not under way. */
void paid_cancel(struct paid *paid, struct str call);
/* Nobody waits for the answer of a call, or, absent, of any call so far. */
void paid_lost(struct paid *paid, struct str call);
/* Another session: results of the one before are dropped. */
void paid_forget(struct paid *paid);
/* At an orderly stop, when every flow has ended: the answers given leave before the process
 * does, so that the next worker does not give them again. */
void paid_stop(struct paid *paid);

/* From the flow's thread: `step` steps of `total` are done, `message` says what is done
 * now. Told to who called, and to every window. */
void paid_step(struct paid *paid, const struct flow *flow, int step, int total,
	const char *message);
