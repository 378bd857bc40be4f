/* log_filter.c - see log_filter.h. Called by command_logs.c. */
#include "supervisor/paigectl/logs/log_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AGE_MAX_DAYS 36500

/* "10m": how long ago. */
static int read_age(const char *text, struct wall now, char out[WALL_ISO_SIZE])
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	char *end;
	long value;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtol(text, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (end[0] != units[i].unit || end[1] != '\0')
			continue;
		if (errno || value > AGE_MAX_DAYS * 86400L / units[i].seconds)
			return -EINVAL;
		now.us -= value * units[i].seconds * 1000000;
		if (now.us < 0)
			now.us = 0;
		wall_iso(now, out);
		return 0;
	}
	return -EINVAL;
}

int log_filter_time(const char *text, struct wall now, char out[WALL_ISO_SIZE])
{
	/* What a time that is cut short leaves out. */
	static const char rest[WALL_ISO_SIZE] = "0000-00-00T00:00:00.000Z";
	size_t n = strlen(text);
	struct wall parsed;

	if (n > 0 && text[n - 1] == 'Z' && n != sizeof(rest) - 1)
		n--;
	if (n != 10 && n != 16 && n != 19 && n != 23 && n != 24)
		return read_age(text, now, out);
	memcpy(out, rest, sizeof(rest));
	memcpy(out, text, n);
	if (n > 10 && text[10] == ' ')
		out[10] = 'T';
	return wall_parse(str_of(out), &parsed);
}

bool log_filter_wants(const struct log_filter *f, struct str line, struct str time)
{
	regmatch_t whole = {.rm_so = 0, .rm_eo = (regoff_t)line.len};

	if (line.len == 0 || log_level_of_line(line.ptr, line.len) < f->level)
		return false;
	if (*f->since && (!time.ptr || str_order(time, str_of(f->since)) < 0))
		return false;
	if (*f->until && (!time.ptr || str_order(time, str_of(f->until)) >= 0))
		return false;
	return !f->has_pattern ||
	       regexec(&f->pattern, line.ptr, 1, &whole, REG_STARTEND) == 0;
}
