/* unpack.c - reads an archive, or a database that somebody brings (archive.h). Believes nothing that they say. */
#include "common/base/file_io.h"
#include "common/base/relative_path.h"
#include "workers/store/archive/archive.h"
#include "workers/store/db/backup_file.h"
#include "workers/store/db/database.h"
#include "workers/store/db/inspect.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES (256 * 1024)

struct unpacking {
	sqlite3 *db;
	const char *file;
	int folder;
	struct error_text *problem;
};

static int refuse(struct unpacking *u, const char *why)
{
	error_text_set(
		u->problem, "%s is no learner that was exported: %s", u->file, why);
	return -EUCLEAN;
}

static int fail_os(struct unpacking *u, const char *name, int error)
{
	error_text_set(u->problem, "Cannot write %s: %s", name, strerror(error));
	return -error;
}

static int number(struct unpacking *u, const char *sql)
{
	sqlite3_stmt *query = NULL;
	int value = -1;

	if (sqlite3_prepare_v2(u->db, sql, -1, &query, NULL) == SQLITE_OK &&
		sqlite3_step(query) == SQLITE_ROW)
		value = sqlite3_column_int(query, 0);
	sqlite3_finalize(query);
	return value;
}

/* Whose file it is, of which version, and whether it is whole. */
static int look(struct unpacking *u)
{
	struct inspection found;
	int version;
	int result = inspect_file(u->file, NULL, ARCHIVE_CHECK_MS, &found);

	if (result < 0)
		return refuse(u, found.problem.text);
	if (found.absent)
		return refuse(u, "it does not exist, or is empty");
	if (sqlite3_open_v2(u->file, &u->db,
		    SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE, NULL) != SQLITE_OK)
		return refuse(u, sqlite3_errmsg(u->db));
	if (number(u, "PRAGMA application_id") != ARCHIVE_APPLICATION_ID)
		return refuse(u, "it is another database. A backup of paige.db is put in "
				 "place by `paigectl restore`");
	version = number(u, "PRAGMA user_version");
	if (version > ARCHIVE_VERSION)
		return refuse(u, "it was made by a later version of Paige");
	return version < 1 ? refuse(u, "it has no version") : 0;
}

/* What an archive may hold: nothing else is written. */
static bool allowed(const char *name)
{
	if (!relative_path_inside(str_of(name)))
		return false;
	for (size_t i = 0; i < ARCHIVE_DATABASES; i++)
		if (strcmp(name, archive_databases[i].name) == 0)
			return true;
	for (size_t i = 0; archive_folders[i]; i++) {
		const size_t n = strlen(archive_folders[i]);

		if (strncmp(name, archive_folders[i], n) == 0 &&
			(name[n] == '/' || name[n] == '\0'))
			return true;
	}
	return false;
}

static int copy_content(struct unpacking *u, sqlite3_int64 row, const char *name, int fd)
{
	static char chunk[CHUNK_BYTES];
	sqlite3_blob *content = NULL;
	int at = 0, bytes, result = 0;

	if (sqlite3_blob_open(u->db, "main", "sqlar", "data", row, 0, &content) !=
		SQLITE_OK)
		result = refuse(u, sqlite3_errmsg(u->db));
	bytes = result == 0 ? sqlite3_blob_bytes(content) : 0;
	while (result == 0 && at < bytes) {
		const int n = bytes - at < CHUNK_BYTES ? bytes - at : CHUNK_BYTES;

		if (sqlite3_blob_read(content, chunk, n, at) != SQLITE_OK)
			result = refuse(u, sqlite3_errmsg(u->db));
		else if (file_write_all(fd, (struct str){chunk, (size_t)n}) < 0)
			result = fail_os(u, name, errno);
		at += n;
	}
	sqlite3_blob_close(content);
	return result;
}

static int write_file(struct unpacking *u, sqlite3_int64 row, const char *name)
{
	int fd = openat(u->folder, name,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int result = fd < 0 ? fail_os(u, name, errno) : copy_content(u, row, name, fd);

	if (fd >= 0 && close(fd) != 0 && result == 0)
		result = fail_os(u, name, errno);
	return result;
}

/* Columns: rowid, name, mode, sz, length of data. */
static int write_entry(struct unpacking *u, sqlite3_stmt *row)
{
	const char *name = (const char *)sqlite3_column_text(row, 1);
	const mode_t mode = (mode_t)sqlite3_column_int64(row, 2);

	if (!name || (size_t)sqlite3_column_bytes(row, 1) != strlen(name) ||
		!allowed(name))
		return refuse(u, "it holds a file that no learner has");
	if (S_ISDIR(mode))
		return mkdirat(u->folder, name, 0700) == 0 ? 0 : fail_os(u, name, errno);
	if (!S_ISREG(mode) ||
		sqlite3_column_int64(row, 3) != sqlite3_column_int64(row, 4))
		return refuse(u, "it holds what is no plain file, or compressed");
	return write_file(u, sqlite3_column_int64(row, 0), name);
}

/* By name, so that a folder comes before what is in it. */
static int write_all(struct unpacking *u)
{
	sqlite3_stmt *rows = NULL;
	int rc, result = 0;

	if (sqlite3_prepare_v2(u->db,
		    "SELECT rowid, name, mode, sz, length(data) FROM sqlar ORDER BY name",
		    -1, &rows, NULL) != SQLITE_OK)
		return refuse(u, sqlite3_errmsg(u->db));
	while (result == 0 && (rc = sqlite3_step(rows)) == SQLITE_ROW)
		result = write_entry(u, rows);
	if (result == 0 && rc != SQLITE_DONE)
		result = refuse(u, sqlite3_errmsg(u->db));
	sqlite3_finalize(rows);
	return result;
}

static int check_databases(struct unpacking *u, const char *folder)
{
	for (size_t i = 0; i < ARCHIVE_DATABASES; i++) {
		char path[PATH_MAX];
		struct inspection found;

		if (snprintf(path, sizeof(path), "%s/%s", folder,
			    archive_databases[i].name) >= (int)sizeof(path))
			return fail_os(u, folder, ENAMETOOLONG);
		if (inspect_file(path, archive_databases[i].schema, ARCHIVE_CHECK_MS,
			    &found) < 0)
			return refuse(u, found.problem.text);
		if (i == 0 && found.absent)
			return refuse(u, "it holds no paige.db");
	}
	return 0;
}

int archive_unpack(const char *file, const char *folder, struct error_text *problem)
{
	struct unpacking u = {.file = file, .folder = -1, .problem = problem};
	int result = look(&u);

	if (result == 0) {
		u.folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		result = u.folder < 0 ? fail_os(&u, folder, errno) : write_all(&u);
	}
	sqlite3_close(u.db);
	if (u.folder >= 0)
		close(u.folder);
	return result == 0 ? check_databases(&u, folder) : result;
}

int archive_check(const char *file, const char *target, struct error_text *problem)
{
	static const atomic_bool never;
	struct inspection found;
	int64_t bytes;
	int result = inspect_file(file, &paige_schema, ARCHIVE_CHECK_MS, &found);

	if (result < 0) {
		*problem = found.problem;
		return result;
	}
	if (found.absent || found.version == 0) {
		error_text_set(problem, "%s %s", file,
			found.absent ? "does not exist, or is empty"
				     : "is a database without tables");
		return -EUCLEAN;
	}
	return backup_file_write(file, target, &never, &bytes, problem);
}
