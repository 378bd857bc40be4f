/*
 * schema.h - what a database file must hold, and how an older one gets there.
 *
 * A schema is a row of steps. PRAGMA user_version counts those done; each is done in a
 * transaction together with its count, so that a kill -9 between any two leaves a file
 * that the next start completes.
 */
#ifndef PAIGE_STORE_SCHEMA_H
#define PAIGE_STORE_SCHEMA_H

#include "workers/store/problem.h"
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
 * Brings the open database to `schema`. 0, or -EUCLEAN when the file belongs to another
 * program or to a later version (nothing is changed), -EBUSY while another process
 * writes, or another -errno of writing (database_errno); `problem` is filled then.
 */
int schema_apply(sqlite3 *db, const struct schema *schema, struct problem *problem)
	__attribute__((warn_unused_result));

#endif
