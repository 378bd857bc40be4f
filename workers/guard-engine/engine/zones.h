/*
 * zones.h - time zones by name, from the system's database; the last ones that were used
 * are kept.
 *
 * Reads files below ZONES_FOLDER, which the worker may read; called by the engine when an
 * event needs the quota window that the wall clock is in. Never by a machine.
 */
#ifndef PAIGE_GUARD_ENGINE_ENGINE_ZONES_H
#define PAIGE_GUARD_ENGINE_ENGINE_ZONES_H

#include "workers/guard-engine/breakloop/zone.h"
#include <stddef.h>

#define ZONES_FOLDER "/usr/share/zoneinfo"
#define ZONES_MAX_FILE 65536
#define ZONES_KEPT 16

/* NULL when the database has no such zone, or its file cannot be read; valid until the
 * next call. */
const struct zone *zones_find(struct str name);

/* Name of the computer's own zone: TZ, else where /etc/localtime points to, else UTC. */
#define ZONES_NAME_SIZE 101
void zones_local(char out[ZONES_NAME_SIZE]);

#endif
