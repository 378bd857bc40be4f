/* command_doctor.c - paigectl doctor: runs the checks of doctor.h and sums them up. */
#include "supervisor/doctor.h"

#include <stdarg.h>
#include <stdio.h>

void doctor_say(struct doctor *d, enum finding_grade grade, const char *what,
	const char *advice, const char *format, ...)
{
	static const char *const words[] = {"fine", "note", "WRONG"};
	static const enum colour colours[] = {COLOUR_GREEN, COLOUR_YELLOW, COLOUR_RED};
	va_list args;

	terminal_print(colours[grade], "%-6s", words[grade]);
	printf(" %-12s ", what);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	if (advice && grade != FINDING_FINE)
		printf("%-20s-> %s\n", "", advice);
	fflush(stdout);
	d->troubles += grade == FINDING_TROUBLE;
	d->notes += grade == FINDING_NOTE;
}

static void say_problems(struct doctor *d, const struct buf *problems)
{
	struct str rest = buf_str(problems), line;

	while (str_take_line(&rest, &line))
		doctor_say(d, FINDING_TROUBLE, "settings", NULL, "%.*s", STR_ARG(line));
}

int paigectl_doctor(const struct options *o)
{
	struct settings settings;
	struct daemon_place place;
	struct buf problems = {0};
	struct doctor d = {.settings = &settings, .place = &place};
	int code = place_find(o, &place);

	if (code != 0) {
		place_free(&place);
		return code;
	}
	if (settings_load(&settings, options_get(o, "config"), &problems) == 0)
		doctor_say(&d, FINDING_FINE, "settings", NULL, "all values are valid");
	else
		say_problems(&d, &problems);
	doctor_directories(&d);
	doctor_daemon(&d);
	doctor_limits(&d);
	doctor_kernel(&d);
	doctor_key(&d);
	doctor_memory(&d);
	doctor_gh(&d);
	if (d.troubles)
		printf("\n%d to be mended, %d to be known\n", d.troubles, d.notes);
	else
		printf("\nNothing is wrong; %d to be known\n", d.notes);
	settings_fini(&settings);
	buf_free(&problems);
	place_free(&place);
	return d.troubles ? PAIGECTL_FAILED : PAIGECTL_DONE;
}
