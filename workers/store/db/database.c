/* database.c - one SQLite file: opened safely, its statements kept, its errors named
 * (database.h). */
#include "workers/store/db/database.h"
#include "common/base/alloc.h"
#include "workers/store/db/backup_file.h"
#include "workers/store/db/filesystem.h"
#include "workers/store/db/inspect.h"
#include "workers/store/db/wal.h"
#include <assert.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_KIB 8192 /* pages that SQLite may keep; taken only as they are used */

static const char *const sql_of_all[STATEMENTS_OF_ALL] = {
#define STATEMENT(name, sql) [STATEMENT_##name] = (sql),
#include "workers/store/db/transactions.def"
#undef STATEMENT
};

int database_errno(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_CANTOPEN:
		return -EACCES;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_TOOBIG:
		return -EFBIG;
	case SQLITE_CONSTRAINT:
		return -ENOKEY;
	case SQLITE_ERROR:
	case SQLITE_MISMATCH:
		return -EINVAL;
	default:
		return -EIO;
	}
}

static const char *advice(int error)
{
	switch (error) {
	case -ENOSPC:
		return "Free some space on its disk; writing goes on by itself then.";
	case -EUCLEAN:
		return "Stop the daemon and restore the file from a backup.";
	case -EBUSY:
		return "Another process has it locked; end that one.";
	case -EROFS:
	case -EACCES:
		return "Check the owner and the permissions of the file and its "
		       "directory.";
	case -EINVAL:
	case -ENOKEY:
	case -EFBIG:
		return "Only this request is affected.";
	default:
		return "Check the disk.";
	}
}

void database_error_text(const struct database *db, struct error_text *problem)
{
	int rc = sqlite3_extended_errcode(db->handle);
	int os_error = sqlite3_system_errno(db->handle);
	bool disk = (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN;

	error_text_set(problem, "The database %s failed: %s%s%s. %s", db->path,
		sqlite3_errmsg(db->handle), disk && os_error ? ": " : "",
		disk && os_error ? strerror(os_error) : "", advice(database_errno(rc)));
}

static int on_commit(void *arg, sqlite3 *handle, const char *name, int pages)
{
	struct database *db = arg;

	(void)handle;
	(void)name;
	db->commits++;
	db->log_pages = (uint64_t)pages;
	return SQLITE_OK;
}

/* The directory must be there, writable, and on a file system that can bear a write-ahead
 * log (R33). */
static int check_directory(const char *path, struct error_text *problem)
{
	char copy[PATH_MAX];
	const char *shared;
	char *directory;
	int result;

	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy)) {
		error_text_set(
			problem, "The path of the database is too long: %.200s...", path);
		return -ENAMETOOLONG;
	}
	directory = dirname(copy);
	result = filesystem_shared(directory, &shared);
	if (result < 0) {
		error_text_set(problem, "Cannot use the directory %s (DATA_DIR): %s",
			directory, strerror(-result));
		return result;
	}
	if (shared) {
		error_text_set(problem,
			"%s (DATA_DIR) lies on a network or shared file system (%s), "
			"where a database "
			"in WAL mode gets damaged. Set DATA_DIR to a directory on a "
			"local disk.",
			directory, shared);
		return -EUCLEAN;
	}
	if (access(directory, W_OK | X_OK) < 0) {
		result = -errno;
		error_text_set(problem, "Cannot write to %s (DATA_DIR): %s. %s",
			directory, strerror(-result), advice(-EACCES));
		return result;
	}
	return 0;
}

/* 0 or an SQLite result code. */
static int configure(sqlite3 *handle)
{
	static const char pragmas[] = "PRAGMA journal_mode = WAL;"
				      "PRAGMA synchronous = FULL;"
				      "PRAGMA foreign_keys = ON;"
				      "PRAGMA wal_autocheckpoint = 0;"
				      "PRAGMA trusted_schema = OFF;"
				      "PRAGMA cell_size_check = ON;"
				      "PRAGMA temp_store = MEMORY;"
				      "PRAGMA mmap_size = 0;";
	char sizes[96];
	int rc = sqlite3_exec(handle, pragmas, NULL, NULL, NULL);

	snprintf(sizes, sizeof(sizes),
		"PRAGMA cache_size = -%d; PRAGMA journal_size_limit = %d", CACHE_KIB,
		WAL_LIMIT_BYTES);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(handle, sizes, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return rc;
}

/* What PRAGMA journal_mode came to; SQLite keeps the old mode without an error when it
 * cannot change it. */
static bool in_wal_mode(sqlite3 *handle, int *page_bytes)
{
	sqlite3_stmt *statement = NULL;
	bool wal = false;

	if (sqlite3_prepare_v2(handle,
		    "SELECT * FROM pragma_journal_mode, pragma_page_size", -1, &statement,
		    NULL) == SQLITE_OK &&
		sqlite3_step(statement) == SQLITE_ROW) {
		const char *mode = (const char *)sqlite3_column_text(statement, 0);

		wal = mode && strcmp(mode, "wal") == 0;
		*page_bytes = sqlite3_column_int(statement, 1);
	}
	sqlite3_finalize(statement);
	return wal;
}

static int open_inspected(struct database *db, struct error_text *problem)
{
	struct error_text inner = {0};
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
		    SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
	int rc = sqlite3_open_v2(db->path, &db->handle, flags, NULL);
	int result;

	if (rc == SQLITE_OK)
		rc = configure(db->handle);
	if (rc != SQLITE_OK) {
		database_error_text(db, problem);
		return database_errno(rc);
	}
	if (!in_wal_mode(db->handle, &db->page_bytes)) {
		error_text_set(problem, "%s cannot be put into WAL mode. %s", db->path,
			advice(-EIO));
		return -EIO;
	}
	sqlite3_wal_hook(db->handle, on_commit, db);
	result = schema_apply(db->handle, db->schema, &inner);
	if (result < 0)
		error_text_set(
			problem, "%s cannot be used: %.500s", db->path, inner.text);
	return result;
}

/* A file that is about to be brought to a newer schema is kept as it was. */
static int keep_older(const char *path, int version, struct error_text *problem)
{
	static const atomic_bool never;
	char target[PATH_MAX];
	int64_t bytes;

	if (snprintf(target, sizeof(target), "%s.schema-%d", path, version) >=
		(int)sizeof(target)) {
		error_text_set(
			problem, "The path of the database is too long: %.200s...", path);
		return -ENAMETOOLONG;
	}
	return backup_file_write(path, target, &never, &bytes, problem);
}

int database_open(struct database *db, const char *path, const struct schema *schema,
	struct error_text *problem)
{
	struct inspection seen;
	int result = check_directory(path, problem);

	*db = (struct database){0};
	if (result < 0)
		return result;
	result = inspect_file(path, schema, INSPECT_START_MS, &seen);
	if (result < 0) {
		*problem = seen.problem;
		return result;
	}
	if (seen.version > 0 && seen.version < schema->version)
		result = keep_older(path, seen.version, problem);
	if (result < 0)
		return result;
	db->schema = schema;
	db->path = xstrdup(path);
	db->statements = xcalloc((size_t)(STATEMENTS_OF_ALL + schema->statements_count),
		sizeof(sqlite3_stmt *));
	result = open_inspected(db, problem);
	if (result < 0)
		database_close(db);
	return result;
}

void database_close(struct database *db)
{
	for (int i = 0;
		db->schema && i < STATEMENTS_OF_ALL + db->schema->statements_count; i++)
		sqlite3_finalize(db->statements[i]);
	free(db->statements);
	sqlite3_close(db->handle);
	free(db->path);
	*db = (struct database){0};
}

bool database_in_place(const struct database *db)
{
	char log[PATH_MAX];
	int moved = 0;

	if (sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
			SQLITE_OK &&
		moved)
		return false;
	/* The log is there from the first use of the file until the last connection
	 * closes. */
	snprintf(log, sizeof(log), "%s-wal", db->path);
	return access(log, F_OK) == 0 || errno != ENOENT;
}

int database_probe(struct database *db)
{
	char sql[96];

	/* Setting the version writes the first page also when it stays the same. */
	snprintf(sql, sizeof(sql), "BEGIN IMMEDIATE; PRAGMA user_version = %d; COMMIT",
		db->schema->version);
	if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK) {
		int result = database_errno(sqlite3_extended_errcode(db->handle));

		if (!sqlite3_get_autocommit(db->handle))
			sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
		return result;
	}
	return 0;
}

int64_t database_log_bytes(const struct database *db)
{
	char log[PATH_MAX];
	struct stat st;

	snprintf(log, sizeof(log), "%s-wal", db->path);
	return stat(log, &st) == 0 ? st.st_size : 0;
}

static const char *sql_of(const struct database *db, int which)
{
	int own = which - STATEMENTS_OF_ALL;

	return own < 0 ? sql_of_all[which] : db->schema->statements[own];
}

sqlite3_stmt *query_begin(struct database *db, int which)
{
	sqlite3_stmt **kept = &db->statements[which];

	assert(which >= 0 && which - STATEMENTS_OF_ALL < db->schema->statements_count);
	if (!*kept && sqlite3_prepare_v3(db->handle, sql_of(db, which), -1,
			      SQLITE_PREPARE_PERSISTENT, kept, NULL) != SQLITE_OK)
		return NULL;
	/* A statement that is in use would be reset under its user. */
	assert(!sqlite3_stmt_busy(*kept));
	return *kept;
}

void query_end(sqlite3_stmt **statement)
{
	if (!*statement)
		return;
	/* An open statement would pin the log (R32). */
	sqlite3_reset(*statement);
	sqlite3_clear_bindings(*statement);
	*statement = NULL;
}

void query_text(sqlite3_stmt *query, int index, struct str text)
{
	if (query && text.ptr)
		sqlite3_bind_text64(
			query, index, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

int query_step(struct database *db, sqlite3_stmt *query)
{
	int rc = query ? sqlite3_step(query) : sqlite3_extended_errcode(db->handle);

	if (rc == SQLITE_ROW)
		return 1;
	return database_errno(rc);
}

int query_run(struct database *db, sqlite3_stmt *query)
{
	int result;

	while ((result = query_step(db, query)) == 1)
		;
	return result < 0 ? result : sqlite3_changes(db->handle);
}

struct str query_column(sqlite3_stmt *query, int column, struct arena *arena)
{
	const char *text = (const char *)sqlite3_column_text(query, column);

	if (!text)
		return (struct str){0};
	return arena_str(
		arena, (struct str){text, (size_t)sqlite3_column_bytes(query, column)});
}

int database_execute(struct database *db, int which)
{
	AUTO_QUERY *query = query_begin(db, which);
	int result = query_run(db, query);

	return result < 0 ? result : 0;
}
