/*
 * paid_work.h - keeps the paid steps of a flow in the store while it runs, so that repeating
 * it after a kill -9 of this worker pays only for the remaining steps.
 *
 * A UUID identifies the work, and the next worker takes it over; the ids of the rows that the
 * flow writes are made from it. Everything here runs on the flow's thread. A flow whose `work`
 * is NULL keeps nothing.
 *
 * It also keeps answers to questions that windows ask again and again, so that the same
 * question later costs nothing.
 */
#pragma once

#include "common/base/ids.h"
#include "proto/codec/messages.h"
#include "workers/llm/claude/flow.h"

/* The step whose text is the answer of the whole flow. */
#define PAID_ANSWER "answer"

struct paid_work_ids {
	char owner[UUID_SIZE]; /* this process */
	char id[UUID_SIZE];    /* of the work; that of the earlier work if taken over */
	char asked[65];	       /* SHA-256 in hexadecimal digits */
};

struct flow_work {
	struct paid_work_ids *ids;
	struct paid_taken taken;
};

/* SHA-256 of a method and its arguments. */
void paid_asked(enum method method, struct str arguments, char out[65]);
/* Asks the store whether the work was started before; if so, the flow continues it. */
void paid_work_begin(struct flow *flow, struct paid_work_ids *ids);
/* Claude's answer to a step, or absent. */
struct str paid_work_found(const struct flow *flow, const char *step);
/* Keeps the answer to a step. Returns when it is stored. */
void paid_work_keep(struct flow *flow, const char *step, struct str text);
/* Claude's answer of the last day to the body `request` of the call `step`, or absent. */
struct str paid_answer_find(struct flow *flow, const char *step, struct str request);
/* Keeps the answer, in place of an earlier one. */
void paid_answer_keep(
	struct flow *flow, const char *step, struct str request, struct str text);
/* The key for a method that the flow calls once; the same for every process that does the
 * work. */
struct str paid_work_key(struct flow *flow, enum method method);
