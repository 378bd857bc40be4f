/* clock.c - time (clock.h). */
#include "common/clock.h"
#include <errno.h>
#include <stdio.h>
#include <time.h>

static const struct clock_source *injected;

static int64_t read_us(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

struct mono clock_mono(void)
{
	if (injected && injected->mono)
		return injected->mono(injected->arg);
	return (struct mono){read_us(CLOCK_MONOTONIC)};
}

struct wall clock_wall(void)
{
	if (injected && injected->wall)
		return injected->wall(injected->arg);
	return (struct wall){read_us(CLOCK_REALTIME)};
}

void clock_inject(const struct clock_source *source)
{
	injected = source;
}

void wall_iso(struct wall t, char out[WALL_ISO_SIZE])
{
	int64_t ms = t.us / 1000;
	time_t seconds = (time_t)(ms / 1000);
	int rest = (int)(ms % 1000);
	char text[64];
	struct tm tm;

	if (rest < 0) {
		rest += 1000;
		seconds--;
	}
	gmtime_r(&seconds, &tm);
	snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
		tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
		tm.tm_sec, rest);
	/* Years beyond 9999 do not occur; cut rather than overrun if they do. */
	memcpy(out, text, WALL_ISO_SIZE - 1);
	out[WALL_ISO_SIZE - 1] = '\0';
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
	static const char form[] = "dddd-dd-ddTdd:dd:dd.dddZ";
	int year, month, day, hour, minute, second, ms;
	char again[WALL_ISO_SIZE];
	struct wall found;
	struct tm tm = {0};
	const char *p = text.ptr;

	if (!p || text.len != WALL_ISO_SIZE - 1)
		return -EINVAL;
	for (size_t i = 0; i < text.len; i++)
		if (form[i] != 'd' && p[i] != form[i])
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
	found.us = ((int64_t)timegm(&tm) * 1000 + ms) * 1000;
	/* timegm accepts the 31st of February; what it made of it prints differently. */
	wall_iso(found, again);
	if (memcmp(again, p, text.len) != 0)
		return -EINVAL;
	*out = found;
	return 0;
}
