/*
 * zone_cache.h - time zones by name, from the system's database; the last ones that were used
 * are kept.
 *
 * Reads files below ZONE_CACHE_FOLDER, which the worker may read; called by the engine when an
 * event needs the quota window that the wall clock is in. Never by a machine.
 */
#pragma once

#include "workers/guard-engine/breakloop/zone_rules.h"
#include <stddef.h>

#define ZONE_CACHE_FOLDER "/usr/share/zoneinfo"
#define ZONE_CACHE_MAX_FILE 65536
#define ZONE_CACHE_KEPT 16

/* NULL when the database has no such zone, or its file cannot be read; valid until the
 * next call. */
const struct zone *zone_cache_find(struct str name);

/* Name of the computer's own zone: TZ, else where /etc/localtime points to, else UTC. */
#define ZONE_CACHE_NAME_SIZE 101
void zone_cache_local(char out[ZONE_CACHE_NAME_SIZE]);
