/* snapshot.h - the request to the model, made from the store's answer.
 * Pure (FR-137). */
#pragma once

#include "proto/codec/messages.h"
#include "workers/observer/policy.h"

#define SNAPSHOT_ACTIONS 20

/* Borrows from the context and the arena. */
struct observer_triage_request snapshot_make(const struct observer_context *context,
	const struct policy *policy, int64_t now_ms, struct arena *arena);
/* Milliseconds of an ISO 8601 time, 0 for an absent or broken one. */
int64_t snapshot_time_ms(struct str iso);
