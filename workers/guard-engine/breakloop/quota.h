/*
 * quota.h - how many quick tasks are left in the present window (BL-Q, B4,
 * R51).
 *
 * Windows follow the wall clock of a time zone: they begin where it shows a multiple of
 * their length, or jumps over one. A stretch that the clock shows twice begins a new
 * window only when a whole window has passed. What is kept of the present window are
 * absolute times, so that neither a change of the clock nor one of the zone fills the
 * quota again. Pure; called by the engine and by breakloop.c.
 */
#pragma once

#include "workers/guard-engine/breakloop/zone_rules.h"

struct quota_window {
	int64_t start_ms,
		end_ms; /* Unix milliseconds; the end is the start of the next one */
};

/* The window of 1, 4, 12 or 24 hours that a moment lies in. */
struct quota_window quota_window_at(const struct zone *z, int hours, int64_t wall_ms);

struct quota {
	int64_t limit;
	int64_t remaining;
	struct quota_window
		window; /* of the last time that it was filled; end 0: never */
};

/* Fills the quota. */
void quota_fill(struct quota *q, struct quota_window now);

/*
 * Fills the quota when its window is over and another one has begun since: at most once
 * per window, whatever clock and zone do. `now` is the window that `wall_ms` lies in.
 */
void quota_roll(struct quota *q, int64_t wall_ms, struct quota_window now);
