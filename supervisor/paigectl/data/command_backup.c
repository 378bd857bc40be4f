/*
 * command_backup.c - paigectl backup: a verified copy of paige.db while the daemon runs.
 *
 * The store makes and checks the copy in DATA_DIR/backups; here it is taken to where it
 * is wanted.
 */
#include "proto/codec/messages.h"
#include "supervisor/paigectl/data/move_file.h"
#include "supervisor/paigectl/paigectl.h"
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKUP_MS 110000

/* Whether `path` is a file right in DATA_DIR/backups, and so ours to take; the daemon may
 * write DATA_DIR otherwise than we do. */
static bool is_ours(
	const struct daemon_place *place, struct str path, struct arena *arena)
{
	const char *ours = arena_printf(arena, "%s/backups", place->data_dir).ptr;
	const char *folder = dirname(arena_cstr(arena, path));
	struct stat a, b;

	return stat(ours, &a) == 0 && stat(folder, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int refuse_existing(const char *file)
{
	return paigectl_fail(
		PAIGECTL_FAILED, "%s exists; use --force to replace it", file);
}

static int take(const char *from, const char *file, bool force)
{
	int error = move_file(from, file, force);

	if (error == 0)
		return 0;
	unlink(from);
	return error == -EEXIST ? refuse_existing(file)
				: paigectl_fail(PAIGECTL_FAILED, "cannot write %s: %s",
					  file, strerror(-error));
}

/* 0, or an exit code having said why. */
static int back_up(
	const struct options *o, const struct daemon_place *place, const char *file)
{
	struct backup_made made = {0};
	AUTO_ARENA arena = {0};
	struct proto_error problem;
	AUTO_DOC *doc = NULL;
	char size[32];
	int code = gateway_ask(place, "/backup", "{}", BACKUP_MS, &doc);

	if (code == 0 &&
		(proto_decode(backup_made_type(), yyjson_doc_get_root(doc), "answer",
			 DECODE_LENIENT, &arena, &made, &problem) < 0 ||
			!is_ours(place, made.path, &arena)))
		code = paigectl_fail(
			PAIGECTL_FAILED, "the daemon gave an invalid answer");
	if (code == 0)
		code = take(arena_cstr(&arena, made.path), file,
			options_get(o, "force") != NULL);
	made.path = str_of(file);
	if (code == 0 && options_get(o, "json")) {
		code = paigectl_print_message(backup_made_type(), &made);
	} else if (code == 0) {
		terminal_bytes(made.bytes, size);
		printf("%s: %s, every page checked\n", file, size);
	}
	return code;
}

int paigectl_backup(const struct options *o)
{
	AUTO_PLACE place = {0};
	const char *file;
	struct stat st;
	int code;

	if (o->operand_count < 1)
		return paigectl_fail(PAIGECTL_USAGE, "backup needs the name of a FILE");
	file = o->operands[0];
	if (lstat(file, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return paigectl_fail(PAIGECTL_FAILED,
				"%s is a directory; name a file in it", file);
		if (!options_get(o, "force"))
			return refuse_existing(file);
	}
	code = place_find(o, &place);
	if (code == 0)
		code = back_up(o, &place, file);
	return code;
}
