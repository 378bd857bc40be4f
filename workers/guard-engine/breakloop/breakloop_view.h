/* breakloop_view.h - a BreakLoop as JSON: what clients see, and snapshots. Pure. */
#ifndef PAIGE_GUARD_ENGINE_BREAKLOOP_BREAKLOOP_VIEW_H
#define PAIGE_GUARD_ENGINE_BREAKLOOP_BREAKLOOP_VIEW_H

#include "workers/guard-engine/breakloop/breakloop.h"

/* As the members of struct machine say. The quota is shown as it is now, filled if its
 * window is over. */
void breakloop_render(
	const void *state, const struct machine_view *view, struct buf *out);
void breakloop_save(const void *state, struct buf *out);
int breakloop_load(yyjson_val *snapshot, struct arena *arena, void *state,
	struct proto_error *error);

#endif
