/*
 * schema.h - what a database file must hold, and how an older one gets there.
 *
 * A schema is a row of steps. PRAGMA user_version counts those done; each is done in a
 * transaction together with its count, so that a kill -9 between any two leaves a file
 * that the next start completes.
 */
#pragma once

#include "workers/store/db/error_text.h"
#include <sqlite3.h>

struct schema_step {
	const char *sql; /* statements that turn the version before into this one */
};

struct schema {
	const char *what;   /* "paige.db", for messages */
	int application_id; /* PRAGMA application_id: whose file it is */
	const struct schema_step *steps;
	int version; /* number of steps */
	/* What runs on it (database.h). */
	const char *const *statements;
	int statements_count;
};

extern const struct schema paige_schema;

/*
 * Looks whose file it is, of which version, and at the newest version whether every table
 * and column is there; changes nothing. *version is 0 for a file without tables. 0;
 * -EUCLEAN when it cannot be ours or lacks something, or another -errno of reading;
 * `problem` says what is wrong, beginning with "it".
 */
int schema_check(sqlite3 *db, const struct schema *schema, int *version,
	struct error_text *problem) __attribute__((warn_unused_result));

/*
 * Brings a database that was checked to `schema`, and makes indexes anew that are
 * missing. 0, -EBUSY while another process writes, -EUCLEAN as schema_check, or another
 * -errno of writing (database_errno); `problem` is filled then.
 */
int schema_apply(sqlite3 *db, const struct schema *schema, struct error_text *problem)
	__attribute__((warn_unused_result));
