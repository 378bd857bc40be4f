/* command_status.c - paigectl status and config. */
#include "proto/codec/messages.h"
#include "supervisor/paigectl/paigectl.h"
#include "supervisor/shared/settings_report.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ASK_MS 10000

/* ---- status ---- */

/* What a line of the table has no room for. */
static void print_conditions(const struct ctl_status *s)
{
	bool any = false;

	for (size_t i = 0; i < s->workers.count; i++) {
		const struct ctl_worker *w = &s->workers.items[i];
		const bool fine = str_is(w->condition, "fine");
		const char *separator = fine ? "" : "; ";

		if (str_is(w->state, "stopped")) {
			printf("%s%-13.*s stopped; `paigectl start %.*s` starts it\n",
				any ? "" : "\n", STR_ARG(w->name), STR_ARG(w->name));
			any = true;
			continue;
		}
		if (fine && w->restarts.window_60s == 0)
			continue;
		printf("%s%-13.*s ", any ? "" : "\n", STR_ARG(w->name));
		if (!fine)
			terminal_print(COLOUR_YELLOW, "%.*s%s%.*s", STR_ARG(w->condition),
				w->reason.len ? ": " : "", STR_ARG(w->reason));
		if (!fine && w->confinement.len)
			printf("; confined with %.*s", STR_ARG(w->confinement));
		if (w->restarts.window_60s > 0)
			printf("%s%" PRId64 " restart%s in the last minute", separator,
				w->restarts.window_60s,
				w->restarts.window_60s == 1 ? "" : "s");
		putchar('\n');
		any = true;
	}
}

static void print_last_exits(const struct ctl_status *s)
{
	bool any = false;

	for (size_t i = 0; i < s->workers.count; i++) {
		const struct ctl_worker *w = &s->workers.items[i];

		if (!w->has_last_exit)
			continue;
		printf("%s%-13.*s %.*s  %.*s\n", any ? "" : "\nLast exits:\n",
			STR_ARG(w->name), STR_ARG(w->last_exit.at),
			STR_ARG(w->last_exit.meaning));
		any = true;
		if (w->has_next_start_ms)
			printf("%-13s will be restarted in %" PRId64 " ms\n", "",
				w->next_start_ms);
		if (str_is(w->state, "parked"))
			printf("%-13s fix what is wrong, then run `paigectl restart "
			       "%.*s`\n",
				"", STR_ARG(w->name));
	}
}

static void print_gaps(const struct ctl_status *s)
{
	if (s->confinement_gaps.count == 0)
		return;
	printf("\nWith the Landlock of this kernel (ABI %" PRId64
	       ") confined workers may still:\n",
		s->landlock_abi);
	for (size_t i = 0; i < s->confinement_gaps.count; i++)
		printf("  %.*s\n", STR_ARG(s->confinement_gaps.items[i]));
}

static void print_status(const struct ctl_status *s)
{
	char up[32], rss[32];

	terminal_duration(s->uptime_ms, up);
	terminal_bytes(s->rss_bytes, rss);
	printf("Paige %.*s is ", STR_ARG(s->version));
	terminal_print(str_is(s->state, "running") ? COLOUR_GREEN : COLOUR_YELLOW, "%.*s",
		STR_ARG(s->state));
	printf(" on %.*s (process %" PRId64 ")\n  up       %s, %s\n", STR_ARG(s->url),
		s->pid, up, rss);
	printf("  project  %.*s\n  data     %.*s\n  session  %.*s\n",
		STR_ARG(s->project_dir), STR_ARG(s->data_dir),
		STR_ARG(s->session.ptr ? s->session : STR_LIT("none")));
	if (s->log_lines_dropped > 0)
		terminal_print(COLOUR_RED,
			"  %" PRId64
			" log lines could not be written: is the disk full?\n",
			s->log_lines_dropped);
	putchar('\n');
	worker_table_print(s);
	print_conditions(s);
	print_gaps(s);
	print_last_exits(s);
}

bool paigectl_worker_lacks(const struct ctl_worker *w)
{
	return str_is(w->want, "up") && !str_is(w->state, "ready");
}

/* 0 when all workers that are wanted are there. */
static int verdict(const struct ctl_status *s)
{
	for (size_t i = 0; i < s->workers.count; i++)
		if (paigectl_worker_lacks(&s->workers.items[i]))
			return PAIGECTL_FAILED;
	return PAIGECTL_DONE;
}

int paigectl_status(const struct options *o)
{
	AUTO_PLACE place = {0};
	AUTO_ARENA arena = {0};
	struct ctl_status status;
	AUTO_DOC *doc = NULL;
	int code = place_find(o, &place);

	if (code == 0)
		code = client_status(&place, ASK_MS, &arena, &status, &doc);
	if (code == 0 && options_get(o, "json"))
		code = paigectl_print_json(yyjson_doc_get_root(doc));
	else if (code == 0)
		print_status(&status);
	if (code == 0)
		code = verdict(&status);
	return code;
}

/* ---- config ---- */

static void print_setting(
	struct str name, struct str value, struct str source, struct str meaning)
{
	printf("%.*s=%.*s", STR_ARG(name), STR_ARG(value));
	terminal_print(
		COLOUR_DIM, "\n    %.*s. %.*s.\n", STR_ARG(source), STR_ARG(meaning));
}

/* What a daemon that is started here would use, as the answer of a daemon has it. */
static int local_config(const struct options *o, yyjson_doc **doc)
{
	struct settings settings;
	AUTO_BUF problems = {0}, json = {0};
	struct proto_error error;

	if (settings_load(&settings, options_get(o, "config"), &problems) != 0)
		fprintf(stderr, "A daemon would not start with this:\n%.*s",
			STR_ARG(buf_str(&problems)));
	settings_report(&settings, &json);
	*doc = proto_parse(buf_str(&json), &error);
	settings_fini(&settings);
	return *doc ? 0 : paigectl_fail(PAIGECTL_FAILED, "%s", error.text);
}

int paigectl_config(const struct options *o)
{
	AUTO_PLACE place = {0};
	AUTO_ARENA arena = {0};
	struct ctl_config config;
	AUTO_DOC *doc = NULL;
	int code = place_find(o, &place);

	if (code == 0 && place.pid)
		code = client_ask(
			&place, STR_LIT("{\"command\":\"config\"}"), ASK_MS, &doc);
	else if (code == 0)
		code = local_config(o, &doc);
	if (code == 0)
		code = client_read(
			yyjson_doc_get_root(doc), ctl_config_type(), &arena, &config);
	if (code == 0 && options_get(o, "json")) {
		code = paigectl_print_json(yyjson_doc_get_root(doc));
	} else if (code == 0) {
		if (place.pid)
			printf("# Settings of the running daemon (process %d)\n",
				(int)place.pid);
		else
			printf("# Settings of a daemon that is started here; none is "
			       "running\n");
		for (size_t i = 0; i < config.settings.count; i++) {
			const struct ctl_setting *s = &config.settings.items[i];

			print_setting(s->name, s->value, s->source, s->meaning);
		}
	}
	return code;
}
