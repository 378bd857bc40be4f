/* command_doctor.c - paigectl doctor: runs the checks of doctor.h and sums them up. */
#include "common/base/alloc.h"
#include "supervisor/paigectl/doctor/doctor.h"

#include "proto/codec/messages.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASK_MS 5000

static void print_finding(const struct doctor_finding *f)
{
	static const char *const words[] = {"fine", "note", "WRONG"};
	static const enum colour colours[] = {COLOUR_GREEN, COLOUR_YELLOW, COLOUR_RED};

	terminal_print(colours[f->grade], "%-6s", words[f->grade]);
	printf(" %-12.*s %.*s\n", STR_ARG(f->what), STR_ARG(f->text));
	if (f->advice.ptr)
		printf("%-20s-> %.*s\n", "", STR_ARG(f->advice));
	fflush(stdout);
}

void doctor_say(struct doctor *d, enum finding_grade grade, const char *what,
	const char *advice, const char *format, ...)
{
	struct doctor_finding f = {
		.grade = (int)grade, .has_grade = true, .what = str_of(what)};
	va_list args;

	va_start(args, format);
	f.text = arena_vprintf(&d->arena, format, args);
	va_end(args);
	if (advice && grade != FINDING_FINE)
		f.advice = arena_str(&d->arena, str_of(advice));
	d->troubles += grade == FINDING_TROUBLE;
	d->notes += grade == FINDING_NOTE;
	if (!d->json)
		print_finding(&f);
	else if (d->count < DOCTOR_FINDINGS_MAX)
		d->findings[d->count++] = f;
}

static void print_report(struct doctor *d)
{
	const struct doctor_report report = {
		.findings = {.items = d->findings, .count = d->count}};
	AUTO_BUF line = {0};

	proto_encode(doctor_report_type(), &report, &line);
	printf("%.*s\n", STR_ARG(buf_str(&line)));
}

static void say_problems(struct doctor *d, const struct buf *problems)
{
	struct str rest = buf_str(problems), line;

	while (str_take_line(&rest, &line))
		doctor_say(d, FINDING_TROUBLE, "settings", NULL, "%.*s", STR_ARG(line));
}

/*
 * Puts the settings of the running daemon into our environment, where they win over what
 * the caller has: it is the daemon that is looked at. Secrets arrive masked. False when
 * it does not tell them.
 */
static bool take_settings(const struct daemon_place *place)
{
	AUTO_ARENA arena = {0};
	struct proto_error error;
	struct ctl_config config;
	AUTO_DOC *doc = NULL;
	bool taken = client_ask(place, STR_LIT("{\"command\":\"config\"}"), ASK_MS,
			     &doc) == 0 &&
		     proto_decode(ctl_config_type(), yyjson_doc_get_root(doc), "config",
			     DECODE_LENIENT, &arena, &config, &error) == 0;

	for (size_t i = 0; taken && i < config.settings.count; i++) {
		const struct ctl_setting *s = &config.settings.items[i];

		if (setting_by_name(s->name) >= 0)
			setenv(arena_cstr(&arena, s->name), arena_cstr(&arena, s->value),
				1);
	}
	return taken;
}

/* Without a daemon and without a setting, the project is what it would be given when it
 * is started here. */
static void suggest_project(struct doctor *d, const char *config_file)
{
	const char *name = setting_info(SETTING_ID_project_dir)->name;
	struct settings settings;
	AUTO_BUF problems = {0};
	AUTO_FREE char *here = getcwd(NULL, 0);

	(void)!settings_load(&settings, config_file, &problems);
	if (here && strcmp(here, "/") != 0 &&
		settings_source(&settings, SETTING_ID_project_dir) == SETTING_DEFAULT) {
		setenv(name, here, 1);
		doctor_say(d, FINDING_NOTE, "project",
			"set it, or pass it to scripts/run or paiged --project",
			"%s is not set; checking the current directory instead", name);
	}
	settings_fini(&settings);
}

int paigectl_doctor(const struct options *o)
{
	struct settings settings;
	AUTO_PLACE place = {0};
	AUTO_BUF problems = {0};
	struct doctor d = {.settings = &settings,
		.place = &place,
		.json = options_get(o, "json") != NULL};
	int code = place_find(o, &place);

	if (code != 0)
		return code;
	d.of_daemon = place.pid && take_settings(&place);
	if (!place.pid)
		suggest_project(&d, options_get(o, "config"));
	if (settings_load(&settings, d.of_daemon ? NULL : options_get(o, "config"),
		    &problems) == 0)
		doctor_say(&d, FINDING_FINE, "settings", NULL, "all values are valid%s",
			d.of_daemon ? ", as the running daemon has them" : "");
	else
		say_problems(&d, &problems);
	doctor_directories(&d);
	doctor_daemon(&d);
	doctor_limits(&d);
	doctor_kernel(&d);
	doctor_key(&d);
	doctor_memory(&d);
	doctor_gh(&d);
	if (d.json)
		print_report(&d);
	else if (d.troubles)
		printf("\nTo fix: %d, notes: %d\n", d.troubles, d.notes);
	else
		printf("\nNothing is wrong; notes: %d\n", d.notes);
	arena_free(&d.arena);
	settings_fini(&settings);
	return d.troubles ? PAIGECTL_FAILED : PAIGECTL_DONE;
}
