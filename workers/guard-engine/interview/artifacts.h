/*
 * artifacts.h - what is left of an interview: section artifacts and the two export
 * bundles (IV-2.2, IV-3.3, IV-7.1, IV-7.2).
 *
 * Made from the rows of one stream and nothing else, so nothing of another interview can
 * be in them. Summaries are extractive: quotes and lists, no sentence that the candidate
 * did not say (I14). Late messages belong to the section that they were late for; its
 * artifact is final when the grace is over (I3). Pure; called by the engine when somebody
 * asks.
 */
#pragma once

#include "common/base/buf.h"
#include "workers/guard-engine/interview/interview.h"

#define ARTIFACTS_MAX_QUOTE 200 /* bytes of one quote */

/* Appends the bundle as a JSON object. `rows` are all rows of the stream, `state` the
 * state after them. */
void artifacts_bundle(enum guard_bundle_for reader, const struct interview *state,
	struct str interview_id, int64_t now_ms, const struct stream_row *rows,
	size_t count, struct buf *out);
