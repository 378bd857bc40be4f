/* inspect.c - looks at a database file without changing a byte of it (inspect.h). */
#include "workers/store/db/inspect.h"
#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/file_io.h"
#include "workers/store/db/image.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A log beyond this is not read frame by frame; it is many times the limit that wal.h
 * keeps. */
#define LOG_MAX_BYTES (512ll * 1024 * 1024)
#define CHECK_STEPS 2000 /* virtual machine steps between two looks at the clock */

#define DAMAGED_ADVICE                                                                   \
	"It was left as it is. Restore it from a backup, or move it away to start anew."

static int fail(struct inspection *out, int error, const char *what, const char *path)
{
	error_text_set(&out->problem, "%s %s: %s", what, path, strerror(error));
	return -error;
}

static int damaged(struct inspection *out, const char *path, const char *how)
{
	error_text_set(&out->problem, "%s is damaged: %s. " DAMAGED_ADVICE, path, how);
	return -EUCLEAN;
}

/* Reads `len` bytes at `offset`, fewer at the end of the file. The number, or -errno. */
static ssize_t read_at(int fd, void *out, size_t len, off_t offset)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n =
			pread(fd, (char *)out + done, len - done, offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* Size of `path` and `suffix`: 0 when there is none, -errno when it cannot be told. */
static int64_t side_file_size(const char *path, const char *suffix)
{
	char name[PATH_MAX];
	struct stat st;

	if (snprintf(name, sizeof(name), "%s%s", path, suffix) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	if (stat(name, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	return st.st_size;
}

static enum image_log_verdict read_log_frames(int fd, struct image_log *log, int *error)
{
	size_t frame_bytes = IMAGE_FRAME_HEADER_BYTES + log->page_bytes;
	AUTO_FREE unsigned char *frame = xmalloc(frame_bytes);
	off_t at = IMAGE_LOG_HEADER_BYTES;

	while (at < LOG_MAX_BYTES) {
		ssize_t n = read_at(fd, frame, frame_bytes, at);

		if (n < 0) {
			*error = (int)-n;
			break;
		}
		if ((size_t)n < frame_bytes)
			break;
		image_log_frame(log, frame);
		at += (off_t)frame_bytes;
	}
	return image_log_end(log);
}

/* *holds tells whether the log has commits that the file itself may not have yet. */
static int inspect_log(const char *path, bool *holds, struct inspection *out)
{
	unsigned char first[IMAGE_LOG_HEADER_BYTES];
	char name[PATH_MAX];
	struct image_log log;
	enum image_log_verdict verdict;
	struct stat st;
	int error = 0;
	ssize_t n;
	AUTO_FD fd = -1;

	*holds = false;
	if (snprintf(name, sizeof(name), "%s-wal", path) >= (int)sizeof(name))
		return fail(out, ENAMETOOLONG, "Cannot read the log of", path);
	/* A pipe with nobody at its other end would keep us waiting. */
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : fail(out, errno, "Cannot read", name);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return damaged(out, name, "it is not a regular file");
	n = read_at(fd, first, sizeof(first), 0);
	if (n < 0)
		return fail(out, (int)-n, "Cannot read", name);
	verdict = image_log_begin(&log, (struct str){(char *)first, (size_t)n});
	if (verdict == IMAGE_LOG_GOOD)
		verdict = read_log_frames(fd, &log, &error);
	if (error)
		return fail(out, error, "Cannot read", name);
	if (verdict == IMAGE_LOG_FOREIGN)
		return damaged(out, name,
			"it is no write-ahead log of SQLite, or its header is broken");
	if (verdict == IMAGE_LOG_DAMAGED)
		return damaged(out, name, "transactions lie behind a broken part of it");
	*holds = verdict == IMAGE_LOG_GOOD;
	return 0;
}

static int inspect_header(const char *path, bool log_holds, struct inspection *out)
{
	char first[IMAGE_HEADER_BYTES];
	struct image_header header;
	const char *wrong;
	struct stat st;
	ssize_t n;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		if (errno != ENOENT)
			return fail(out, errno, "Cannot read the database", path);
		out->absent = true;
		return log_holds
			       ? damaged(out, path, "it is missing, but its log is there")
			       : 0;
	}
	if (fstat(fd, &st) < 0)
		return fail(out, errno, "Cannot read the database", path);
	if (!S_ISREG(st.st_mode))
		return damaged(out, path, "it is not a regular file");
	n = read_at(fd, first, sizeof(first), 0);
	if (n < 0)
		return fail(out, (int)-n, "Cannot read the database", path);
	if (n == 0) {
		out->absent = true;
		return log_holds ? damaged(out, path, "it is empty, but its log is not")
				 : 0;
	}
	wrong = image_header_read((struct str){first, (size_t)n}, &header);
	if (wrong)
		return damaged(out, path, wrong);
	/* With a log, the missing pages may be there. */
	if (!log_holds && st.st_size < (int64_t)header.pages * header.page_bytes)
		return damaged(out, path, "its end is missing");
	return 0;
}

/* `path` as a file: URI with `query`. */
static void add_uri(struct buf *out, const char *path, const char *query)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/";

	buf_add_str(out, STR_LIT("file:"));
	for (const char *p = path; *p; p++) {
		if (strchr(plain, *p))
			buf_add_char(out, *p);
		else
			buf_printf(out, "%%%02X", (unsigned char)*p);
	}
	buf_printf(out, "?%s", query);
	buf_add_char(out, '\0');
}

static int on_progress(void *arg)
{
	const struct mono *deadline = arg;

	return clock_mono().us >= deadline->us;
}

static int sqlite_problem(sqlite3 *db, const char *path, struct inspection *out)
{
	int rc = db ? sqlite3_errcode(db) : SQLITE_NOMEM;

	switch (rc) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return damaged(out, path, sqlite3_errmsg(db));
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		error_text_set(&out->problem, "%s is locked by another process", path);
		return -EBUSY;
	default:
		error_text_set(&out->problem, "Cannot read the database %s: %s", path,
			db ? sqlite3_errmsg(db) : "out of memory");
		return rc == SQLITE_CANTOPEN || rc == SQLITE_PERM ? -EACCES : -EIO;
	}
}

static int check_pages(
	sqlite3 *db, const char *path, int64_t budget_ms, struct inspection *out)
{
	struct mono deadline = mono_add_ms(clock_mono(), budget_ms);
	sqlite3_stmt *check = NULL;
	int result = 0;
	int rc;

	/* The schema is read whole, whatever the time. */
	if (sqlite3_exec(db,
		    "PRAGMA cell_size_check = ON; SELECT count(*) FROM sqlite_schema",
		    NULL, NULL, NULL) != SQLITE_OK)
		return sqlite_problem(db, path, out);
	sqlite3_progress_handler(db, CHECK_STEPS, on_progress, &deadline);
	rc = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &check, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(check);
	if (rc == SQLITE_ROW) {
		const char *said = (const char *)sqlite3_column_text(check, 0);

		if (said && strcmp(said, "ok") != 0)
			result = damaged(out, path, said);
	} else if (rc == SQLITE_INTERRUPT) {
		out->partly = true;
	} else {
		result = sqlite_problem(db, path, out);
	}
	sqlite3_finalize(check);
	sqlite3_progress_handler(db, 0, NULL, NULL);
	return result;
}

static int check_schema(sqlite3 *db, const char *path, const struct schema *schema,
	struct inspection *out)
{
	struct error_text inner = {0};
	int result = schema_check(db, schema, &out->version, &inner);

	if (result == -EUCLEAN)
		error_text_set(&out->problem,
			"%s cannot be used: %.500s. " DAMAGED_ADVICE, path, inner.text);
	else if (result < 0)
		return sqlite_problem(db, path, out);
	return result;
}

/*
 * How the file is opened decides what SQLite touches. Immutable: nothing at all, no lock,
 * no log, no shared memory; right when all there is stands in the file. Exclusive with
 * checkpoints off: the index of the log is made in memory instead of a file beside the
 * database, and closing leaves the log where it is.
 */
enum inspect_mode { INSPECT_IMMUTABLE, INSPECT_EXCLUSIVE, INSPECT_SHARED };

static int inspect_pages(const char *path, const struct schema *schema,
	enum inspect_mode mode, int64_t budget_ms, struct inspection *out)
{
	AUTO_BUF uri = {0};
	sqlite3 *db = NULL;
	int result;
	int flags = SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOMUTEX |
		    (mode == INSPECT_EXCLUSIVE ? SQLITE_OPEN_READWRITE
					       : SQLITE_OPEN_READONLY);

	add_uri(&uri, path, mode == INSPECT_IMMUTABLE ? "immutable=1" : "cache=private");
	if (sqlite3_open_v2(uri.data, &db, flags, NULL) != SQLITE_OK)
		result = sqlite_problem(db, path, out);
	else if (sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) !=
		 SQLITE_OK)
		result = sqlite_problem(db, path, out);
	else if (mode == INSPECT_EXCLUSIVE &&
		 sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL) !=
			 SQLITE_OK)
		result = sqlite_problem(db, path, out);
	else
		result = check_pages(db, path, budget_ms, out);
	if (result == 0 && schema)
		result = check_schema(db, path, schema, out);
	sqlite3_close(db);
	return result;
}

int inspect_file(const char *path, const struct schema *schema, int64_t budget_ms,
	struct inspection *out)
{
	int64_t log_bytes = side_file_size(path, "-wal");
	int64_t journal_bytes = side_file_size(path, "-journal");
	bool log_holds;
	int result;

	*out = (struct inspection){0};
	if (log_bytes < 0 || journal_bytes < 0)
		return fail(out, (int)-(log_bytes < 0 ? log_bytes : journal_bytes),
			"Cannot read the files beside", path);
	result = inspect_log(path, &log_holds, out);
	if (result == 0)
		result = inspect_header(path, log_holds, out);
	if (result != 0 || out->absent)
		return result;
	if (!log_holds && journal_bytes == 0)
		return inspect_pages(path, schema, INSPECT_IMMUTABLE, budget_ms, out);
	result = inspect_pages(path, schema, INSPECT_EXCLUSIVE, budget_ms, out);
	/* Somebody has it open, so the files beside it are theirs already. */
	if (result == -EBUSY)
		result = inspect_pages(path, schema, INSPECT_SHARED, budget_ms, out);
	return result;
}

int inspect_running(const char *path, int64_t budget_ms, struct inspection *out)
{
	*out = (struct inspection){0};
	return inspect_pages(path, NULL, INSPECT_SHARED, budget_ms, out);
}
