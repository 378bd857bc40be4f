/*
 * llm.h - what the flows of the llm worker share.
 */
#pragma once

#include "workers/llm/claude/claude_call.h"
#include "workers/llm/flows/flow_turns.h"
#include "workers/llm/flows/paid.h"
#include "workers/llm/memory/memory.h"
#include <pthread.h>

struct llm {
	struct call_client client; /* first: flow_context gives it to calls */
	struct worker *worker;
	struct loop_post post;
	struct http *http;
	struct flows *flows;
	struct memory *memory;
	struct paid *paid;
	pthread_mutex_t wrap_up;
	pthread_mutex_t issues, materials; /* held while Claude is asked for them */
	pthread_mutex_t titles;		   /* held while gh is asked for one */
	struct flow_turns dashboards;
	bool github; /* gh is on PATH */
};

/* What METHOD_DASHBOARD_LOAD is served with. */
struct dashboard_call {
	const struct dashboard_request *request;
	uint64_t turn; /* of llm.dashboards */
};

static inline struct llm *llm_of(const struct flow *flow)
{
	return flow_context(flow);
}

static inline struct memory *llm_memory(const struct flow *flow)
{
	return llm_of(flow)->memory;
}
