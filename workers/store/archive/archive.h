/*
 * archive.h - a learner as one file, and a database that somebody brings: what paigectl has done with SQLite.
 *
 * The file is an SQLite archive (table sqlar, as the program sqlite3 reads it with -A), of an application id and
 * version of its own. It holds a whole copy of each database, unsaved text and the history of agent sessions; no
 * token, no log, nothing of the project. Contents are not compressed. One that is larger than 1 GB does not fit.
 *
 * Nobody uses the databases meanwhile: paigectl holds the lock of DATA_DIR. 0 or -errno, with `problem` for people.
 */
#pragma once

#include "workers/store/db/error_text.h"
#include "workers/store/db/schema.h"

#define ARCHIVE_APPLICATION_ID 0x50414958 /* "PAIX" */
#define ARCHIVE_VERSION 1
/* All pages of a database are looked at in it. */
#define ARCHIVE_CHECK_MS (10 * 60 * 1000)

/* What an archive holds of DATA_DIR. */
struct archive_database {
	const char *name;
	const struct schema *schema;
};
extern const struct archive_database archive_databases[];
extern const char *const archive_folders[]; /* ends with NULL */
#define ARCHIVE_DATABASES 3

/* Writes the learner of `data_dir` to `file`, which is made anew and synced. */
int archive_pack(const char *data_dir, const char *file, struct error_text *problem)
	__attribute__((warn_unused_result));
/* Writes what `file` holds to the empty `folder`, and checks that each database is sound, ours, and of no later version. */
int archive_unpack(const char *file, const char *folder, struct error_text *problem)
	__attribute__((warn_unused_result));
/* Copies the paige.db `file` to `target`, a plain file, having checked it so. */
int archive_check(const char *file, const char *target, struct error_text *problem)
	__attribute__((warn_unused_result));
/*
 * Reads what PostgreSQL has of a learner from standard input, lines of type mirror_part that paige-mirror prints, and makes a paige.db of it in
 * the empty `folder`, every page of which is checked. Its sessions are of `project_dir`. On success `problem` says what came.
 */
int archive_rows(const char *project_dir, const char *folder, struct error_text *problem)
	__attribute__((warn_unused_result));
