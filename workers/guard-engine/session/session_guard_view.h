/* session_guard_view.h - a session guard as JSON: its constants, what clients see,
 * snapshots. Pure. */
#pragma once

#include "workers/guard-engine/session/session_guard.h"

/* Names of the criteria that are set, by priority. Static. */
struct strs session_guard_reasons(unsigned criteria);

/* As the members of struct machine say. */
void session_guard_config_out(const void *state, struct buf *out);
void session_guard_render(
	const void *state, const struct machine_view *view, struct buf *out);
void session_guard_save(const void *state, struct buf *out);
int session_guard_load(yyjson_val *snapshot, struct arena *arena, void *state,
	struct proto_error *error);
