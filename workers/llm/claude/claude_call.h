/*
 * claude_call.h - one call to Claude: prompt in, checked answer out, one row in the log (FR-083
 * to FR-095).
 *
 * Retries, another model when one is gone, continuing a paused turn, searching first and
 * formatting second: all of it is one call and one row, with tokens and cost added up
 * (P7.3). Every failure has a kind by name and a sentence for people that holds no
 * address, key or raw body (P7.7, P11.17).
 */
#ifndef PAIGE_LLM_CLAUDE_CLAUDE_CALL_H
#define PAIGE_LLM_CLAUDE_CLAUDE_CALL_H

#include "prompts/prompts.h"
#include "workers/llm/claude/flow.h"

#define CALL_MAX_TOKENS 4096 /* FR-092 */
/* Latencies in the log of what did not succeed (proto/catalogue/coaching.def). */
#define API_CALL_FAILED (-1)
#define API_CALL_CANCELLED (-2)

enum call_outcome {
#define CALL_OUTCOME(symbol, ...) CALL_OUTCOME_##symbol,
#include "workers/llm/claude/call_outcomes.def"
#undef CALL_OUTCOME
};

/* What calls share. */
struct call_client {
	struct models_gone gone;
	pthread_mutex_t lock; /* guards it */
};

struct call_request {
	enum call_kind kind;
	struct str session_id;	  /* absent for none (P4.4) */
	struct str dreyfus_stage; /* for prompts that have the placeholder */
	struct str more_system;	  /* optional: goes behind the prompt */
	bool keep;	     /* the answer is for whoever asks the same in the next day */
	bool reuse;	     /* an answer that was kept will do, and costs nothing */
	const void *message; /* the request type of the kind */
};

struct call_result {
	enum call_outcome outcome;
	const void *response; /* the response type of the kind, in the flow's arena; NULL
				 without success */
	struct str text;      /* the sentence for people, without success */
	struct str model;
	int64_t latency_ms; /* -1 without success */
	int64_t asked_ms; /* the API asks for so long a pause that nobody waits for it; 0:
			       it does not */
};

void call_client_init(struct call_client *c);
/* From now on models that were gone are asked again. */
void call_client_reload(struct call_client *c);
/* Blocks the flow's thread until the call succeeded or failed for good. */
struct call_result call_claude(struct flow *flow, const struct call_request *request);
/* The same with one more try after LLM_FLOW_RETRY_MS when the failure may pass (FR-159,
 * P11.12). */
struct call_result call_claude_with_retry(
	struct flow *flow, const struct call_request *request);

#endif
