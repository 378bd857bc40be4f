/* schema.c - what a database file must hold, and how an older one gets there (schema.h).
 */
#include "workers/store/db/schema.h"
#include "common/base/log.h"
#include "workers/store/db/database.h"
#include <errno.h>
#include <stdio.h>

#define PAIGE_APPLICATION_ID 0x50414947 /* "PAIG" */

static const struct schema_step paige_steps[] = {
	{
#define TABLE(name, columns) "CREATE TABLE IF NOT EXISTS " #name " (" columns "); "
#define INDEX(name, covers) "CREATE INDEX IF NOT EXISTS " #name " ON " covers "; "
#define LATER(statements)
#include "workers/store/db/schema.def"
#undef TABLE
#undef INDEX
#undef LATER
	},
#define TABLE(name, columns)
#define INDEX(name, covers)
#define LATER(statements) {statements},
#include "workers/store/db/schema.def"
#undef TABLE
#undef INDEX
#undef LATER
};

static const char *const paige_statements[] = {
#define STATEMENT(name, sql) (sql),
#include "workers/store/db/statements.def"
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

static int fail(sqlite3 *db, const struct schema *schema, struct error_text *problem)
{
	error_text_set(problem, "Cannot set up the tables of %s: %s", schema->what,
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

static int brought_forward(
	sqlite3 *db, const struct schema *schema, struct error_text *problem)
{
	int version = 0;

	while (read_pragma(db, "PRAGMA user_version", &version) == SQLITE_OK) {
		int result;

		if (version >= schema->version)
			return 0;
		if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
			break;
		if (run_step(db, schema, version) == SQLITE_OK)
			continue;
		result = fail(db, schema, problem);
		if (!sqlite3_get_autocommit(db))
			sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
		return result;
	}
	return fail(db, schema, problem);
}

/* ---- what must be there ---- */

/* A database in memory as the steps make it: what a file is compared with. */
static sqlite3 *make_reference(const struct schema *schema)
{
	sqlite3 *reference = NULL;
	int rc = sqlite3_open(":memory:", &reference);

	for (int i = 0; i < schema->version && rc == SQLITE_OK; i++)
		rc = sqlite3_exec(reference, schema->steps[i].sql, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		return reference;
	sqlite3_close(reference);
	return NULL;
}

/* Does `sql` with up to two texts for its parameters find a row? 1, 0 or -errno. */
static int finds(sqlite3 *db, const char *sql, const char *first, const char *second)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_bind_text(statement, 1, first, -1, SQLITE_STATIC);
		if (second)
			sqlite3_bind_text(statement, 2, second, -1, SQLITE_STATIC);
		rc = sqlite3_step(statement);
	}
	sqlite3_finalize(statement);
	return rc == SQLITE_ROW ? 1 : database_errno(rc);
}

static int look_for_column(
	sqlite3 *db, const char *table, const char *column, struct error_text *problem)
{
	int found = finds(
		db, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", table, column);

	if (found == 1)
		return 0;
	if (found == 0)
		found = finds(
			db, "SELECT 1 FROM sqlite_schema WHERE name = ?1", table, NULL);
	if (found == 1)
		error_text_set(
			problem, "its table %s lacks the column %s", table, column);
	else if (found == 0)
		error_text_set(problem, "its table %s is missing", table);
	else
		error_text_set(problem, "its table %s cannot be read: %s", table,
			sqlite3_errmsg(db));
	return found < 0 ? found : -EUCLEAN;
}

/* Calls `look` for each row of two texts that the reference gives; stops at the first
 * that is not 0. */
static int compare(sqlite3 *db, const struct schema *schema, const char *sql,
	int (*look)(
		sqlite3 *db, const char *a, const char *b, struct error_text *problem),
	struct error_text *problem)
{
	sqlite3 *reference = make_reference(schema);
	sqlite3_stmt *all = NULL;
	int result = 0;

	if (!reference ||
		sqlite3_prepare_v2(reference, sql, -1, &all, NULL) != SQLITE_OK) {
		error_text_set(problem, "it cannot be compared with the tables of %s: %s",
			schema->what,
			reference ? sqlite3_errmsg(reference) : "out of memory");
		result = -EIO;
	}
	while (result == 0 && sqlite3_step(all) == SQLITE_ROW)
		result = look(db, (const char *)sqlite3_column_text(all, 0),
			(const char *)sqlite3_column_text(all, 1), problem);
	sqlite3_finalize(all);
	sqlite3_close(reference);
	return result;
}

static int check_columns(
	sqlite3 *db, const struct schema *schema, struct error_text *problem)
{
	return compare(db, schema,
		"SELECT t.name, c.name FROM sqlite_schema AS t, "
		"pragma_table_info(t.name) AS c "
		"WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'",
		look_for_column, problem);
}

int schema_check(sqlite3 *db, const struct schema *schema, int *version,
	struct error_text *problem)
{
	int id = 0, tables = 0;

	*version = 0;
	if (read_pragma(db, "PRAGMA application_id", &id) != SQLITE_OK ||
		read_pragma(db, "PRAGMA user_version", version) != SQLITE_OK ||
		read_pragma(db, "SELECT count(*) FROM sqlite_schema", &tables) !=
			SQLITE_OK)
		return fail(db, schema, problem);
	if (id == 0 && *version == 0 && tables == 0)
		return 0;
	if (id != schema->application_id) {
		error_text_set(problem,
			"it is not a %s of Paige but the database of another program "
			"(application id %08x, expected %08x)",
			schema->what, (unsigned)id, (unsigned)schema->application_id);
		return -EUCLEAN;
	}
	if (*version < 0 || *version > schema->version) {
		error_text_set(problem,
			"it was made by a later version of Paige (schema %d, this one "
			"knows %d)",
			*version, schema->version);
		return -EUCLEAN;
	}
	return *version == schema->version ? check_columns(db, schema, problem) : 0;
}

/* ---- what can be made anew ---- */

static int make_index(
	sqlite3 *db, const char *name, const char *sql, struct error_text *problem)
{
	int found = finds(db, "SELECT 1 FROM sqlite_schema WHERE name = ?1", name, NULL);

	if (found == 1)
		return 0;
	log_warn("rebuilding a missing index of a database", "index", "%s", name, NULL);
	if (found == 0 && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	error_text_set(
		problem, "its index %s cannot be made: %s", name, sqlite3_errmsg(db));
	return database_errno(sqlite3_extended_errcode(db));
}

int schema_apply(sqlite3 *db, const struct schema *schema, struct error_text *problem)
{
	int result = brought_forward(db, schema, problem);

	if (result == 0)
		result = check_columns(db, schema, problem);
	if (result == 0)
		result = compare(db, schema,
			"SELECT name, sql FROM sqlite_schema "
			"WHERE type = 'index' AND sql IS NOT NULL",
			make_index, problem);
	return result;
}
