/*
 * breakloop.h - decides when a distracting app may be used: quick tasks, interventions,
 * intentions.
 *
 * Phases are per app, the quota of quick tasks is one for all. Entries are judged by the
 * decision table of section 1; timers run on while the user is elsewhere. Pure; driven
 * through machine.h.
 */
#pragma once

#include "common/machine/machine.h"
#include "workers/guard-engine/breakloop/quota.h"

#define BREAKLOOP_RULES 1

/* Bounds of one instance. */
#define BREAKLOOP_MAX_APPS 64
#define BREAKLOOP_MAX_NAME 255	 /* bytes of one name */
#define BREAKLOOP_MAX_NAMES 4096 /* bytes of all names together */
#define BREAKLOOP_MAX_TIMEZONE 100

/* The same app again sooner than this is the same entry. */
#define BREAKLOOP_SAME_ENTRY_MS 400
/* The user is away when no app was in front for this long: phones report short gaps. */
#define BREAKLOOP_AWAY_MS 1500

#define BREAKLOOP_NOBODY (-1) /* no app in front */
#define BREAKLOOP_OTHER (-2)  /* an app that is not monitored */

enum breakloop_item {
#define ITEM(symbol, ...) BREAKLOOP_##symbol,
	BREAKLOOP_BEFORE_FIRST = ITEM_FIRST_OWN - 1,
#include "workers/guard-engine/breakloop/breakloop.def"
#undef ITEM
	BREAKLOOP_ITEMS
};

/* Times are 0 when the timer does not run. */
struct breakloop_app {
	enum breakloop_phase phase;
	enum breakloop_step step; /* of an intervention */
	bool preserved;		  /* the intervention waits for the user */
	int64_t intention_until_ms;
	int64_t quick_task_until_ms;
	int64_t activity_until_ms;
	int64_t suppressed_until_ms;
};

struct breakloop {
	struct machine_base base;

	/* constants, until the event `settings` */
	int64_t quick_task_ms;
	int64_t quit_suppression_ms;
	int window_hours;
	char timezone[BREAKLOOP_MAX_TIMEZONE + 1];

	struct quota quota;

	int foreground; /* an app, BREAKLOOP_NOBODY or BREAKLOOP_OTHER */
	/* the last entry and the last exit, to know gaps from absence */
	int entered_app;
	int64_t entered_at_ms;
	int left_app;
	int64_t left_at_ms;
	enum breakloop_phase
		cleared_phase; /* what the last exit cleared; IDLE: nothing */

	int app_count;
	struct breakloop_app apps[BREAKLOOP_MAX_APPS];
	int name_start[BREAKLOOP_MAX_APPS + 1]; /* of each name in `names` */
	char names[BREAKLOOP_MAX_NAMES];
	char foreground_name[BREAKLOOP_MAX_NAME + 1];
};

enum breakloop_action {
	BREAKLOOP_NO_ACTION,
	BREAKLOOP_QUICK_TASK,
	BREAKLOOP_INTERVENTION
};

struct breakloop_verdict {
	enum breakloop_action action;
	const char *reason; /* name of the rule */
	int64_t left_ms;    /* belongs to the reason: "T_INTENTION_ACTIVE_1500ms"; -1 for
			       none */
};

/* The decision table for an app that comes to the front now (BL-R1 to BL-R6). `app`:
 * its place, or BREAKLOOP_OTHER. Changes nothing. */
struct breakloop_verdict breakloop_decide(
	const struct breakloop *s, int app, int64_t at_ms);

/* The place of an app among the monitored ones, or BREAKLOOP_OTHER. */
int breakloop_find(const struct breakloop *s, struct str name);
struct str breakloop_name(const struct breakloop *s, int app);

extern const struct machine breakloop_machine;
