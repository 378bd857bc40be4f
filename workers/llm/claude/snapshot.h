/*
 * snapshot.h - what a flow goes by from its beginning to its end: the settings and the
 * prompts as they stood when it was asked for.
 *
 * Immutable and counted. A reload makes another one for the flows that come after it.
 */
#ifndef PAIGE_LLM_CLAUDE_SNAPSHOT_H
#define PAIGE_LLM_CLAUDE_SNAPSHOT_H

#include "common/settings/settings_snapshot.h"
#include "prompts/prompts.h"

struct snapshot {
	const struct settings *settings;
	struct prompts *prompts;
};

/* Holds `settings` and reads the prompts that they name. The caller holds what comes
 * back. */
const struct snapshot *snapshot_new(const struct settings *settings);
/* Both from any thread. */
const struct snapshot *snapshot_hold(const struct snapshot *s);
void snapshot_release(const struct snapshot *s);

#endif
