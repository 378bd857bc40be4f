/*
 * descendants.h - the children of a process that is a subreaper: everything below it that lost
 * its own parent is among them.
 *
 * Called by reaper.c for what an agent leaves behind, and by process.c for what a
 * killed reaper leaves behind. Linux only; needs /proc.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * Kills (SIGKILL) every child of this process but those in `keep`, and reaps the ended
 * ones. Returns how many are still there: their own children become ours when they end,
 * so it is called again until it gives 0.
 */
size_t descendants_end(const pid_t *keep, size_t keep_count);
