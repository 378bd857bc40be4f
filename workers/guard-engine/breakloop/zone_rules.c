/* zone_rules.c - see zone_rules.h. */
#include "workers/guard-engine/breakloop/zone_rules.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#define HEADER_BYTES 44
#define DAY_S 86400
#define MAX_NAME 100

/* ---- the calendar ---- */

/* Days from 1970-01-01 to a day of the proleptic Gregorian calendar; month from 1. */
static int64_t days_from_civil(int64_t year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t of_era = y - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static int64_t year_of(int64_t local_s)
{
	int64_t days = floor_div(local_s, DAY_S);
	int64_t year = 1970 + floor_div(days * 400, 146097);

	while (days_from_civil(year + 1, 1, 1) <= days)
		year++;
	while (days_from_civil(year, 1, 1) > days)
		year--;
	return year;
}

static bool leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Local midnight of that day in that year, in seconds since 1970. */
static int64_t day_start_s(const struct zone_day *d, int64_t year)
{
	int64_t first, days;
	int weekday;

	switch (d->kind) {
	case ZONE_DAY_JULIAN:
		days = days_from_civil(year, 1, 1) + d->day - 1 +
		       (leap(year) && d->day >= 60);
		return days * DAY_S;
	case ZONE_DAY_OF_YEAR:
		return (days_from_civil(year, 1, 1) + d->day) * DAY_S;
	case ZONE_DAY_MONTH_WEEK:
		break;
	}
	first = days_from_civil(year, d->month, 1);
	weekday =
		(int)((first % 7 + 11) % 7); /* 1970-01-01 was a Thursday; Sunday is 0 */
	days = first + (d->day - weekday + 7) % 7 + (d->week - 1) * 7;
	/* Week 5 is the last one. */
	if (days >= (d->month == 12 ? days_from_civil(year + 1, 1, 1)
				    : days_from_civil(year, d->month + 1, 1)))
		days -= 7;
	return days * DAY_S;
}

/* ---- the rule behind the last transition: a POSIX TZ string ---- */

struct reader {
	const char *p, *end;
	bool bad;
};

static bool take(struct reader *r, char c)
{
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static int take_number(struct reader *r, int max)
{
	int value = 0;
	const char *start = r->p;

	while (r->p < r->end && isdigit((unsigned char)*r->p) && value <= max)
		value = value * 10 + (*r->p++ - '0');
	if (r->p == start || value > max)
		r->bad = true;
	return value;
}

static void take_name(struct reader *r)
{
	const char *start = r->p;

	if (take(r, '<')) {
		while (r->p < r->end && *r->p != '>')
			r->p++;
		if (!take(r, '>'))
			r->bad = true;
		return;
	}
	while (r->p < r->end && isalpha((unsigned char)*r->p))
		r->p++;
	if (r->p - start < 3)
		r->bad = true;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static int32_t take_time(struct reader *r)
{
	int sign = take(r, '-') ? -1 : 1;
	int32_t seconds;

	if (sign == 1)
		take(r, '+');
	seconds = take_number(r, 167) * 3600;
	if (take(r, ':')) {
		seconds += take_number(r, 59) * 60;
		if (take(r, ':'))
			seconds += take_number(r, 59);
	}
	return sign * seconds;
}

static void take_day(struct reader *r, struct zone_day *d)
{
	if (take(r, 'M')) {
		d->kind = ZONE_DAY_MONTH_WEEK;
		d->month = take_number(r, 12);
		r->bad |= !take(r, '.');
		d->week = take_number(r, 5);
		r->bad |= !take(r, '.');
		d->day = take_number(r, 6);
		r->bad |= d->month < 1 || d->week < 1;
	} else if (take(r, 'J')) {
		d->kind = ZONE_DAY_JULIAN;
		d->day = take_number(r, 365);
		r->bad |= d->day < 1;
	} else {
		d->kind = ZONE_DAY_OF_YEAR;
		d->day = take_number(r, 365);
	}
	d->time_s = take(r, '/') ? take_time(r) : 7200;
}

static int parse_rule(struct str text, struct zone *z)
{
	struct reader r = {text.ptr, text.ptr + text.len, false};

	if (text.len == 0) {
		/* No rule: the last offset holds for ever. */
		z->standard_s = z->count ? z->offset_s[z->count - 1] : z->first_offset_s;
		return 0;
	}
	take_name(&r);
	z->standard_s = -take_time(&r);
	if (r.p < r.end && !r.bad) {
		take_name(&r);
		z->has_summer = true;
		z->summer_s = z->standard_s + 3600;
		if (r.p < r.end && *r.p != ',')
			z->summer_s = -take_time(&r);
		r.bad |= !take(&r, ',');
		take_day(&r, &z->summer_begins);
		r.bad |= !take(&r, ',');
		take_day(&r, &z->summer_ends);
	}
	return r.bad || r.p != r.end ? -EINVAL : 0;
}

/* The two changes of a year, in Unix seconds. */
static void rule_changes(
	const struct zone *z, int64_t year, int64_t *begins, int64_t *ends)
{
	*begins = day_start_s(&z->summer_begins, year) + z->summer_begins.time_s -
		  z->standard_s;
	*ends = day_start_s(&z->summer_ends, year) + z->summer_ends.time_s - z->summer_s;
}

static int32_t rule_offset(const struct zone *z, int64_t utc_s)
{
	int64_t begins, ends;
	bool summer;

	if (!z->has_summer)
		return z->standard_s;
	rule_changes(z, year_of(utc_s + z->standard_s), &begins, &ends);
	if (begins < ends)
		summer = utc_s >= begins && utc_s < ends;
	else
		summer = utc_s >= begins || utc_s < ends;
	return summer ? z->summer_s : z->standard_s;
}

static int64_t rule_next_change(const struct zone *z, int64_t utc_s)
{
	int64_t year = year_of(utc_s + z->standard_s), next = INT64_MAX;

	if (!z->has_summer)
		return INT64_MAX;
	for (int64_t y = year - 1; y <= year + 1; y++) {
		int64_t changes[2];

		rule_changes(z, y, &changes[0], &changes[1]);
		for (int i = 0; i < 2; i++)
			if (changes[i] > utc_s && changes[i] < next)
				next = changes[i];
	}
	return next;
}

/* ---- the file ---- */

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t be64(const unsigned char *p)
{
	return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4));
}

struct counts {
	size_t isut, isstd, leap, time, type, chars;
};

/* Reads a header; 0, or -EINVAL. */
static int header(struct str bytes, struct counts *n)
{
	const unsigned char *p = (const unsigned char *)bytes.ptr;

	if (bytes.len < HEADER_BYTES || memcmp(p, "TZif", 4) != 0 || p[4] < '2')
		return -EINVAL;
	*n = (struct counts){be32(p + 20), be32(p + 24), be32(p + 28), be32(p + 32),
		be32(p + 36), be32(p + 40)};
	return n->type == 0 || n->type > 256 || n->time > 100000 || n->chars > 4096 ||
			       n->leap > 10000 || n->isut > 256 || n->isstd > 256
		       ? -EINVAL
		       : 0;
}

static size_t block_bytes(const struct counts *n, size_t time_bytes)
{
	return n->time * (time_bytes + 1) + n->type * 6 + n->chars +
	       n->leap * (time_bytes + 4) + n->isstd + n->isut;
}

static int read_block(const unsigned char *block, const struct counts *n, struct zone *z)
{
	const unsigned char *kinds = block + n->time * 8, *types = kinds + n->time;

	if (n->time > ZONE_MAX_TRANSITIONS)
		return -EINVAL;
	z->first_offset_s = (int32_t)be32(types);
	for (size_t i = 0; i < n->time; i++) {
		if (kinds[i] >= n->type)
			return -EINVAL;
		z->at_s[i] = be64(block + i * 8);
		z->offset_s[i] = (int32_t)be32(types + (size_t)kinds[i] * 6);
		if (i && z->at_s[i] <= z->at_s[i - 1])
			return -EINVAL;
	}
	z->count = (int)n->time;
	return 0;
}

int zone_parse(struct str bytes, struct zone *out)
{
	struct counts n;
	size_t skip;
	const char *end;

	*out = (struct zone){0};
	/* The first block has 32-bit times, for readers of old. */
	if (header(bytes, &n) < 0)
		return -EINVAL;
	skip = HEADER_BYTES + block_bytes(&n, 4);
	if (bytes.len < skip)
		return -EINVAL;
	bytes = (struct str){bytes.ptr + skip, bytes.len - skip};
	if (header(bytes, &n) < 0)
		return -EINVAL;
	skip = HEADER_BYTES + block_bytes(&n, 8);
	if (bytes.len < skip + 2 || bytes.ptr[skip] != '\n')
		return -EINVAL;
	if (read_block((const unsigned char *)bytes.ptr + HEADER_BYTES, &n, out) < 0)
		return -EINVAL;
	bytes = (struct str){bytes.ptr + skip + 1, bytes.len - skip - 1};
	end = memchr(bytes.ptr, '\n', bytes.len);
	if (!end)
		return -EINVAL;
	return parse_rule((struct str){bytes.ptr, (size_t)(end - bytes.ptr)}, out);
}

void zone_fixed(int32_t offset_s, struct zone *out)
{
	*out = (struct zone){.first_offset_s = offset_s, .standard_s = offset_s};
}

/* Number of transitions at or before utc_s. */
static int passed(const struct zone *z, int64_t utc_s)
{
	int low = 0, high = z->count;

	while (low < high) {
		int middle = (low + high) / 2;

		if (z->at_s[middle] <= utc_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int32_t zone_offset(const struct zone *z, int64_t utc_s)
{
	int n = passed(z, utc_s);

	if (n == z->count)
		return rule_offset(z, utc_s);
	return n == 0 ? z->first_offset_s : z->offset_s[n - 1];
}

int64_t zone_next_change(const struct zone *z, int64_t utc_s)
{
	int n = passed(z, utc_s);

	return n < z->count ? z->at_s[n] : rule_next_change(z, utc_s);
}

bool zone_name_valid(struct str name)
{
	if (name.len == 0 || name.len > MAX_NAME || !isalnum((unsigned char)name.ptr[0]))
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];

		if (!isalnum((unsigned char)c) && !char_is_in(c, "/_+-"))
			return false;
		if (c == '/' && (i + 1 == name.len || name.ptr[i + 1] == '/'))
			return false;
	}
	return true;
}
