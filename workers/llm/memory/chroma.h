/*
 * chroma.h - a Chroma server, over its HTTP API v2.
 *
 * Holds what is known of it (is it there, which id has the collection, how large may a
 * batch be) behind one lock; every operation is a blocking call on a flow's thread. An
 * operation that fails makes it unavailable, and the next one begins by connecting anew
 * (FR-106, P8.4, P8.6).
 */
#pragma once

#include "proto/codec/messages.h"
#include "workers/llm/claude/flow.h"

#define CHROMA_COLLECTION "paige_memories"

struct chroma;

/* `url`, `embedder` and `size` (of a vector) are borrowed for the life of the process.
 * Returns new. */
struct chroma *chroma_new(const char *url, const char *embedder, int size);
bool chroma_available(const struct chroma *c);
/* Connects when it is not connected, logging a change. True when it is now. */
bool chroma_connect(struct chroma *c, struct flow *flow);
/* One past the highest index among ids mem_<session>_<index>; -1 after a failure. */
long chroma_next_index(struct chroma *c, struct flow *flow, struct str session_id);
/* Adds records with their vectors, in batches; false after a failure. */
bool chroma_add(struct chroma *c, struct flow *flow, const struct memory_record *records,
	const float *vectors, size_t count);
/* False after a failure. */
bool chroma_query(struct chroma *c, struct flow *flow, const float *vector, int results,
	struct str project, struct memory_hits *hits);
