/*
 * paiged.c - main of the supervisor: command line and settings, then daemon_run.
 */
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "paige-config.h"
#include "supervisor/paiged/daemon.h"
#include "supervisor/paiged/logs/journal.h"
#include "supervisor/paiged/notify.h"
#include "supervisor/shared/options.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define EXIT_USAGE 2

/* Before anything else: a signal that comes from now on waits until the loop runs
 * (EC-05). */
static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* Ignored by whoever started us, children would vanish unseen. */
	signal(SIGCHLD, SIG_DFL);
}

static void print_indented(enum log_level level, const struct buf *lines)
{
	struct str rest = buf_str(lines), line;

	while (str_take_line(&rest, &line))
		fprintf(stderr, "%s  %.*s\n", journal_prefix(level), STR_ARG(line));
}

/* All problems in one message (FR-005, FR-006). */
static int load(struct settings *settings, const char *config_file)
{
	AUTO_BUF problems = {0};
	int error = settings_load(settings, config_file, &problems);

	if (error) {
		fprintf(stderr, "%spaiged: the configuration cannot be used:\n",
			journal_prefix(LOG_LEVEL_ERROR));
		print_indented(LOG_LEVEL_ERROR, &problems);
	}
	/* Told in any case: what is missing may stand in a line that was ignored. */
	if (settings->warnings.len > 0) {
		fprintf(stderr, "%spaiged: warnings about the configuration:\n",
			journal_prefix(LOG_LEVEL_WARN));
		print_indented(LOG_LEVEL_WARN, &settings->warnings);
	}
	if (error)
		fputs("Settings come from the environment, from .env in the current "
		      "directory, and from --config FILE or "
		      "~/.config/paige/paige.conf; see paige.conf(5).\n",
			stderr);
	return error;
}

/* Lets PROJECT_DIR be `project` where neither the environment nor paige.conf names a
 * project; in the environment, so that it holds as well when the settings are read again.
 * A .env has no say: one that came with the project would make itself the user's by naming
 * another. */
static void suggest_project(const char *project, const char *config_file)
{
	struct settings settings;
	AUTO_BUF problems = {0};
	enum setting_source source;

	(void)!settings_load(&settings, config_file, &problems);
	source = settings_source(&settings, SETTING_ID_project_dir);
	if (source == SETTING_DEFAULT || source == SETTING_DOTENV)
		setenv(setting_info(SETTING_ID_project_dir)->name, project, 1);
	settings_fini(&settings);
}

static void print_settings(const struct settings *settings)
{
	printf("The configuration is fine: PROJECT_DIR=%s DATA_DIR=%s HOST=%s PORT=%d\n",
		settings->project_dir, settings->data_dir, settings->host,
		(int)settings->port);
}

static int read_options(struct options *options, int argc, char **argv)
{
	AUTO_BUF problem = {0};
	int error = options_read(options, COMMAND_PAIGED, argc, argv, &problem);

	if (error)
		fprintf(stderr, "paiged: %.*s\nTry `paiged --help`.\n",
			STR_ARG(buf_str(&problem)));
	return error;
}

static void print_help(void)
{
	AUTO_BUF text = {0};

	options_print_help(COMMAND_PAIGED, &text);
	fwrite(text.data, 1, text.len, stdout);
}

int main(int argc, char **argv)
{
	struct options options;
	struct settings settings;
	const char *config_file;

	file_fill_standard();
	block_signals();
	if (read_options(&options, argc, argv) != 0)
		return EXIT_USAGE;
	if (options_get(&options, "help")) {
		print_help();
		return EXIT_SUCCESS;
	}
	if (options_get(&options, "version")) {
		puts("paiged " PAIGE_VERSION);
		return EXIT_SUCCESS;
	}
	config_file = options_get(&options, "config");
	log_init("paiged", LOG_LEVEL_INFO);
	if (options_get(&options, "project"))
		suggest_project(options_get(&options, "project"), config_file);
	if (load(&settings, config_file) != 0) {
		settings_fini(&settings);
		return notify_final_exit_code();
	}
	if (options_get(&options, "check")) {
		print_settings(&settings);
		settings_fini(&settings);
		return EXIT_SUCCESS;
	}
	log_set_level((enum log_level)settings.log_level);
	return daemon_run(&settings, config_file);
}
