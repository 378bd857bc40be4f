/*
 * memory.h - memories across sessions: kept and found by meaning (story 8).
 *
 * Two places behind one interface: a Chroma server (MEMORY=chroma), which may come and
 * go, and memory.db through the store (MEMORY=embedded). Nothing here fails: what cannot
 * be kept counts as not kept, what cannot be found is not found, each with one warning
 * (FR-103, FR-104). Called on flows' threads.
 */
#pragma once

#include "proto/codec/messages.h"
#include "workers/llm/claude/flow.h"

#define MEMORY_RESULTS 10 /* FR-101 */

struct memory;

/* Returns new. Opens the embedder; reads files, so before confinement. */
struct memory *memory_new(const struct settings *settings);
/* On a flow's thread, at the start: connects to Chroma and logs how that went (FR-096 to
 * FR-098), or asks the store whether memory.db can be used. */
void memory_connect(struct memory *m, struct flow *flow);
/* How many were kept. Tags lose their commas (P8.5); ids continue within the session
 * (P8.2). */
size_t memory_keep(struct memory *m, struct flow *flow, const struct new_memory *memories,
	size_t count, struct str session_id, struct str project);
/* At most `results`, the most similar first, of every project when `project` is absent;
 * in the flow's arena. */
struct memory_hits memory_find(struct memory *m, struct flow *flow, struct str text,
	int results, struct str project);
/* Whether memories can be kept now, and whether that is so by Chroma. From any thread. */
bool memory_available(const struct memory *m);
bool memory_chroma_available(const struct memory *m);
