/*
 * upkeep.h - the store's work between calls: keeps the log short, checks the file,
 * reports its health.
 */
#pragma once

struct store;

/* Between two looks at the file: is it in place, did somebody else write into it? */
#define UPKEEP_CHECK_MS 5000
/* Between two attempts to write while writing fails. */
#define UPKEEP_PROBE_MS 1000
/* Dropped actions are warned of once in this time. */
#define UPKEEP_DROPPED_MS 1000

void upkeep_start(struct store *store);
/* Tells the supervisor and the log what store->health says, if that changed. Nothing
 * before upkeep_start. */
void upkeep_tell(struct store *store);
/* After each group: `result` of group_run. */
void upkeep_after_group(struct store *store, int result);
/* Ends the timers and cuts the log, as the last thing before the database is closed. */
void upkeep_stop(struct store *store);
