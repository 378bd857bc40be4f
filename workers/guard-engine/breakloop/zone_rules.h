/*
 * zone_rules.h - the rules of one time zone: which offset from UTC holds when.
 *
 * Read from the bytes of a TZif file (RFC 9636) of the system's time zone database, or
 * made for a fixed offset. Pure: the caller passes in the bytes of the file.
 */
#pragma once

#include "common/base/str.h"
#include <stdint.h>

/* Changes of offset in one file; the longest of the database has some 240. */
#define ZONE_MAX_TRANSITIONS 1024

enum zone_day_kind {
	ZONE_DAY_MONTH_WEEK, /* Mm.w.d */
	ZONE_DAY_JULIAN,     /* Jn: 1 to 365, February 29 is never counted */
	ZONE_DAY_OF_YEAR,    /* n: 0 to 365 */
};

/* A day of every year and a time of it, in seconds from its midnight. */
struct zone_day {
	enum zone_day_kind kind;
	int month, week, day; /* day alone for the other two kinds */
	int32_t time_s;
};

struct zone {
	int count;
	int64_t at_s[ZONE_MAX_TRANSITIONS];	/* when, Unix seconds, ascending */
	int32_t offset_s[ZONE_MAX_TRANSITIONS]; /* seconds east of UTC from then on */
	int32_t first_offset_s;			/* before the first */
	/* after the last: a rule for every year */
	int32_t standard_s;
	bool has_summer;
	int32_t summer_s;
	struct zone_day summer_begins; /* in standard time */
	struct zone_day summer_ends;   /* in summer time */
};

/* 0, or -EINVAL when the bytes are no TZif file of version 2 or later, or one that is too
 * long. */
int zone_parse(struct str bytes, struct zone *out) __attribute__((warn_unused_result));
void zone_fixed(int32_t offset_s, struct zone *out);

/* Seconds east of UTC. */
int32_t zone_offset(const struct zone *z, int64_t utc_s);

/* The next moment after utc_s at which the offset may change; INT64_MAX for never. */
int64_t zone_next_change(const struct zone *z, int64_t utc_s);

/* Whether it may be a name in the database ("Asia/Kathmandu"), and not a path out of
 * it. */
bool zone_name_valid(struct str name);
