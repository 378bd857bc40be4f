/* clock.c - time (clock.h). */
#include "common/base/clock.h"
#include <errno.h>
#include <time.h>

static int64_t read_us(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

struct mono clock_mono(void)
{
	return (struct mono){read_us(CLOCK_MONOTONIC)};
}

struct wall clock_wall(void)
{
	return (struct wall){read_us(CLOCK_REALTIME)};
}

/* The letters d are digits. */
static const char iso_form[WALL_ISO_SIZE] = "dddd-dd-ddTdd:dd:dd.dddZ";

/* Rows and events are stamped by the ten thousand a second; printf is most of it. */
static void put_digits(char *to, int n, int value)
{
	for (int i = n - 1; i >= 0; i--, value /= 10)
		to[i] = (char)('0' + value % 10);
}

struct wall wall_midnight(struct wall t, int64_t days_before)
{
	const int64_t day_us = INT64_C(86400) * 1000000;
	int64_t past = t.us % day_us;

	if (past < 0) /* before 1970 */
		past += day_us;
	return (struct wall){t.us - past - days_before * day_us};
}

void wall_iso(struct wall t, char out[WALL_ISO_SIZE])
{
	int64_t ms = t.us / 1000;
	time_t seconds = (time_t)(ms / 1000);
	int rest = (int)(ms % 1000);
	struct tm tm;

	if (rest < 0) {
		rest += 1000;
		seconds--;
	}
	gmtime_r(&seconds, &tm);
	memcpy(out, iso_form, WALL_ISO_SIZE);
	/* Years beyond 9999 do not occur; they lose their first digits if they do. */
	put_digits(out, 4, tm.tm_year + 1900);
	put_digits(out + 5, 2, tm.tm_mon + 1);
	put_digits(out + 8, 2, tm.tm_mday);
	put_digits(out + 11, 2, tm.tm_hour);
	put_digits(out + 14, 2, tm.tm_min);
	put_digits(out + 17, 2, tm.tm_sec);
	put_digits(out + 20, 3, rest);
}

static bool digits(const char *p, int n, int *out)
{
	int value = 0;

	for (int i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		value = value * 10 + (p[i] - '0');
	}
	*out = value;
	return true;
}

int wall_parse(struct str text, struct wall *out)
{
	int year, month, day, hour, minute, second, ms;
	struct tm tm = {0};
	int64_t seconds;
	const char *p = text.ptr;

	if (!p || text.len != WALL_ISO_SIZE - 1)
		return -EINVAL;
	for (size_t i = 0; i < text.len; i++)
		if (iso_form[i] != 'd' && p[i] != iso_form[i])
			return -EINVAL;
	if (!digits(p, 4, &year) || !digits(p + 5, 2, &month) ||
		!digits(p + 8, 2, &day) || !digits(p + 11, 2, &hour) ||
		!digits(p + 14, 2, &minute) || !digits(p + 17, 2, &second) ||
		!digits(p + 20, 3, &ms))
		return -EINVAL;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	tm.tm_mday = day;
	tm.tm_hour = hour;
	tm.tm_min = minute;
	tm.tm_sec = second;
	seconds = timegm(&tm);
	/* timegm accepts the 31st of February, and corrects what it was given. */
	if (tm.tm_year != year - 1900 || tm.tm_mon != month - 1 || tm.tm_mday != day ||
		tm.tm_hour != hour || tm.tm_min != minute || tm.tm_sec != second)
		return -EINVAL;
	out->us = (seconds * 1000 + ms) * 1000;
	return 0;
}
