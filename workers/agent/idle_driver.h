/*
 * idle_driver.h - drives the idle machine of the guard engine for one agent session: events
 * go in, decisions about the process come out.
 *
 * Pure: the time is an argument, in milliseconds of the clock that stands still while the
 * computer sleeps (R49). Called by sessions.c. All rules are in the machine
 * (common/machine/idle.h).
 */
#pragma once

#include "common/machine/idle.h"

struct idle_driver {
	struct idle idle;
};

enum idle_driver_verdict { IDLE_DRIVER_NOTHING, IDLE_DRIVER_RECHECK, IDLE_DRIVER_KILL };

struct idle_driver_outcome {
	enum idle_driver_verdict verdict; /* of the last check that was due */
	bool guard_deferred;		  /* RECHECK */
	int64_t delay_ms;		  /* RECHECK */
	char reason[IDLE_REASON_BYTES];
};

/* 0, or -EINVAL: a limit is out of range. */
int idle_driver_init(struct idle_driver *t, const struct machine_defaults *limits)
	__attribute__((warn_unused_result));
/* `event` is one of enum idle_item that clients send (idle.def). Checks that are due by
 * now come before it. An event that the machine refuses, because the process was ended,
 * changes nothing. */
struct idle_driver_outcome idle_driver_event(
	struct idle_driver *t, int event, int64_t now_ms);
/* Only what is due by now. */
struct idle_driver_outcome idle_driver_tick(struct idle_driver *t, int64_t now_ms);
/* When idle_driver_tick has something to do; MACHINE_NEVER. */
int64_t idle_driver_deadline(const struct idle_driver *t);
/* What the next check will say if nothing happens until then; NOTHING when none is due. */
struct idle_driver_outcome idle_driver_foresee(const struct idle_driver *t);
/* When a session without clients ends, whatever its program does; MACHINE_NEVER. */
int64_t idle_driver_latest(const struct idle_driver *t);
/* A prompt is without a result. */
bool idle_driver_in_progress(const struct idle_driver *t);
