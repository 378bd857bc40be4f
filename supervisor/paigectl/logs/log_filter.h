/* log_filter.h - which lines of logs are shown, and the times that people write. */
#pragma once

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include <regex.h>

struct log_filter {
	enum log_level level;	   /* and above */
	char since[WALL_ISO_SIZE]; /* from it on; "" for any */
	char until[WALL_ISO_SIZE]; /* before it; "" for any */
	bool has_pattern;
	regex_t pattern; /* of regcomp, without REG_NOSUB */
};

/*
 * Reads a time: a date, or a date, "T" or a blank, and a time of day, of UTC (2026-11-29,
 * 2026-11-29T12:30, 2026-11-29T12:30:05.250Z), or how long before `now` (90s, 10m, 2h, 3d).
 * Writes it as the lines have it. 0, or -EINVAL.
 */
int log_filter_time(const char *text, struct wall now, char out[WALL_ISO_SIZE])
	__attribute__((warn_unused_result));

/* Whether a line is shown. `time` is its own or that of the line before it, absent when none is known: such a line is shown only
 * where no time is asked for. */
bool log_filter_wants(const struct log_filter *f, struct str line, struct str time);
