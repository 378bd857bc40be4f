/*
 * settings_snapshot.h - immutable settings that several parts of a process share.
 *
 * A snapshot is reference-counted and freed with its last reference, on any thread. New values make a new snapshot; whoever
 * uses the old one keeps it.
 */
#pragma once

#include "common/settings/settings.h"

/* Moves the values of *s into a new snapshot and empties *s. The caller owns the first reference. */
const struct settings *settings_snapshot(struct settings *s)
	__attribute__((warn_unused_result));
/* Takes a reference and returns `snapshot`. Safe on any thread, as long as some thread owns a reference meanwhile. */
const struct settings *settings_ref(const struct settings *snapshot);
/* Drops a reference; the last one frees the snapshot. Safe on any thread. NULL does nothing. */
void settings_unref(const struct settings *snapshot);
