/*
 * observer.h - the Observer of the active session: hears what happens, asks the model,
 * nudges.
 *
 * One at a time. It has no durable state: after a crash it is rebuilt from the action
 * log, without its decisions.
 * The rules are in policy.c.
 */
#pragma once

#include "common/worker/worker.h"
#include "workers/observer/decisions.h"
#include "workers/observer/policy.h"

struct observer {
	struct worker *worker;
	bool active;
	char session_id[64];
	bool wrapping_up;    /* session_id is still active, but no longer watched */
	uint64_t generation; /* of the session's Observer: late answers of an earlier one
				are thrown away */
	struct policy policy;
	bool mute_told; /* by the learner: overrides earlier rows of the log */
	enum observer_trigger trigger; /* of what the model is being asked about */
	struct decisions decisions;
	struct event *idle_timer;
};

void observer_init(struct observer *o, struct worker *w);
/* A session is active. Reads its log, then watches and says so (FR-129); nothing when it is
 * watched already: an event and an answer may both tell of it. */
void observer_start(struct observer *o, struct str session_id);
/* No session is active, or its wrap-up began (FR-130, P10.13). */
void observer_stop(struct observer *o);
/* An event of the bus. */
void observer_on_action(struct observer *o, struct str session_id, struct str type);
/* The learner said "not now". */
void observer_not_now(struct observer *o, struct str session_id);
void observer_on_buffer_update(struct observer *o);
/* FR-144; ignored with a warning without a session (EC-70). */
void observer_mute(struct observer *o, bool muted);
