/*
 * fleet_view.h - the last state of all workers, from the supervisor, and the answers of
 * /health and /ready.
 *
 * Called by main.c (a FLEET packet came) and health.c. Pure but for its own memory.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "proto/codec/messages.h"
#include "proto/tables/workers.h"

struct fleet_view_worker {
	bool known;
	bool up;
	bool stopped; /* by somebody, and stays so */
	bool fine;
	bool failing;
	char state[24];
	int64_t restarts;
};

/* Zero is a valid view of a daemon of which nothing is known yet. */
struct fleet_view {
	struct mono started; /* the daemon; 0: not known yet */
	struct fleet_view_worker workers[WORKER_COUNT];
};

/* 0, or -EINVAL with *error when the packet is not what proto/catalogue/bus.def says; the view is
 * kept then. */
int fleet_view_update(struct fleet_view *view, struct str fleet_json,
	struct proto_error *error) __attribute__((warn_unused_result));

/* False for a worker that the settings do not enable: the supervisor does not list it.
 */
bool fleet_view_counts(const struct fleet_view *view, int id);

/* Every worker has reported ready and is still there. */
bool fleet_view_ready(const struct fleet_view *view);

/* How long the daemon runs, whatever happens to the wall clock. */
int64_t fleet_view_uptime_ms(const struct fleet_view *view, struct mono now);

/* Writes the body of /health; the HTTP status: 200, or 503 while the store takes no
 * writes (R33). */
int fleet_view_health(const struct fleet_view *view, struct mono now, struct buf *out);
