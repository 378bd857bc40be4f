/*
 * idle.h - when a process whose clients have all left is ended.
 *
 * Counts clients and prompts without a result, remembers when the process last wrote, and
 * asks idle_check when it is time. Pure; driven through machine.h, on the clock that
 * stands still while the computer sleeps (R49).
 */
#pragma once

#include "common/machine/idle_check.h"
#include "common/machine/machine.h"

#define IDLE_RULES 1

enum idle_item {
#define ITEM(symbol, ...) IDLE_##symbol,
	IDLE_BEFORE_FIRST = ITEM_FIRST_OWN - 1,
#include "common/machine/idle.def"
#undef ITEM
	IDLE_ITEMS
};

enum idle_end { IDLE_ALIVE, IDLE_ENDED_TIMEOUT, IDLE_ENDED_CAP };

struct idle {
	struct machine_base base;
	struct idle_limits limits;
	int64_t clients;
	int64_t turns; /* prompts without a result (C5) */
	bool has_output;
	int64_t last_output_ms;
	bool counting; /* no client is there, and one was */
	int64_t idle_start_ms;
	int64_t next_check_ms;
	bool guard_was_deferred;
	enum idle_end ended;
};

extern const struct machine idle_machine;
