/*
 * sse.h - a stream of server-sent events, taken apart as it arrives. Pure.
 */
#ifndef PAIGE_LLM_CLAUDE_SSE_H
#define PAIGE_LLM_CLAUDE_SSE_H

#include "common/base/buf.h"

/* Zero is a fresh parser. */
struct sse {
	struct buf line;
	struct buf event; /* name */
	struct buf data;
	bool has_data;
	bool after_cr;
};

/* `event` is empty when the stream gave no name. Both are borrowed for the call. */
typedef void sse_fn(void *arg, struct str event, struct str data);

/* Takes the next bytes and calls `fn` for each event that is complete. */
void sse_feed(struct sse *s, struct str bytes, sse_fn *fn, void *arg);
void sse_fini(struct sse *s);

#endif
