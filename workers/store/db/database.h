/*
 * database.h - one SQLite file: opened safely, its statements kept, its errors named.
 *
 * Write-ahead log, full sync, foreign keys on. Only workers/store knows SQLite. Locks are
 * never waited for in here: -EBUSY comes back at once and the caller tries again from the
 * event loop.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/str.h"
#include "workers/store/db/schema.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* What can be executed on every database; those of one alone are numbered from
 * STATEMENTS_OF_ALL on, in the order of its schema's list. */
enum {
#define STATEMENT(name, sql) STATEMENT_##name,
#include "workers/store/db/transactions.def"
#undef STATEMENT
	STATEMENTS_OF_ALL
};

struct database {
	sqlite3 *handle;
	char *path;
	const struct schema *schema;
	sqlite3_stmt **statements; /* each prepared once, at first use */
	uint64_t commits;	   /* that wrote something */
	uint64_t log_pages;	   /* in the write-ahead log after the last commit */
	int page_bytes;
};

/* -errno of an SQLite result code, extended or not; 0 for SQLITE_OK, ROW and DONE.
 * -EUCLEAN stands for a damaged file, -ENOSPC for a full disk, -EBUSY for a lock, -EINVAL
 * for one statement that went wrong. */
int database_errno(int rc) __attribute__((const));

/*
 * Opens `path`, making it if there is none, and brings it to `schema`. The file is
 * inspected first (inspect.h) and not changed unless it is sound and ours; one of an
 * older schema is copied to `path`.schema-N before it is changed. 0; -EUCLEAN: damaged,
 * foreign or on a shared file system, it will not get better by itself; -EBUSY: locked,
 * try again; or another -errno. On failure `problem` says for people what is wrong with
 * which file and what to do, and *db is closed.
 */
int database_open(struct database *db, const char *path, const struct schema *schema,
	struct error_text *problem) __attribute__((warn_unused_result));
/* Finalizes and closes; the log is checkpointed and removed when nobody else has the file
 * open. */
void database_close(struct database *db);

/* For people: the last error of the handle, with the file and what to do about it. */
void database_error_text(const struct database *db, struct error_text *problem);

/* False when the file that `path` names, or its log, is no longer the one that is open.
 */
bool database_in_place(const struct database *db);

/* Writes something that changes nothing, to see whether writing works. 0 or -errno. */
int database_probe(struct database *db) __attribute__((warn_unused_result));
/* Size of the log on disk. */
int64_t database_log_bytes(const struct database *db);

/* ---- statements ---- */

/* A statement ready to be bound, or NULL (database_result tells). Give it back with
 * query_end. */
sqlite3_stmt *query_begin(struct database *db, int which);
void query_end(sqlite3_stmt **statement);
#define AUTO_QUERY __attribute__((cleanup(query_end))) sqlite3_stmt

/* Text is borrowed until query_end; an absent one is bound as NULL. */
void query_text(sqlite3_stmt *query, int index, struct str text);
/* 1 a row is there, 0 no more, or -errno. A NULL query gives the error that query_begin
 * had. */
int query_step(struct database *db, sqlite3_stmt *query)
	__attribute__((warn_unused_result));
/* Runs to the end. The number of rows changed, or -errno. */
int query_run(struct database *db, sqlite3_stmt *query)
	__attribute__((warn_unused_result));
/* Copied into the arena; absent for NULL. */
struct str query_column(sqlite3_stmt *query, int column, struct arena *arena);

/* A statement without parameters and rows. 0 or -errno. */
int database_execute(struct database *db, int which) __attribute__((warn_unused_result));
