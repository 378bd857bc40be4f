/*
 * orphans.h - workers that outlived a supervisor which was killed.
 *
 * They leave by themselves within WORKER_ORPHAN_MS; until then two programs would write
 * the same files.
 */
#pragma once

#include <stddef.h>

/*
 * Ends the workers of an earlier run that have `runtime_dir` in their environment: asks
 * first, and uses force after WORKER_ORPHAN_MS. Waits for them, so it is only called when
 * the last run ended uncleanly. Returns how many there were.
 */
size_t orphans_end(const char *runtime_dir);
