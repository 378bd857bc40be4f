/*
 * recent.h - the last lines of a log file, to be shown to somebody. Called by logs.c.
 */
#ifndef PAIGE_SUPERVISOR_PAIGED_LOGS_RECENT_H
#define PAIGE_SUPERVISOR_PAIGED_LOGS_RECENT_H

#include "common/base/arena.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "proto/codec/codec.h"

/* As logs_recent (logs.h), of the file at `path`. */
struct strs recent_read(
	const char *path, enum log_level level, size_t lines, struct arena *arena);

/* Pure. The line with a question mark for each character but tab that utf8_shown (utf8.h)
 * would not show as it is; in the arena. */
struct str recent_safe(struct str line, struct arena *arena);

#endif
