/*
 * settings_snapshot.h - settings that several parts of a process hold and nobody changes.
 *
 * A snapshot is counted: it lives until the last one that holds it lets go, from whatever
 * thread. New values make a new snapshot; who works with the old one goes on with it.
 */
#ifndef PAIGE_COMMON_SETTINGS_SETTINGS_SNAPSHOT_H
#define PAIGE_COMMON_SETTINGS_SETTINGS_SNAPSHOT_H

#include "common/settings/settings.h"

/* Takes over what *s holds. The caller holds the snapshot that comes back. */
const struct settings *settings_snapshot(struct settings *s)
	__attribute__((warn_unused_result));
/* From any thread that was given the snapshot by one that holds it. Returns it. */
const struct settings *settings_hold(const struct settings *snapshot);
/* From any thread. NULL is let be. */
void settings_release(const struct settings *snapshot);

#endif
