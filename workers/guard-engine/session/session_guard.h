/*
 * session_guard.h - the background phase of an interview, bounded by time and evidence.
 *
 * The phase ends with the first of: the time is up, the projects are used up, the gate is
 * open. The guard never interrupts: the coding question comes when neither side speaks.
 * Pure; driven through machine.h.
 */
#pragma once

#include "common/machine/machine.h"
#include "workers/guard-engine/session/scorer.h"

#define SESSION_GUARD_RULES 1

/* Bounds of one instance. */
#define SESSION_GUARD_MAX_QUESTION 4000 /* bytes of the coding question */
#define SESSION_GUARD_MAX_RATIONALE                                                      \
	1000 /* bytes kept of a rationale; the row has all of it */
#define SESSION_GUARD_MAX_PENDING 16 /* answers that wait for a score */

enum { SESSION_GUARD_TRAITS = 3 }; /* adaptability, creativity, reasoning */

/* Criteria, by priority: the lowest bit that is set is the reason (SG-E3, G6). */
enum session_guard_criterion {
	SESSION_GUARD_TIMEBOX = 1 << 0,
	SESSION_GUARD_PROJECTS_CAP = 1 << 1,
	SESSION_GUARD_GATE = 1 << 2,
};

enum session_guard_item {
#define ITEM(symbol, ...) SESSION_GUARD_##symbol,
	SESSION_GUARD_BEFORE_FIRST = ITEM_FIRST_OWN - 1,
#include "workers/guard-engine/session/session_guard.def"
#undef ITEM
	SESSION_GUARD_ITEMS
};

struct session_guard {
	struct machine_base base;

	/* constants */
	int64_t timebox_ms;
	int64_t zero_run_limit;
	int64_t project_cap;
	int64_t min_samples;
	int64_t settle_ms;
	int64_t reply_wait_ms;
	int64_t speech_wait_ms;
	double tau;
	double c;
	bool auto_score;

	/* the clock (G8: only the start is kept) */
	bool started;
	int64_t started_at_ms;
	enum session_guard_phase phase;
	unsigned reasons; /* criteria that held at the transition */
	int64_t ended_at_ms;

	/* projects (G1 to G4) */
	int64_t zero_runs;
	int64_t projects_used;
	bool project_pending;
	bool asked_for_another;
	bool zeros_after_asking;

	/* who speaks */
	bool ai_speaking;
	bool user_speaking;
	int64_t quiet_since_ms;
	bool due; /* a criterion holds; the transition waits for silence */
	int64_t due_since_ms;
	bool suppressed;

	int64_t violations;
	struct scorer_trait traits[SESSION_GUARD_TRAITS];
	bool scored;
	double pillars[SESSION_GUARD_TRAITS];
	int pending_count;
	int64_t pending[SESSION_GUARD_MAX_PENDING];

	char coding_question[SESSION_GUARD_MAX_QUESTION + 1];
	char rationales[SESSION_GUARD_TRAITS][SESSION_GUARD_MAX_RATIONALE + 1];
};

extern const struct machine session_guard_machine;
