/*
 * policy.h - when a worker is started, stopped, ended by force, and when it is left
 * alone.
 *
 * Pure: state, event and time go in, the new state and what to do come out. process.c is
 * the only caller and does what is asked.
 *
 *   DOWN --want up--> STARTING --READY--> READY --exit--> BACKOFF --time--> STARTING
 *
 *   STARTING, READY, HUNG --stop--> STOPPING --exit--> DOWN, or STARTING for a restart
 *   STARTING, READY without a sign of life --> HUNG (aborting) --exit--> BACKOFF
 *   exit 64 or 78 --> PARKED until somebody wants it up again; no crash ever parks
 */
#pragma once

#include "common/base/clock.h"
#include <stdbool.h>

/* Tests build a supervisor whose patience is shorter by this factor. */
#ifndef POLICY_HASTE
#define POLICY_HASTE 1
#endif

#define POLICY_BACKOFF_FIRST_MS (250 / POLICY_HASTE)
#define POLICY_BACKOFF_CAP_MS (30000 / POLICY_HASTE)
/* Whoever can make the gateway crash must not be able to keep it away for long. */
#define POLICY_BACKOFF_CAP_GATEWAY_MS (5000 / POLICY_HASTE)
#define POLICY_STABLE_MS                                                                 \
	(60000 / POLICY_HASTE) /* of READY; then failures are forgotten */
#define POLICY_SLOW_MS                                                                   \
	(10000 / POLICY_HASTE) /* without a sign of life: ask for a backtrace */
#define POLICY_HUNG_MS (30000 / POLICY_HASTE) /* without a sign of life: abort */
#define POLICY_ABORT_GRACE_MS                                                            \
	(5000 / POLICY_HASTE) /* from ABRT to KILL, and between KILLs */
#define POLICY_TERM_AFTER_MS (1000 / POLICY_HASTE) /* from STOP to TERM */
/* What comes this much late means that the supervisor did not run: somebody stopped or
 * starved it. */
#define POLICY_LATE_MS 1000
#define POLICY_HURRY_MS 500    /* what a hurried stop still leaves */
#define POLICY_WINDOW_MS 60000 /* of "restarts in the last minute" */
#define POLICY_RING 16

enum policy_state {
	POLICY_DOWN,
	POLICY_STARTING,
	POLICY_READY,
	POLICY_STOPPING,
	POLICY_BACKOFF,
	POLICY_HUNG,
	POLICY_PARKED,
};

enum policy_event_kind {
	POLICY_WANT_UP,	  /* start; frees a parked worker, ends a pause */
	POLICY_WANT_DOWN, /* stop and stay down */
	POLICY_RESTART,	  /* stop and start again at once; failures are forgotten */
	POLICY_HURRY,	  /* a stop under way has only POLICY_HURRY_MS left */
	POLICY_GOT_READY,
	POLICY_GOT_SIGN, /* a heartbeat, or any other packet */
	POLICY_EXITED,	 /* or could not be executed */
	POLICY_TIME, /* the deadline has come; when it did more than POLICY_LATE_MS ago, that
			is LATE */
	POLICY_LATE, /* the supervisor did not run for a while: nobody is judged for that
			time */
};

struct policy_event {
	enum policy_event_kind kind;
	bool parks;    /* EXITED: with WORKER_EXIT_USAGE or WORKER_EXIT_CONFIG */
	double jitter; /* EXITED: -1 to 1 */
};

/* What to do, in this order. */
enum policy_action {
	POLICY_DO_SPAWN = 1 << 0,
	POLICY_DO_SEND_STOP = 1 << 1,
	POLICY_DO_BACKTRACE = 1 << 2, /* SIGUSR2 */
	POLICY_DO_TERM = 1 << 3,      /* SIGTERM and SIGCONT */
	POLICY_DO_ABORT = 1 << 4,     /* SIGABRT and SIGCONT */
	POLICY_DO_KILL = 1 << 5,      /* SIGKILL to the process group */
	POLICY_DO_ABANDON = 1 << 6,   /* not even KILL ended it: do as if it had exited */
};

struct policy {
	int start_deadline_ms;
	int stop_grace_ms;
	int backoff_cap_ms;
	enum policy_state state;
	bool want_up;
	bool restarting;   /* STOPPING in order to start again */
	bool slow;	   /* READY, and a backtrace was asked for */
	bool forced;	   /* STOPPING: TERM was sent; HUNG: ABRT */
	bool killed;	   /* KILL was sent */
	int failures;	   /* exits that count towards the pause before the next start */
	unsigned starts;   /* since the daemon was started */
	struct mono since; /* of the state */
	struct mono deadline;		  /* of POLICY_TIME; 0: none */
	struct mono kill_at;		  /* STOPPING */
	struct mono ready_at;		  /* of this process; 0: not yet */
	struct mono sign_at;		  /* last sign of life */
	struct mono started[POLICY_RING]; /* times of the newest starts, written round */
};

/* Gives the actions as a set of enum policy_action. */
unsigned policy_step(struct policy *p, struct policy_event event, struct mono now);

/* The pause before a start after `failures` earlier ones: 0, then POLICY_BACKOFF_FIRST_MS
 * doubling to the cap, give or take a fifth by the jitter. */
int64_t policy_backoff_ms(int failures, int cap_ms, double jitter);

/* Starts but the first, in all and within POLICY_WINDOW_MS (at most POLICY_RING are
 * remembered). */
unsigned policy_restarts(const struct policy *p);
unsigned policy_restarts_in_window(const struct policy *p, struct mono now);

/* "ready" */
const char *policy_state_name(enum policy_state state);
