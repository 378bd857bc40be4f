/*
 * command_restore.c - paigectl restore, export and import: a database or a whole learner comes or goes as one file, or comes from PostgreSQL.
 *
 * The daemon does not run meanwhile. What comes is checked before anything changes, put in place as a whole
 * (supervisor/shared/replacement.h), and what was there is kept.
 */
#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "supervisor/paigectl/data/archive.h"
#include "supervisor/paigectl/data/move_file.h"
#include "supervisor/shared/replacement.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WITH_LOG(database) database, database "-wal", database "-shm", database "-journal"

/* What a restore replaces, and what an import does: all that is of the learner, and of what was under way. */
static const char *const of_database[] = {WITH_LOG("paige.db"), NULL};
static const char *const of_learner[] = {WITH_LOG("paige.db"), WITH_LOG("guard.db"),
	WITH_LOG("memory.db"), "buffers", "agents", "api-calls", "paid-works",
	"mcp-sessions", "mirror-consent", NULL};

static int need_file(const struct options *o, const char *command)
{
	return o->operand_count > 0 ? PAIGECTL_DONE
				    : paigectl_fail(PAIGECTL_USAGE,
					      "%s needs the name of a FILE", command);
}

/* ---- what comes ---- */

static int put_in_place(const struct options *o, const struct stopped_data *data,
	const char *what, const char *const *names)
{
	const char *data_dir = data->place.data_dir;
	char at[WALL_ISO_SIZE];
	struct paigectl_replaced replaced = {.data_dir = str_of(data_dir)};
	AUTO_FREE char *name = NULL, *kept = NULL;
	int error;

	wall_iso(clock_wall(), at);
	for (char *c = at; *c; c++)
		if (*c == ':')
			*c = '-';
	name = xasprintf("replaced-%s", at);
	kept = xasprintf("%s/%s", data_dir, name);
	error = replacement_commit(data_dir, names, name);
	/* There may have been nothing. */
	if (rmdir(kept) != 0 && errno != ENOENT)
		replaced.kept = str_of(kept);
	if (error)
		paigectl_fail(PAIGECTL_FAILED, "cannot put the files in place in %s: %s",
			data_dir, strerror(-error));
	else if (options_get(o, "json"))
		(void)paigectl_print_message(paigectl_replaced_type(), &replaced);
	else if (replaced.kept.ptr)
		printf("%s is in place in %s, every page checked; what was there is in "
		       "%s\n",
			what, data_dir, kept);
	else
		printf("%s is in place in %s, every page checked\n", what, data_dir);
	return error ? PAIGECTL_FAILED : PAIGECTL_DONE;
}

/* Has paige-archive fill the folder of new files, `name` of it when it is not NULL. */
static int fetch(const struct options *o, const struct stopped_data *data,
	const char *command, const char *name, const char *const *names)
{
	char folder[PATH_MAX];
	int error = replacement_begin(data->place.data_dir, folder), code;
	AUTO_FREE char *target = NULL;

	if (error)
		return paigectl_fail(PAIGECTL_FAILED, "cannot write in %s: %s",
			data->place.data_dir, strerror(-error));
	target = name ? xasprintf("%s/%s", folder, name) : xstrdup(folder);
	code = archive_run(data, command, o->operands[0], target);
	return code == PAIGECTL_DONE ? put_in_place(o, data, o->operands[0], names)
				     : code;
}

static int fetch_from_mirror(const struct options *o, const struct stopped_data *data,
	const struct settings *settings)
{
	char folder[PATH_MAX], came[ARCHIVE_SAID_MAX];
	int error, code;

	if (!settings->mirror_url[0])
		return paigectl_fail(PAIGECTL_FAILED,
			"MIRROR_URL is not set: put the database of PostgreSQL there "
			"first, see docs/mirror.md");
	error = replacement_begin(data->place.data_dir, folder);
	if (error)
		return paigectl_fail(PAIGECTL_FAILED, "cannot write in %s: %s",
			data->place.data_dir, strerror(-error));
	code = archive_run_mirror(
		data, settings->mirror_url, settings->project_dir, folder, came);
	if (code == PAIGECTL_DONE)
		code = put_in_place(
			o, data, "What PostgreSQL has of the learner", of_learner);
	if (code == PAIGECTL_DONE && !options_get(o, "json"))
		printf("%s. PostgreSQL never had files and paths, unsaved text, what was "
		       "said to Claude and in interviews, knowledge gaps, katas, "
		       "memories and guard machines: they are not here. `paigectl mirror "
		       "allow` sends on.\n",
			came);
	return code;
}

static int import_from_mirror(const struct options *o, const struct stopped_data *data)
{
	struct settings settings;
	AUTO_BUF problems = {0};
	int code;

	/* What else may be wrong with them does not matter here. */
	(void)!settings_load(&settings, options_get(o, "config"), &problems);
	code = fetch_from_mirror(o, data, &settings);
	settings_fini(&settings);
	return code;
}

int paigectl_restore(const struct options *o)
{
	struct stopped_data data;
	int code = need_file(o, "restore");

	if (code != PAIGECTL_DONE)
		return code;
	code = archive_take(o, &data);
	if (code == PAIGECTL_DONE)
		code = fetch(o, &data, "check", "paige.db", of_database);
	archive_leave(&data);
	return code;
}

/* 0 when DATA_DIR may be filled. */
static int refuse_learner(const struct options *o, const char *data_dir)
{
	static const char *const databases[] = {"paige.db", "guard.db", "memory.db"};
	struct stat st;

	for (size_t i = 0; i < sizeof(databases) / sizeof(databases[0]); i++) {
		AUTO_FREE char *path = xasprintf("%s/%s", data_dir, databases[i]);
		bool there = lstat(path, &st) == 0;

		if (there && !options_get(o, "replace"))
			return paigectl_fail(PAIGECTL_FAILED,
				"%s has a learner already (%s); use --replace to put "
				"this one in its place",
				data_dir, databases[i]);
	}
	return PAIGECTL_DONE;
}

int paigectl_import(const struct options *o)
{
	const bool from_mirror = options_get(o, "from-mirror");
	struct stopped_data data;
	int code = from_mirror ? PAIGECTL_DONE : need_file(o, "import");

	if (from_mirror && o->operand_count > 0)
		code = paigectl_fail(
			PAIGECTL_USAGE, "import needs a FILE or --from-mirror, not both");
	if (code != PAIGECTL_DONE)
		return code;
	code = archive_take(o, &data);
	if (code == PAIGECTL_DONE)
		code = refuse_learner(o, data.place.data_dir);
	if (code == PAIGECTL_DONE && from_mirror)
		code = import_from_mirror(o, &data);
	else if (code == PAIGECTL_DONE)
		code = fetch(o, &data, "unpack", NULL, of_learner);
	archive_leave(&data);
	return code;
}

/* ---- what goes ---- */

static int write_export(
	const struct options *o, const struct stopped_data *data, const char *file)
{
	AUTO_FREE char *part = xasprintf("%s.%d.part", file, (int)getpid());
	struct backup_made made = {.path = str_of(file), .has_bytes = true};
	struct stat st = {0};
	char size[32];
	int error, code = archive_run(data, "pack", data->place.data_dir, part);

	if (code == PAIGECTL_DONE) {
		error = stat(part, &st) == 0
				? move_file(part, file, options_get(o, "replace") != NULL)
				: -errno;
		if (error)
			code = paigectl_fail(PAIGECTL_FAILED, "cannot write %s: %s", file,
				strerror(-error));
		if (error)
			unlink(part);
	}
	made.bytes = st.st_size;
	if (code == PAIGECTL_DONE && options_get(o, "json")) {
		code = paigectl_print_message(backup_made_type(), &made);
	} else if (code == PAIGECTL_DONE) {
		terminal_bytes(made.bytes, size);
		printf("%s: %s, every page checked\n", file, size);
	}
	return code;
}

int paigectl_export(const struct options *o)
{
	struct stopped_data data;
	struct stat st;
	int code = need_file(o, "export");

	if (code != PAIGECTL_DONE)
		return code;
	if (lstat(o->operands[0], &st) == 0 &&
		(S_ISDIR(st.st_mode) || !options_get(o, "replace")))
		return paigectl_fail(PAIGECTL_FAILED, "%s %s", o->operands[0],
			S_ISDIR(st.st_mode) ? "is a directory; name a file in it"
					    : "exists; use --replace to replace it");
	code = archive_take(o, &data);
	if (code == PAIGECTL_DONE)
		code = write_export(o, &data, o->operands[0]);
	archive_leave(&data);
	return code;
}
