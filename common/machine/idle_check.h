/*
 * idle_check.h - may a process without clients be ended now?
 *
 * Order: the cap, which no guard can put off; the guards, the first that keeps the
 * process wins; a grace when a guard kept it at the last check and none does now; the
 * end. Pure; called by idle.c.
 */
#pragma once

#include "common/base/str.h"
#include <stdbool.h>
#include <stdint.h>

/* Pause between checks while a guard keeps the process, unless the guard says otherwise.
 */
#define IDLE_RECHECK_MS 30000

struct idle_session {
	bool turn_in_progress;
	bool has_output; /* a line, or a prompt, since the process started */
	int64_t last_output_ms;
	int64_t idle_start_ms; /* when the last client left */
	bool guard_was_deferred;
};

struct idle_limits {
	int64_t idle_timeout_ms;
	int64_t max_idle_ms;
	int64_t stale_output_ms;
	int64_t recheck_ms;
};

struct idle_opinion {
	bool keep;
	const char *reason; /* static */
	int64_t recheck_ms; /* 0: as idle_limits says */
};

struct idle_guard {
	const char *name;
	struct idle_opinion (*look)(const struct idle_session *s,
		const struct idle_limits *limits, int64_t now_ms);
};

#define IDLE_REASON_BYTES 160

struct idle_action {
	bool kill; /* else look again */
	bool cap;  /* because of the cap */
	int64_t delay_ms;
	bool guard_deferred; /* for the next check */
	char reason[IDLE_REASON_BYTES];
};

/* A turn is under way and has written something of late. */
extern const struct idle_guard idle_active_turn;

/* Every guard that is consulted, in order. */
extern const struct idle_guard *const idle_guards[];
extern const int idle_guard_count;

void idle_check(const struct idle_session *s, const struct idle_limits *limits,
	const struct idle_guard *const *guards, int count, int64_t now_ms,
	struct idle_action *out);

/* When to look again: after the delay, but as soon as the cap is exceeded (C2). */
int64_t idle_next_check(const struct idle_session *s, const struct idle_limits *limits,
	int64_t now_ms, int64_t delay_ms);
