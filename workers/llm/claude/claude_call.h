/*
 * claude_call.h - one call to Claude: prompt in, checked answer out, one row in the log (FR-083
 * to FR-095).
 *
 * Retries, falling back to another model, continuing a paused turn, searching before
 * formatting: all of that is one call and one row, with tokens and cost added up (P7.3). Each
 * failure has a named kind, and a sentence for people without addresses, keys or raw bodies
 * (P7.7, P11.17).
 */
#pragma once

#include "prompts/prompts.h"
#include "workers/llm/claude/flow.h"

#define CALL_MAX_TOKENS 4096 /* FR-092 */
/* Logged in place of the latency of a call that did not succeed
 * (proto/catalogue/coaching.def). */
#define API_CALL_FAILED (-1)
#define API_CALL_CANCELLED (-2)

enum call_outcome {
#define CALL_OUTCOME(symbol, ...) CALL_OUTCOME_##symbol,
#include "workers/llm/claude/call_outcomes.def"
#undef CALL_OUTCOME
};

/* Shared by all calls. */
struct call_client {
	struct models_gone gone;
	pthread_mutex_t lock; /* guards it */
};

struct call_request {
	enum call_kind kind;
	struct str session_id;	  /* absent for none (P4.4) */
	struct str dreyfus_stage; /* for prompts that have the placeholder */
	struct str more_system;	  /* optional: appended to the prompt */
	bool keep;	     /* keep the answer for the same question in the next day */
	bool reuse;	     /* accept a kept answer, which costs nothing */
	const void *message; /* the request type of the kind */
};

struct call_result {
	enum call_outcome outcome;
	const void *response; /* the response type of the kind, in the flow's arena; NULL
				 without success */
	struct str text;      /* the sentence for people, without success */
	struct str model;
	int64_t latency_ms; /* -1 without success */
	int64_t asked_ms; /* the pause that the API asks for, if too long to wait; else 0
			   */
};

void call_client_init(struct call_client *c);
/* Tries models again that were not available before. */
void call_client_reload(struct call_client *c);
/* Blocks the flow's thread until the call succeeded or failed for good. */
struct call_result call_claude(struct flow *flow, const struct call_request *request);
/* The same with one more try, after LLM_FLOW_RETRY_MS, if the failure is transient (FR-159,
 * P11.12). */
struct call_result call_claude_with_retry(
	struct flow *flow, const struct call_request *request);
