/* breakloop_view.h - a BreakLoop as JSON: what clients see, and snapshots. Pure. */
#pragma once

#include "workers/guard-engine/breakloop/breakloop.h"

/* As the members of struct machine say. The quota is shown as it is now, filled if its
 * window is over. */
void breakloop_render(
	const void *state, const struct machine_view *view, struct buf *out);
void breakloop_save(const void *state, struct buf *out);
int breakloop_load(yyjson_val *snapshot, struct arena *arena, void *state,
	struct proto_error *error);
