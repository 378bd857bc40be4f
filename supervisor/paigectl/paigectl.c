/* paigectl.c - main of paigectl: finds the command and reads its options. */
#include "supervisor/paigectl/paigectl.h"
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "common/settings/nearest.h"
#include "proto/tables/workers.h"

#include "paige-config.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int paigectl_fail(int code, const char *format, ...)
{
	AUTO_BUF shown = {0};
	AUTO_FREE char *text = NULL;
	va_list args;

	fflush(stdout);
	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	terminal_add_shown(&shown, str_of(text));
	fprintf(stderr, "paigectl: %.*s\n", STR_ARG(buf_str(&shown)));
	return code;
}

int paigectl_number(
	const struct options *o, const char *name, long least, long most, long *value)
{
	const char *text = options_get(o, name);
	char *end;
	long number;

	if (!text)
		return PAIGECTL_DONE;
	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || !*text || *end || number < least || number > most)
		return paigectl_fail(PAIGECTL_USAGE,
			"--%s=%s: a whole number from %ld to %ld", name, text, least,
			most);
	*value = number;
	return PAIGECTL_DONE;
}

int paigectl_print_json(yyjson_val *value)
{
	AUTO_FREE char *text =
		yyjson_val_write(value, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL);

	if (!text)
		return paigectl_fail(PAIGECTL_FAILED, "out of memory");
	puts(text);
	return PAIGECTL_DONE;
}

int paigectl_print_message(const struct type *type, const void *message)
{
	AUTO_BUF json = {0};

	proto_encode(type, message, &json);
	printf("%.*s\n", STR_ARG(buf_str(&json)));
	return PAIGECTL_DONE;
}

int paigectl_check_worker(const char *name, const char *also)
{
	struct nearest nearest = {.word = str_of(name)};

	if (worker_by_name(str_of(name)) >= 0 || (also && strcmp(name, also) == 0))
		return PAIGECTL_DONE;
	for (int i = 0; i < WORKER_COUNT; i++)
		nearest_offer(&nearest, worker_infos[i].name);
	if (also)
		nearest_offer(&nearest, also);
	if (nearest.name)
		return paigectl_fail(PAIGECTL_USAGE,
			"there is no worker \"%s\"; is \"%s\" meant?", name,
			nearest.name);
	paigectl_fail(PAIGECTL_USAGE, "there is no worker \"%s\". There are:", name);
	for (int i = 0; i < WORKER_COUNT; i++)
		fprintf(stderr, "  %-14s %s\n", worker_infos[i].name,
			worker_infos[i].does);
	return PAIGECTL_USAGE;
}

static int (*const commands[COMMAND_COUNT])(const struct options *o) = {
	[COMMAND_STATUS] = paigectl_status,
	[COMMAND_TOP] = paigectl_top,
	[COMMAND_LIST] = paigectl_list,
	[COMMAND_OPEN] = paigectl_open,
	[COMMAND_SESSIONS] = paigectl_sessions,
	[COMMAND_RESTART] = paigectl_restart,
	[COMMAND_START] = paigectl_start,
	[COMMAND_WAIT] = paigectl_wait,
	[COMMAND_RELOAD] = paigectl_reload,
	[COMMAND_STOP] = paigectl_stop,
	[COMMAND_LOGS] = paigectl_logs,
	[COMMAND_CONFIG] = paigectl_config,
	[COMMAND_DOCTOR] = paigectl_doctor,
	[COMMAND_COST] = paigectl_cost,
	[COMMAND_BACKUP] = paigectl_backup,
	[COMMAND_RESTORE] = paigectl_restore,
	[COMMAND_EXPORT] = paigectl_export,
	[COMMAND_IMPORT] = paigectl_import,
	[COMMAND_TOKEN] = paigectl_token,
	[COMMAND_GUARD] = paigectl_guard,
	[COMMAND_HOOK] = paigectl_hook,
	[COMMAND_MIRROR] = paigectl_mirror,
	[COMMAND_EDITS] = paigectl_edits,
	[COMMAND_TAP] = paigectl_tap,
};

static void print_commands(FILE *file)
{
	fputs("usage: paigectl COMMAND [option...] [operand...]\n\n", file);
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (commands[i])
			fprintf(file, "  %-10s %s\n", command_infos[i].name,
				command_infos[i].summary);
	fputs("\nFor the options of a command, run `paigectl COMMAND --help`.\n\n"
	      "paigectl finds the daemon by DATA_DIR, which it reads as paiged does: "
	      "from\n"
	      "the environment, .env in the current directory, --config FILE or\n"
	      "paige.conf(5). If DATA_DIR is not set anywhere, paigectl uses the only "
	      "daemon\n"
	      "that runs, including one of a systemd unit.\n\n"
	      "Exit codes: 0 success, 1 failed, 2 wrong command line, 3 no daemon "
	      "running,\n4 not ready in time.\n",
		file);
}

static int run(enum command_id command, int argc, char **argv)
{
	struct options options;
	AUTO_BUF text = {0};

	if (options_read(&options, command, argc, argv, &text) != 0) {
		paigectl_fail(PAIGECTL_USAGE, "%.*s\nTry `paigectl %s --help`.",
			STR_ARG(buf_str(&text)), command_infos[command].name);
		return PAIGECTL_USAGE;
	}
	if (options_get(&options, "help")) {
		options_print_help(command, &text);
		fwrite(text.data, 1, text.len, stdout);
		return PAIGECTL_DONE;
	}
	return commands[command](&options);
}

static int unknown_command(const char *name)
{
	struct nearest nearest = {.word = str_of(name)};

	for (int i = 0; i < COMMAND_COUNT; i++)
		if (commands[i])
			nearest_offer(&nearest, command_infos[i].name);
	if (nearest.name)
		return paigectl_fail(PAIGECTL_USAGE,
			"there is no command \"%s\"; is \"%s\" meant?\nTry `paigectl "
			"--help`.",
			name, nearest.name);
	paigectl_fail(PAIGECTL_USAGE, "there is no command \"%s\"", name);
	print_commands(stderr);
	return PAIGECTL_USAGE;
}

int main(int argc, char **argv)
{
	int command;

	file_fill_standard();
	terminal_init();
	if (argc < 2) {
		print_commands(stderr);
		return PAIGECTL_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		strcmp(argv[1], "help") == 0) {
		print_commands(stdout);
		return PAIGECTL_DONE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("paigectl " PAIGE_VERSION);
		return PAIGECTL_DONE;
	}
	command = command_by_name(argv[1]);
	if (command < 0)
		return unknown_command(argv[1]);
	return run((enum command_id)command, argc - 1, argv + 1);
}
