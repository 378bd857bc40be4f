/*
 * observer.h - the Observer of the active session: hears what happens, asks the model,
 * nudges.
 *
 * One at a time. It has no durable state: after a crash it is rebuilt from the action
 * log, without its decisions.
 * The rules are in policy.c; missed.c asks for what no event told of.
 */
#pragma once

#include "common/worker/worker.h"
#include "proto/codec/messages.h"
#include "workers/observer/catch_up.h"
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
	struct catch_up catch_up;
	bool mute_told; /* by the learner: overrides earlier rows of the log */
	enum observer_trigger trigger; /* of what the model is being asked about */
	struct decisions decisions;
	struct event *idle_timer;
};

/* A row of the action log. */
struct logged_action {
	int action;    /* enum action, -1 for one that is not known */
	int64_t at_ms; /* 0: nobody knows */
	bool not_now;  /* the learner says so to a nudge */
};
struct logged_action observer_read_action(
	struct str type, yyjson_val *data, struct str created_at);

void observer_init(struct observer *o, struct worker *w);
/* A session is active. Watches it, has its log read, and says so (FR-129); nothing when it
 * is watched already: an event and an answer may both tell of it. */
void observer_start(struct observer *o, struct str session_id);
/* No session is active, or its wrap-up began (FR-130, P10.13). */
void observer_stop(struct observer *o);
/* A row of the session that counts now (catch_up.h): it may be a trigger. */
void observer_count(struct observer *o, const struct logged_action *logged);
/* One from before: no trigger any more. */
void observer_count_past(struct observer *o, const struct logged_action *logged);
/* Takes over what the log says of the session, without its rows, and tells the status. */
void observer_rebuild(struct observer *o, const struct observer_context *context);
void observer_tell_status(struct observer *o);

/* A call of the Observer that is under way. */
struct observer_call {
	struct observer *observer;
	uint64_t generation;
};
struct observer_call *observer_call_new(struct observer *o);
/* The session of the call has ended: its answer is thrown away (EC-66). */
bool observer_call_is_late(const struct observer_call *call);
/* Asks the store for observer.context of the session. `then` gets an observer_call, to be
 * freed. */
void observer_ask_context(struct observer *o, bus_reply_fn *then);

void observer_on_buffer_update(struct observer *o);
/* FR-144; ignored with a warning without a session (EC-70). */
void observer_mute(struct observer *o, bool muted);
