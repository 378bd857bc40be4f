/*
 * snapshot.h - the settings and prompts that a flow uses from start to end: those in force when its request arrived.
 *
 * Immutable and reference-counted. A reload makes a new snapshot for later flows.
 */
#pragma once

#include "common/settings/settings_snapshot.h"
#include "prompts/prompts.h"

struct snapshot {
	const struct settings *settings;
	struct prompts *prompts;
};

/* Takes a reference to `settings` and reads the prompts they name. The caller owns the first reference. */
const struct snapshot *snapshot_new(const struct settings *settings);
/* Take and drop a reference; the last one frees the snapshot. Both are safe on any thread. */
const struct snapshot *snapshot_ref(const struct snapshot *s);
void snapshot_unref(const struct snapshot *s);
