/*
 * turn.h - the idle machine of the guard engine on one agent session: what happened
 * goes in, what to do with the process comes out.
 *
 * Pure: the time is an argument, in milliseconds of the clock that stands still while the
 * computer sleeps (R49). Called by sessions.c. All rules are the guard engine's
 * (common/machine/idle.h); here they are only driven.
 */
#ifndef PAIGE_AGENT_TURN_H
#define PAIGE_AGENT_TURN_H

#include "common/machine/idle.h"

struct turn {
	struct idle idle;
};

enum turn_verdict { TURN_NOTHING, TURN_RECHECK, TURN_KILL };

struct turn_outcome {
	enum turn_verdict verdict; /* of the last check that was due */
	bool guard_deferred;	   /* RECHECK */
	int64_t delay_ms;	   /* RECHECK */
	char reason[IDLE_REASON_BYTES];
};

/* 0, or -EINVAL: a limit is out of range. */
int turn_init(struct turn *t, const struct machine_defaults *limits)
	__attribute__((warn_unused_result));
/* `event` is one of enum idle_item that clients send (idle.def). Checks that are due by
 * now come before it. An event that the machine refuses, because the process was ended,
 * changes nothing. */
struct turn_outcome turn_event(struct turn *t, int event, int64_t now_ms);
/* Only what is due by now. */
struct turn_outcome turn_tick(struct turn *t, int64_t now_ms);
/* When turn_tick has something to do; MACHINE_NEVER. */
int64_t turn_deadline(const struct turn *t);
/* A prompt is without a result. */
bool turn_in_progress(const struct turn *t);

#endif
