/*
 * policy.h - when the Observer asks the model, and when it stays silent. Pure
 * (story 10): times are arguments in Unix milliseconds; it does no I/O.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct policy_config {
	int64_t cooldown_ms; /* nudges are at least so far apart; exactly so far is enough
			      */
	int64_t flow_window_ms;
	int64_t flow_actions;	/* more actions than this in the window are flow */
	int64_t idle_ms;	/* longer silence than this is idleness */
	int64_t buffer_updates; /* so many edits are a trigger */
	double min_confidence;	/* exactly this is enough */
};

/* The state for one session. */
struct policy {
	struct policy_config config;
	bool muted;
	bool evaluating; /* the model is being asked: nothing else is, meanwhile (FR-147)
			  */
	int64_t last_nudge_ms;	    /* 0: never (P10.14) */
	int64_t last_evaluation_ms; /* 0: never */
	int64_t last_activity_ms;
	int64_t buffer_updates; /* since the model was last asked */
	bool crossing_logged;	/* holding back was logged since the updates reached their
				   number (P10.5) */
	bool idle_asked;	/* the present idleness was looked at (P10.4) */
	bool idle_logged;	/* or holding back was logged for it */
	int64_t *recent;	/* ring: times of the last `flow_actions + 1` actions */
	size_t recent_size, recent_next;
};

/* Something that happened. */
enum policy_event {
	POLICY_ACTIVITY, /* the learner did something that is no trigger */
	POLICY_TRIGGER,	 /* and is one: a file was opened or saved */
	POLICY_PHASE, /* a phase began or ended: a trigger, but not the learner's activity
			 (P10.2) */
	POLICY_BUFFER_UPDATE, /* an edit */
	POLICY_IDLE_CHECK,    /* the timer */
};

enum policy_verdict {
	POLICY_NOTHING,
	POLICY_ASK,	 /* ask the model now; policy_asked was done */
	POLICY_COOLDOWN, /* log nudge_suppressed with this reason */
	POLICY_FLOW,	 /* the same */
};

/* What to do with the model's answer. */
enum policy_outcome {
	POLICY_NO_NUDGE,
	POLICY_NUDGE,
	POLICY_LOW_CONFIDENCE,
	POLICY_CONTRADICTION, /* a nudge without a reason to nudge: a warning, nothing
				 else (EC-67) */
};

/* `now_ms` is the start of the session for the Observer: silence counts from here. */
void policy_init(struct policy *p, const struct policy_config *config, int64_t now_ms);
void policy_fini(struct policy *p);
/* `at_ms`: when it happened, which may be long ago when the store was away. Flow and idleness
 * count from then; what is done about it is a matter of now. */
enum policy_verdict policy_step(
	struct policy *p, enum policy_event event, int64_t at_ms, int64_t now_ms);
bool policy_is_idle(const struct policy *p, int64_t now_ms);
/* The model answered. `signal_is_none`: its signal is no_nudge. */
enum policy_outcome policy_answered(struct policy *p, bool should_nudge,
	double confidence, bool signal_is_none, int64_t now_ms);
/* The learner said "not now" to a nudge: the cooldown begins anew. */
void policy_not_now(struct policy *p, int64_t at_ms);
/* The model could not be asked. */
void policy_failed(struct policy *p);

/* "12s", "3m12s", "4m"; what lies ahead counts as now. `out` has room for AGO_SIZE. */
#define AGO_SIZE 32
void ago_text(int64_t then_ms, int64_t now_ms, char out[AGO_SIZE]);
