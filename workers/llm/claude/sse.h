/*
 * sse.h - parses a stream of server-sent events as it arrives. Pure.
 */
#pragma once

#include "common/base/buf.h"

/* Zero is a fresh parser. */
struct sse {
	struct buf line;
	struct buf event; /* name */
	struct buf data;
	bool has_data;
	bool after_cr;
};

/* `event` is empty if the stream gave no name. Both are borrowed during the call. */
typedef void sse_fn(void *arg, struct str event, struct str data);

/* Takes the next bytes and calls `fn` for each complete event. */
void sse_feed(struct sse *s, struct str bytes, sse_fn *fn, void *arg);
void sse_fini(struct sse *s);
