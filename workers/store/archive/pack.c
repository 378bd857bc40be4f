/* pack.c - writes an archive (archive.h). */
#include "common/base/file_io.h"
#include "workers/store/archive/archive.h"
#include "workers/store/db/backup_file.h"
#include "workers/store/db/database.h"
#include "workers/store/db/inspect.h"
#include "workers/store/memory/memory.h"
#include "workers/store/streams/streams.h"
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES (256 * 1024)
/* Of SQLite, less what a row has beside its content. */
#define CONTENT_MAX (1000ll * 1000 * 1000 - 65536)
#define TEXT(number) #number
#define SETUP(id, version)                                                               \
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA "                   \
	"application_id = " TEXT(id) "; PRAGMA user_version = " TEXT(                    \
		version) "; BEGIN; CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, " \
			 "mtime INT, sz INT, data BLOB)"

const struct archive_database archive_databases[ARCHIVE_DATABASES] = {
	{"paige.db", &paige_schema},
	{"guard.db", &streams_schema},
	{"memory.db", &memory_schema},
};
const char *const archive_folders[] = {"buffers", "agents", NULL};

struct packing {
	sqlite3 *db;
	const char *file;
	struct error_text *problem;
};

static int fail_os(struct packing *p, const char *what, const char *path, int error)
{
	error_text_set(p->problem, "Cannot %s %s: %s", what, path, strerror(error));
	return -error;
}

static int fail_sql(struct packing *p)
{
	error_text_set(p->problem, "Cannot write %s: %s", p->file,
		p->db ? sqlite3_errmsg(p->db) : "out of memory");
	return p->db ? database_errno(sqlite3_extended_errcode(p->db)) : -ENOMEM;
}

/* A row with as many zeros as the file has bytes; content NULL of a folder. */
static int add_row(struct packing *p, const char *name, const struct stat *st)
{
	sqlite3_stmt *insert = NULL;
	bool whole;

	if (sqlite3_prepare_v2(p->db, "INSERT INTO sqlar VALUES (?1, ?2, ?3, ?4, ?5)", -1,
		    &insert, NULL) != SQLITE_OK)
		return fail_sql(p);
	sqlite3_bind_text(insert, 1, name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(insert, 2, (sqlite3_int64)st->st_mode);
	sqlite3_bind_int64(insert, 3, (sqlite3_int64)st->st_mtime);
	sqlite3_bind_int64(insert, 4, S_ISDIR(st->st_mode) ? 0 : st->st_size);
	if (!S_ISDIR(st->st_mode))
		sqlite3_bind_zeroblob64(insert, 5, (sqlite3_uint64)st->st_size);
	whole = sqlite3_step(insert) == SQLITE_DONE;
	sqlite3_finalize(insert);
	return whole ? 0 : fail_sql(p);
}

static int copy_content(struct packing *p, int fd, int64_t bytes, const char *path)
{
	static char chunk[CHUNK_BYTES];
	sqlite3_blob *content = NULL;
	int64_t at = 0;
	int result = 0;

	if (bytes == 0)
		return 0;
	if (sqlite3_blob_open(p->db, "main", "sqlar", "data",
		    sqlite3_last_insert_rowid(p->db), 1, &content) != SQLITE_OK)
		result = fail_sql(p);
	while (result == 0 && at < bytes) {
		const int64_t left = bytes - at;
		ssize_t n = read(
			fd, chunk, left < CHUNK_BYTES ? (size_t)left : sizeof(chunk));

		if (n <= 0)
			result = fail_os(p, "read", path, n < 0 ? errno : ESTALE);
		else if (sqlite3_blob_write(content, chunk, (int)n, (int)at) != SQLITE_OK)
			result = fail_sql(p);
		else
			at += n;
	}
	sqlite3_blob_close(content);
	return result;
}

/* A file, or a folder without what is in it. Others, such as sockets, are left out. */
static int add_file(struct packing *p, const char *name, const char *path)
{
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int result = 0;

	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? 0
							: fail_os(p, "read", path, errno);
	if (fstat(fd, &st) != 0)
		result = fail_os(p, "read", path, errno);
	else if (st.st_size > CONTENT_MAX && S_ISREG(st.st_mode))
		result = fail_os(p, "hold more than 1 GB of one file:", path, EFBIG);
	else if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		result = add_row(p, name, &st);
	if (result == 0 && S_ISREG(st.st_mode))
		result = copy_content(p, fd, st.st_size, path);
	return result;
}

/* A whole copy goes in, and is checked for that: its log stays behind. */
static int add_database(
	struct packing *p, const char *data_dir, const struct archive_database *database)
{
	static const atomic_bool never;
	char path[PATH_MAX], copy[PATH_MAX];
	struct inspection found;
	int64_t bytes;
	int result;

	if (snprintf(path, sizeof(path), "%s/%s", data_dir, database->name) >=
			(int)sizeof(path) ||
		snprintf(copy, sizeof(copy), "%s.%s", p->file, database->name) >=
			(int)sizeof(copy))
		return fail_os(p, "read", data_dir, ENAMETOOLONG);
	result = inspect_file(path, database->schema, ARCHIVE_CHECK_MS, &found);
	if (result < 0)
		*p->problem = found.problem;
	if (result < 0 || found.absent)
		return result;
	result = backup_file_write(path, copy, &never, &bytes, p->problem);
	if (result == 0)
		result = add_file(p, database->name, copy);
	unlink(copy);
	return result;
}

static int add_folder(struct packing *p, const char *data_dir, const char *folder)
{
	const size_t above = strlen(data_dir) + 1;
	char path[PATH_MAX];
	char *const paths[] = {path, NULL};
	FTS *tree;
	FTSENT *entry;
	int result = 0;

	if (snprintf(path, sizeof(path), "%s/%s", data_dir, folder) >= (int)sizeof(path))
		return fail_os(p, "read", data_dir, ENAMETOOLONG);
	if (access(path, F_OK) != 0)
		return errno == ENOENT ? 0 : fail_os(p, "read", path, errno);
	tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	if (!tree)
		return fail_os(p, "read", path, errno);
	while (result == 0 && (entry = fts_read(tree)) != NULL) {
		if (entry->fts_info == FTS_F || entry->fts_info == FTS_D)
			result = add_file(p, entry->fts_path + above, entry->fts_path);
		else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
			result = fail_os(p, "read", entry->fts_path, entry->fts_errno);
	}
	fts_close(tree);
	return result;
}

static int pack(struct packing *p, const char *data_dir)
{
	int result = 0;

	if (sqlite3_open_v2(p->file, &p->db,
		    SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE,
		    NULL) != SQLITE_OK ||
		sqlite3_exec(p->db, SETUP(ARCHIVE_APPLICATION_ID, ARCHIVE_VERSION), NULL,
			NULL, NULL) != SQLITE_OK)
		return fail_sql(p);
	for (size_t i = 0; i < ARCHIVE_DATABASES && result == 0; i++)
		result = add_database(p, data_dir, &archive_databases[i]);
	for (size_t i = 0; archive_folders[i] && result == 0; i++)
		result = add_folder(p, data_dir, archive_folders[i]);
	if (result == 0 && sqlite3_exec(p->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		result = fail_sql(p);
	return result;
}

int archive_pack(const char *data_dir, const char *file, struct error_text *problem)
{
	struct packing p = {.file = file, .problem = problem};
	AUTO_FD fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int result = fd < 0 ? fail_os(&p, "write", file, errno) : pack(&p, data_dir);

	sqlite3_close(p.db);
	if (result == 0 && fsync(fd) != 0)
		result = fail_os(&p, "sync", file, errno);
	if (fd >= 0 && result < 0)
		unlink(file);
	return result;
}
