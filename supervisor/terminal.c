/* terminal.c - how paigectl writes for people; see paigectl.h. */
#include "supervisor/paigectl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool wants_colours(void)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && term &&
	       strcmp(term, "dumb") != 0;
}

void terminal_print(enum colour colour, const char *format, ...)
{
	static const char *const codes[] = {
		"", "\033[31m", "\033[32m", "\033[33m", "\033[2m"};
	bool coloured = colour != COLOUR_NONE && wants_colours();
	va_list args;

	if (coloured)
		fputs(codes[colour], stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	if (coloured)
		fputs("\033[0m", stdout);
}

void terminal_duration(int64_t ms, char out[32])
{
	int64_t s = ms / 1000;

	if (ms < 1000)
		snprintf(out, 32, "%" PRId64 " ms", ms);
	else if (s < 60)
		snprintf(out, 32, "%" PRId64 " s", s);
	else if (s < 3600)
		snprintf(out, 32, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, 32, "%" PRId64 " h %" PRId64 " min", s / 3600,
			s % 3600 / 60);
	else
		snprintf(out, 32, "%" PRId64 " d %" PRId64 " h", s / 86400,
			s % 86400 / 3600);
}

void terminal_bytes(int64_t bytes, char out[32])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	size_t i = 0;

	while (value >= 1024 && i + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		i++;
	}
	snprintf(out, 32, i ? "%.1f %s" : "%.0f %s", value, units[i]);
}
