/* backup_file.c - a verified copy of a database that is in use (backup_file.h). */
#include "workers/store/db/backup_file.h"
#include "common/base/file_io.h"
#include "workers/store/db/database.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_PAGES 256	  /* between two looks at *cancel */
#define CHECK_STEPS 10000 /* of SQLite's virtual machine, likewise */
#define LOCKED_PAUSE_MS 5 /* while another process has the file locked */
#define LOCKED_TRIES 1000

struct copying {
	const char *source;
	sqlite3 *from, *to;
	char part[PATH_MAX];
	const atomic_bool *cancel;
};

static int fail(
	sqlite3 *db, const char *what, const char *path, struct error_text *problem)
{
	error_text_set(problem, "Cannot %s %s: %s", what, path,
		db ? sqlite3_errmsg(db) : "out of memory");
	return db ? database_errno(sqlite3_extended_errcode(db)) : -ENOMEM;
}

static int fail_os(const char *what, const char *path, struct error_text *problem)
{
	int error = errno;

	error_text_set(problem, "Cannot %s %s: %s", what, path, strerror(error));
	return -error;
}

/* Opened, and within a transaction that sees one moment of the file. */
static int open_source(struct copying *c, struct error_text *problem)
{
	int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;

	if (sqlite3_open_v2(c->source, &c->from, flags, NULL) != SQLITE_OK ||
		sqlite3_exec(c->from, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL,
			NULL, NULL) != SQLITE_OK)
		return fail(c->from, "read", c->source, problem);
	return 0;
}

/* Made anew and readable by its owner only. Nobody reads it before it is whole, so it
 * needs no journal. */
static int open_part(struct copying *c, struct error_text *problem)
{
	int flags =
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	int fd;

	unlink(c->part);
	fd = open(c->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return fail_os("write", c->part, problem);
	close(fd);
	if (sqlite3_open_v2(c->part, &c->to, flags, NULL) != SQLITE_OK ||
		sqlite3_exec(c->to,
			"PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; "
			"PRAGMA journal_mode = OFF",
			NULL, NULL, NULL) != SQLITE_OK)
		return fail(c->to, "write", c->part, problem);
	return 0;
}

static int copy_pages(struct copying *c, struct error_text *problem)
{
	sqlite3_backup *backup = sqlite3_backup_init(c->to, "main", c->from, "main");
	int tries = 0;
	int rc = SQLITE_OK;

	if (!backup)
		return fail(c->to, "write", c->part, problem);
	while (rc != SQLITE_DONE && !*c->cancel) {
		rc = sqlite3_backup_step(backup, STEP_PAGES);
		if ((rc == SQLITE_BUSY || rc == SQLITE_LOCKED) && tries++ < LOCKED_TRIES)
			usleep(LOCKED_PAUSE_MS * 1000);
		else if (rc != SQLITE_OK && rc != SQLITE_DONE)
			break;
	}
	sqlite3_backup_finish(backup);
	if (rc == SQLITE_DONE)
		return 0;
	if (*c->cancel)
		return -ECANCELED;
	return fail(c->to, "write", c->part, problem);
}

static int on_progress(void *arg)
{
	const atomic_bool *const *cancel = arg;

	return **cancel;
}

/* The copy of a database with a log wants one too; a file to be carried about must not.
 */
static int close_part(struct copying *c, struct error_text *problem)
{
	int result = 0;

	if (sqlite3_exec(c->to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) !=
		SQLITE_OK)
		result = fail(c->to, "write", c->part, problem);
	sqlite3_close(c->to);
	c->to = NULL;
	return result;
}

static int check_pages(struct copying *c, sqlite3 *db, struct error_text *problem)
{
	sqlite3_stmt *check = NULL;
	const char *said = NULL;
	int result = 0;

	sqlite3_progress_handler(db, CHECK_STEPS, on_progress, &c->cancel);
	if (sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &check, NULL) ==
			SQLITE_OK &&
		sqlite3_step(check) == SQLITE_ROW)
		said = (const char *)sqlite3_column_text(check, 0);
	if (*c->cancel) {
		result = -ECANCELED;
	} else if (!said) {
		result = fail(db, "check", c->part, problem);
	} else if (strcmp(said, "ok") != 0) {
		error_text_set(problem, "%s", said);
		result = -EUCLEAN;
	}
	sqlite3_finalize(check);
	return result;
}

/* Reads the file anew: what wrote it still has its pages in memory. */
static int check_part(struct copying *c, struct error_text *problem)
{
	int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	sqlite3 *db = NULL;
	int result;

	if (sqlite3_open_v2(c->part, &db, flags, NULL) == SQLITE_OK)
		result = check_pages(c, db, problem);
	else
		result = fail(db, "check", c->part, problem);
	sqlite3_close(db);
	return result;
}

static int sync_path(const char *path, int flags, struct error_text *problem)
{
	AUTO_FD fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		return fail_os("open", path, problem);
	return fsync(fd) < 0 ? fail_os("sync", path, problem) : 0;
}

/* Syncs the whole copy and gives it its name. */
static int keep_part(
	struct copying *c, const char *target, int64_t *bytes, struct error_text *problem)
{
	char directory[PATH_MAX];
	struct stat st;
	int result = sync_path(c->part, O_RDONLY, problem);

	if (result < 0)
		return result;
	if (stat(c->part, &st) < 0)
		return fail_os("look at", c->part, problem);
	if (rename(c->part, target) < 0)
		return fail_os("write", target, problem);
	*bytes = st.st_size;
	snprintf(directory, sizeof(directory), "%s", target);
	return sync_path(dirname(directory), O_RDONLY | O_DIRECTORY, problem);
}

int backup_file_write(const char *source, const char *target, const atomic_bool *cancel,
	int64_t *bytes, struct error_text *problem)
{
	struct copying c = {.source = source, .cancel = cancel};
	int result;

	if (snprintf(c.part, sizeof(c.part), "%s" BACKUP_FILE_PART, target) >=
		(int)sizeof(c.part)) {
		errno = ENAMETOOLONG;
		return fail_os("write", target, problem);
	}
	result = open_source(&c, problem);
	if (result == 0)
		result = open_part(&c, problem);
	if (result == 0)
		result = copy_pages(&c, problem);
	sqlite3_close(c.from);
	if (result == 0)
		result = close_part(&c, problem);
	sqlite3_close(c.to);
	if (result == 0)
		result = check_part(&c, problem);
	if (result == 0)
		result = keep_part(&c, target, bytes, problem);
	if (result < 0)
		unlink(c.part);
	if (result == -EUCLEAN) {
		struct error_text found = *problem;

		error_text_set(problem,
			"%s is damaged, so no copy was made. Stop the daemon and restore "
			"the file "
			"from an earlier backup. (%.300s)",
			source, found.text);
	}
	return result;
}
