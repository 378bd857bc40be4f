/* schema.c - what a database file must hold, and how an older one gets there (schema.h).
 */
#include "workers/store/schema.h"
#include "workers/store/database.h"
#include <errno.h>
#include <stdio.h>

#define PAIGE_APPLICATION_ID 0x50414947 /* "PAIG" */

static const struct schema_step paige_steps[] = {
	{
#define TABLE(name, columns) "CREATE TABLE IF NOT EXISTS " #name " (" columns "); "
#define INDEX(name, covers) "CREATE INDEX IF NOT EXISTS " #name " ON " covers "; "
#include "workers/store/schema.def"
#undef TABLE
#undef INDEX
	},
};

static const char *const paige_statements[] = {
#define STATEMENT(name, sql) (sql),
#include "workers/store/statements.def"
#undef STATEMENT
};

const struct schema paige_schema = {
	.what = "paige.db",
	.application_id = PAIGE_APPLICATION_ID,
	.steps = paige_steps,
	.version = sizeof(paige_steps) / sizeof(paige_steps[0]),
	.statements = paige_statements,
	.statements_count = sizeof(paige_statements) / sizeof(paige_statements[0]),
};

static int fail(sqlite3 *db, const struct schema *schema, struct problem *problem)
{
	problem_set(problem, "Cannot set up the tables of %s: %s", schema->what,
		sqlite3_errmsg(db));
	return database_errno(sqlite3_extended_errcode(db));
}

/* The value of a PRAGMA that is one integer. */
static int read_pragma(sqlite3 *db, const char *sql, int *out)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static int run_step(sqlite3 *db, const struct schema *schema, int version)
{
	char mark[128];
	int rc;

	/* Whose file it is stands in it from the first step on. */
	snprintf(mark, sizeof(mark),
		"PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		schema->application_id, version + 1);
	rc = sqlite3_exec(db, schema->steps[version].sql, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, mark, NULL, NULL, NULL);
	return rc;
}

int schema_apply(sqlite3 *db, const struct schema *schema, struct problem *problem)
{
	int id = 0, version = 0;

	if (read_pragma(db, "PRAGMA application_id", &id) != SQLITE_OK)
		return fail(db, schema, problem);
	if (id != 0 && id != schema->application_id) {
		problem_set(problem,
			"it belongs to another program (application id %08x)",
			(unsigned)id);
		return -EUCLEAN;
	}
	for (;;) {
		int result;

		if (read_pragma(db, "PRAGMA user_version", &version) != SQLITE_OK)
			return fail(db, schema, problem);
		if (version == schema->version)
			return 0;
		if (version < 0 || version > schema->version) {
			problem_set(problem,
				"it was made by a later version of Paige (schema %d, "
				"this one knows %d)",
				version, schema->version);
			return -EUCLEAN;
		}
		if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
			return fail(db, schema, problem);
		if (run_step(db, schema, version) == SQLITE_OK)
			continue;
		result = fail(db, schema, problem);
		if (!sqlite3_get_autocommit(db))
			sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
		return result;
	}
}
