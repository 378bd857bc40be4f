/*
 * phases.h - plans and their phases: which are current, and how they move (P6.8 to
 * P6.11).
 *
 * The current plan of a session is its newest; its current phase is the active one with
 * the lowest number.
 */
#pragma once

#include "proto/codec/messages.h"

struct store;
struct call;

struct phase_row {
	struct phase_info info;
	struct str hint_level; /* as stored: none, file, region, line (P2.12) */
};

/* Everything is in the call's arena. 1 found, 0 none, or -errno. */
int plan_current(struct store *store, struct call *call, struct str *plan_id)
	__attribute__((warn_unused_result));
int phase_current(struct store *store, struct call *call, struct phase_row *out)
	__attribute__((warn_unused_result));
/* All phases of a plan by number. 0 or -errno. */
int phases_of_plan(struct store *store, struct call *call, struct str plan_id,
	struct phase_row **rows, size_t *count) __attribute__((warn_unused_result));
