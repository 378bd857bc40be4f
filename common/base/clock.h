/*
 * clock.h - time, in two types that do not mix.
 *
 * Monotonic time measures (deadlines, timeouts, ages); wall time names a moment for people and rows.
 * Both count microseconds. Pure cores take times as arguments and never call these functions.
 */
#pragma once

#include "common/base/str.h"
#include <stdint.h>

struct mono {
	int64_t us; /* since an unspecified start; does not count suspend */
};

struct wall {
	int64_t us; /* since 1970-01-01T00:00:00Z */
};

struct mono clock_mono(void);
struct wall clock_wall(void);

static inline struct mono mono_add_ms(struct mono t, int64_t ms)
{
	return (struct mono){t.us + ms * 1000};
}

static inline int64_t mono_diff_ms(struct mono later, struct mono earlier)
{
	return (later.us - earlier.us) / 1000;
}

static inline int64_t wall_ms(struct wall t)
{
	return t.us / 1000;
}

#define WALL_ISO_SIZE 25 /* "2026-11-27T12:00:00.000Z" and NUL */

/* ISO 8601 in UTC with milliseconds and Z, the one format of rows and messages (X3). */
void wall_iso(struct wall t, char out[WALL_ISO_SIZE]);
/* The midnight (UTC) that began the day of `t`, or one so many days before it. */
struct wall wall_midnight(struct wall t, int64_t days_before);
/* 0, or -EINVAL when text is not exactly of that format; *out untouched on failure. */
int wall_parse(struct str text, struct wall *out) __attribute__((warn_unused_result));
