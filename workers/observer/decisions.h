/*
 * decisions.h - the last decisions of the Observer and their reasons.
 *
 * Called by observer.c. The action log keeps nudges and what held them back; this has
 * what led to each, and also when the model saw no need to speak. In memory alone.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "proto/codec/messages.h"

#define DECISIONS_KEPT 1000
#define DECISION_REASONING_BYTES 512

struct decision {
	struct observer_decision message; /* its texts are those below */
	char at[WALL_ISO_SIZE];
	char session_id[64];
	char reasoning[DECISION_REASONING_BYTES + 1];
};

/* Zero is a valid one without decisions. */
struct decisions {
	struct decision ring[DECISIONS_KEPT];
	size_t count;	   /* of those in the ring */
	int64_t forgotten; /* older ones, which were in it */
	size_t next;	   /* where the next one goes */
	int64_t last_n;	   /* of the newest */
};

/*
 * Copies `decision`, gives it number and time, and forgets the oldest when the ring is full.
 * A reasoning that is too long is truncated. Numbers begin with the time in milliseconds,
 * so that a restarted worker gives higher ones. Valid until the ring has turned
 * once.
 */
const struct observer_decision *decisions_add(
	struct decisions *d, const struct observer_decision *decision, struct wall now);

/* The page that is asked for; the last one says how many are forgotten. The list is of the arena, its texts of the ring. */
void decisions_page(const struct decisions *d,
	const struct observer_decisions_query *query, struct arena *arena,
	struct observer_decisions *page);
