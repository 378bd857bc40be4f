/*
 * sessions.h - coaching sessions: which one is active, start, resume and end (P2.9,
 * P5.1).
 *
 * One session is active at most. Without one, a call is refused with "No active session".
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/str.h"
#include <stdbool.h>

struct store;
struct call;

struct session_ref {
	char id[UUID_SIZE]; /* empty: none */
	char started_at[WALL_ISO_SIZE];
	char ended_at[WALL_ISO_SIZE]; /* empty while it is active */
};

/* What is remembered of the table. A plain value, so that a transaction that fails can
 * put it back. */
struct sessions {
	struct session_ref active;
	struct session_ref last_ended;
	int hint_level; /* enum hint_level of the active session */
};

/*
 * Reads the table at the start of the process: the newest active session is taken up
 * again, others that claim to be active are abandoned (P5.1), the hint level comes from
 * the action log (P5.19). 0 or -errno.
 */
int sessions_load(struct store *store, struct wall now)
	__attribute__((warn_unused_result));

/* The hint level that the action log of a session says last; HINT_LEVEL_NONE when it says
 * none. 0 or -errno. */
int sessions_hint_level(struct store *store, const char *session_id, int *level)
	__attribute__((warn_unused_result));

/*
 * The session in which something happened at `at` (ISO 8601): the active one, or the one
 * that ended last if it was going on then, since a row may arrive after its session
 * ended. NULL when there was none (EC-17).
 */
const struct session_ref *sessions_at(const struct sessions *sessions, struct str at);

/* 0, or -ECANCELED having refused the call with "No active session". */
int sessions_need(struct store *store, struct call *call)
	__attribute__((warn_unused_result));
