/*
 * paid_work.h - what a flow that costs money keeps in the store while it runs, so that
 * who does it again after a kill -9 of this worker pays for the rest alone.
 *
 * The flow is identified by a UUID, which the next worker takes over; ids of the rows
 * that it writes are made from it. Everything here runs on the flow's thread. A flow
 * without a work (flow.work is NULL) has nothing and keeps nothing.
 *
 * Beside that, answers for all: to questions that windows ask again and again, so that who
 * asks the same later is answered from what was paid for.
 */
#ifndef PAIGE_LLM_CLAUDE_PAID_WORK_H
#define PAIGE_LLM_CLAUDE_PAID_WORK_H

#include "common/base/ids.h"
#include "proto/codec/messages.h"
#include "workers/llm/claude/flow.h"

/* The step that is the answer of the whole. */
#define PAID_ANSWER "answer"

struct paid_work_ids {
	char owner[UUID_SIZE]; /* this process */
	char id[UUID_SIZE];    /* of the work; another one once it is taken over */
	char asked[65];	       /* SHA-256 in hexadecimal digits */
};

struct flow_work {
	struct paid_work_ids *ids;
	struct paid_taken taken;
};

/* SHA-256 of a method and its arguments. */
void paid_asked(enum method method, struct str arguments, char out[65]);
/* Asks the store whether the work was begun before, and has the flow go on with it. */
void paid_work_begin(struct flow *flow, struct paid_work_ids *ids);
/* What Claude has answered to a step, or absent. */
struct str paid_work_found(const struct flow *flow, const char *step);
/* Keeps it. Returns when it is kept. */
void paid_work_keep(struct flow *flow, const char *step, struct str text);
/* What Claude has answered to `request`, the body that it is sent for the call `step`, in
 * the last day; or absent. */
struct str paid_answer_find(struct flow *flow, const char *step, struct str request);
/* Keeps it, in the place of the one before. */
void paid_answer_keep(
	struct flow *flow, const char *step, struct str request, struct str text);
/* The key for a method that the flow calls once: the same whoever does the work. */
struct str paid_work_key(struct flow *flow, enum method method);

#endif
