/* breakloop_config.h - the constants of a BreakLoop: read, checked, changed. Pure. */
#pragma once

#include "workers/guard-engine/breakloop/breakloop.h"

/* As the members of struct machine say. */
int breakloop_create(yyjson_val *config, const struct machine_defaults *defaults,
	struct arena *arena, void *state, struct proto_error *error);
void breakloop_config_out(const void *state, struct buf *out);

/*
 * Puts the constants that `config` has into `s`. 0, or -EINVAL with *problem (static text
 * that names the field and the rule) and `s` unchanged. Apps that stay monitored keep
 * their state, the others lose it.
 */
int breakloop_apply_config(
	struct breakloop *s, const struct breakloop_config *config, const char **problem);

/* The constants as they are now. `names` gets the names of the apps. Borrows the state.
 */
struct breakloop_config breakloop_config_of(
	const struct breakloop *s, struct str names[BREAKLOOP_MAX_APPS]);
