/*
 * ws_liveness.h - whether the peer is still there: when to ping, when to give up (R29).
 *
 * Called by ws_client.c from its timer. Pure: a state, the time, an answer. A daemon that
 * was itself suspended does not blame its clients: a judgement that comes late is
 * replaced by another ping.
 */
#pragma once

#include "common/base/clock.h"
#include <stdbool.h>

#define WS_PING_INTERVAL_MS 30000
#define WS_PONG_DEADLINE_MS 10000
/* A timer that fires this much late means that this process did not run. */
#define WS_LATE_MS 2000

struct ws_liveness {
	bool pinged; /* an answer is awaited */
	bool heard;  /* something came since the ping */
	struct mono due;
};

enum ws_liveness_action { WS_LIVENESS_WAIT, WS_LIVENESS_PING, WS_LIVENESS_GONE };

static inline void ws_liveness_start(struct ws_liveness *l, struct mono now)
{
	*l = (struct ws_liveness){.due = mono_add_ms(now, WS_PING_INTERVAL_MS)};
}

/* Any byte from the other side shows that it lives. */
static inline void ws_liveness_heard(struct ws_liveness *l)
{
	l->heard = true;
}

/* At `due` or later. Sets the next `due`. */
static inline enum ws_liveness_action ws_liveness_judge(
	struct ws_liveness *l, struct mono now)
{
	if (l->pinged && l->heard) {
		l->pinged = false;
		l->due = mono_add_ms(now, WS_PING_INTERVAL_MS - WS_PONG_DEADLINE_MS);
		return WS_LIVENESS_WAIT;
	}
	if (l->pinged && mono_diff_ms(now, l->due) <= WS_LATE_MS)
		return WS_LIVENESS_GONE;
	l->pinged = true;
	l->heard = false;
	l->due = mono_add_ms(now, WS_PONG_DEADLINE_MS);
	return WS_LIVENESS_PING;
}
