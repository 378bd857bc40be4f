/*
 * docgen.c - writes man pages, the completions of shells and the example of the configuration
 * from the tables.
 *
 * Runs while the project is built and is not installed. The tables are commands.def,
 * settings.def, workers.def, exits.def and paigectl_exits.def; what stands here is only
 * the frame around them.
 */
#include "common/base/alloc.h"
#include "common/settings/settings.h"
#include "paige-config.h"
#include "proto/codec/messages.h"
#include "proto/worker.h"
#include "supervisor/docgen_completion.h"
#include "supervisor/shared/options.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- roff ---- */

/* Text of a table: backslashes and dashes are the letters they look like, a line cannot
 * begin with a control character. */
static void roff(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else
			putchar(*text);
	}
}

static void head(const char *name, int section, const char *summary)
{
	printf(".TH \"%s\" \"%d\" \"\" \"Paige " PAIGE_VERSION "\" \"Paige\"\n.SH NAME\n",
		name, section);
	roff(name);
	fputs(" \\- ", stdout);
	roff(summary);
	puts("");
}

static void section(const char *title)
{
	printf(".SH %s\n", title);
}

static void paragraph(const char *text)
{
	puts(".PP");
	roff(text);
	puts("");
}

/* A word with its explanation. */
static void item(const char *word, const char *text)
{
	fputs(".TP\n.B ", stdout);
	roff(word);
	puts("");
	roff(text);
	puts("");
}

static void option(const struct option_info *o)
{
	printf(".TP\n.BR \\-%c \", \" \\-\\-", o->letter);
	roff(o->name);
	if (o->argument) {
		fputs(" \" \" ", stdout);
		roff(o->argument);
	}
	puts("");
	roff(o->meaning);
	puts(".");
}

static void options_of(enum command_id command)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_infos[i].command == command)
			option(&option_infos[i]);
}

/* `pages` is "paiged(8) paige.conf(5)". */
static void see_also(const char *pages)
{
	section("SEE ALSO");
	while (*pages) {
		size_t name = strcspn(pages, "("), all = strcspn(pages, " ");

		printf(".BR %.*s %.*s%s\n", (int)name, pages, (int)(all - name),
			pages + name, pages[all] ? "," : "");
		pages += all + (pages[all] != '\0');
	}
}

/* ---- pages ---- */

static void man_paigectl(void)
{
	head("paigectl", 1, "inspect and control the Paige daemon");
	section("SYNOPSIS");
	puts(".B paigectl\n.I COMMAND\n[\\fIoption\\fR...] [\\fIoperand\\fR...]");
	section("DESCRIPTION");
	paragraph("Talks to the daemon that uses DATA_DIR, which is read as paiged(8) "
		  "reads "
		  "it: from the environment, from .env in the current directory, or from "
		  "paige.conf(5). If none of them sets DATA_DIR, paigectl talks to the "
		  "daemon on the default DATA_DIR, else to the one that was started with "
		  "the same --config, else to the only one that runs: of this user or, "
		  "for root, of a systemd unit. Output is coloured on a terminal unless "
		  "NO_COLOR is set.");
	section("COMMANDS");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (i == COMMAND_PAIGED)
			continue;
		printf(".SS ");
		roff(command_infos[i].name);
		putchar(' ');
		roff(command_infos[i].operands);
		puts("");
		roff(command_infos[i].description);
		puts("");
		options_of((enum command_id)i);
	}
	section("OPTIONS OF EVERY COMMAND");
	options_of(COMMAND_EVERY);
	section("EXIT STATUS");
#define PAIGECTL_EXIT(symbol, code, doc) item(#code, doc);
#include "supervisor/shared/paigectl_exits.def"
#undef PAIGECTL_EXIT
	see_also("paiged(8) paige.conf(5) paige-demo(1)");
}

static void worker_items(void)
{
	for (int i = 0; i < WORKER_COUNT; i++)
		item(worker_infos[i].name, worker_infos[i].does);
}

static void exit_items(void)
{
	static const struct {
		int code;
		const char *does, *doc;
	} exits[] = {
#define WORKER_EXIT(symbol, code_, does_, doc_) {code_, does_, doc_},
#include "proto/catalogue/exits.def"
#undef WORKER_EXIT
	};

	for (size_t i = 0; i < sizeof(exits) / sizeof(exits[0]); i++) {
		printf(".TP\n.B %d\n", exits[i].code);
		roff(exits[i].doc);
		printf(" The worker is ");
		roff(exits[i].does);
		puts(".");
	}
}

static void conf_items(void)
{
	item(PAIGE_SYSCONFDIR "/paige/paige.conf", "Settings of paiged.service.");
	item(PAIGE_SYSCONFDIR "/paige/NAME.conf", "Settings of paiged@NAME.service.");
	item("~/.config/paige/paige.conf", "Settings of your own daemon.");
}

static void man_paiged(void)
{
	head("paiged", 8, "the Paige daemon");
	section("SYNOPSIS");
	puts(".B paiged\n[\\fIoption\\fR...]");
	section("DESCRIPTION");
	paragraph(command_infos[COMMAND_PAIGED].description);
	paragraph(
		"A worker that dies is restarted: at once the first time, then after a "
		"pause that doubles up to 30 seconds. paiged never gives up on a worker "
		"that crashes. A worker that shows no sign of life for 30 seconds is "
		"aborted and restarted. The listening sockets belong to the supervisor, "
		"so clients can connect while the gateway is restarted.");
	section("OPTIONS");
	options_of(COMMAND_PAIGED);
	section("WORKERS");
	worker_items();
	section("EXIT STATUS");
	item("0", "Stopped by SIGTERM, SIGINT or `paigectl stop`.");
	item("1", "Could not start. The message says why: the settings, the port, the "
		  "directories, another daemon on the same DATA_DIR, or a worker that "
		  "cannot work with its data.");
	item("2", "Wrong command line.");
	item("78", "As a systemd service, paiged exits with this instead of 1 if the "
		   "settings are wrong or a worker cannot work with its data. The units "
		   "then do not restart it (RestartPreventExitStatus=). Fix what the "
		   "message names, then run `systemctl start`.");
	section("EXIT STATUS OF WORKERS");
	exit_items();
	section("AS A SERVICE");
	paragraph(
		"paiged.service runs one daemon for the machine as the user paige, whom "
		"systemd-sysusers(8) creates. paiged@NAME.service runs one for the user "
		"NAME. paiged.service of `systemctl --user` runs your own. Each reads "
		"its "
		"own file, listed below. The user of the daemon must be able to read it "
		"and nobody else, since it holds a key: mode 0640 and the group of that "
		"user. Without the file the unit does not start.");
	paragraph(
		"The system units can write only to DATA_DIR, /home and /srv, and have a "
		"private /tmp. For a project elsewhere, add ReadWritePaths= with "
		"systemctl edit. The program of AGENT_COMMAND needs more than the units "
		"allow: install the drop-in " PAIGE_DOCDIR "/agent.conf.");
	paragraph(
		"The journal receives the lines of the supervisor and of all workers, "
		"each with its priority, for example: journalctl -u paiged -p warning.");
	section("FILES");
	conf_items();
	item(PAIGE_DOCDIR "/paige.conf.example",
		"Every setting with its default; copy it to start.");
	item("/var/lib/paige, /var/lib/paige-NAME, ~/.paige",
		"DATA_DIR of paiged.service, of paiged@NAME.service, and the default.");
	item("DATA_DIR/paiged.json", "Tells clients about the running daemon: port, URL, "
				     "project, access token. Mode 0600.");
	item("DATA_DIR/token", "The access token, kept across restarts. Mode 0600.");
	item("DATA_DIR/paiged.lock", "Locked while the daemon runs.");
	item("DATA_DIR/logs/", "The log of each worker and of the supervisor, rotated at "
			       "10 MiB, five files each.");
	item("$RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR/paige-*, /tmp/paige-*",
		"Sockets, in the first of these directories that is set.");
	section("SIGNALS");
	item("SIGTERM, SIGINT", "Stop in order; a second signal stops faster.");
	item("SIGHUP", "Read the settings again. If any is wrong, nothing changes.");
	see_also("paigectl(1) paige.conf(5) paige-demo(1) systemd.unit(5)");
}

static void setting_item(const struct setting_info *info)
{
	printf(".TP\n.B %s", info->name);
	if (info->flags & SETTING_REQUIRED)
		fputs(" (required)", stdout);
	else if (*info->fallback)
		printf(" (default: %s)", info->fallback);
	puts("");
	roff(info->meaning);
	fputs(". ", stdout);
	switch (info->kind) {
	case SETTING_INT:
	case SETTING_NUMBER:
		printf("%s from %.15g to %.15g.",
			info->kind == SETTING_INT ? "A whole number" : "A number",
			info->min, info->max);
		break;
	case SETTING_CHOICE:
		printf("One of: %s.", info->choices);
		break;
	case SETTING_PATH:
		fputs("A path; ~ is expanded.", stdout);
		break;
	case SETTING_TEXT:
		if (info->flags & SETTING_URL)
			fputs("A URL.", stdout);
		break;
	}
	if (info->flags & SETTING_SECRET)
		fputs(" Secret: it is never shown.", stdout);
	if (info->flags & SETTING_RELOAD)
		fputs(" SIGHUP applies it without a restart.", stdout);
	puts("");
}

static void man_conf(void)
{
	head("paige.conf", 5, "settings of Paige");
	section("DESCRIPTION");
	paragraph(
		"Lines of the form KEY=value, as in .env and in a systemd "
		"EnvironmentFile. A line that begins with # or ; is a comment. After an "
		"unquoted value, a blank and # begin a comment. Values may be quoted "
		"with ' (taken literally) or \" (where \\ escapes \", \\, $ and `). Keys "
		"may be preceded by `export`.");
	paragraph(
		"Each setting is taken from the first place that has it: the "
		"environment, .env in the current directory, paige.conf. paige.conf is "
		"the file given with --config, or else $XDG_CONFIG_HOME/paige/paige.conf "
		"(~/.config/paige/paige.conf if XDG_CONFIG_HOME is not set). An empty "
		"value means the default. If a value breaks its rule, the daemon does "
		"not start; it never replaces the value silently. `paigectl config` "
		"shows the values in use and where they came from.");
	paragraph(
		"Files of the coached project are never read as settings: whoever wrote "
		"the project could otherwise choose where the key is sent or what is "
		"run. A .env or paige.conf in PROJECT_DIR, even through links, is "
		"ignored, with a warning if it holds settings of Paige. Only a file "
		"named with --config may lie anywhere. Settings that decide where data "
		"goes or what runs are logged at the start, with where they came from.");
	section("SETTINGS");
	for (int i = 0; i < SETTING_COUNT; i++)
		setting_item(setting_info((enum setting_id)i));
	section("FILES");
	conf_items();
	see_also("paiged(8) paigectl(1)");
}

/* A program that describes itself: the first line of its --help is the synopsis, the rest
 * the description. */
static int man_program(const char *name, const char *summary, const char *program)
{
	AUTO_FREE char *command = xasprintf("'%s' --help", program);
	AUTO_FREE char *line = NULL;
	size_t size = 0;
	FILE *help = popen(command, "r");

	if (!help)
		return EXIT_FAILURE;
	head(name, 1, summary);
	while (getline(&line, &size, help) > 0) {
		size_t skip = strncmp(line, "usage: ", 7) == 0 ? 7 : 0;

		if (skip)
			section("SYNOPSIS");
		roff(line + skip);
		if (skip) {
			section("DESCRIPTION");
			puts(".nf"); /* a section begins with lines filled */
		}
	}
	puts(".fi");
	see_also("paiged(8) paigectl(1)");
	return pclose(help) == 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- the example ---- */

static void example(void)
{
	puts("# Settings of Paige, see paige.conf(5). Lines that are commented out show "
	     "the "
	     "default.");
	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct setting_info *info = setting_info((enum setting_id)i);

		printf("\n# %s.\n", info->meaning);
		if (info->kind == SETTING_CHOICE)
			printf("# One of: %s.\n", info->choices);
		printf("%s%s=%s\n", info->flags & SETTING_REQUIRED ? "" : "#", info->name,
			info->fallback);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*write)(void);
	} outputs[] = {
		{"paigectl.1", man_paigectl},
		{"paiged.8", man_paiged},
		{"paige.conf.5", man_conf},
		{"paige.conf.example", example},
		{"paigectl.bash", completion_bash},
		{"paigectl.zsh", completion_zsh},
		{"paigectl.fish", completion_fish},
	};

	if (argc == 4)
		return man_program(argv[1], argv[2], argv[3]);
	for (size_t i = 0; argc == 2 && i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		if (strcmp(outputs[i].name, argv[1]) != 0)
			continue;
		outputs[i].write();
		return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	fputs("usage: docgen "
	      "paigectl.1|paiged.8|paige.conf.5|paige.conf.example|paigectl.bash|"
	      "paigectl.zsh|paigectl.fish\n"
	      "       docgen NAME SUMMARY PROGRAM\n",
		stderr);
	return 2;
}
