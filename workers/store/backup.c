/* backup.c - a copy of the database while it is in use (backup.h). */
#include "workers/store/backup.h"
#include "common/log.h"
#include "common/worker.h"
#include "proto/messages.h"
#include "workers/store/serve.h"
#include "workers/store/services.h"
#include "workers/store/store.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* A lock that somebody holds at the beginning or the end is waited for; this is a thread.
 */
#define LOCK_WAIT_MS 10000
#define STACK_BYTES (512 * 1024)

/* ---- the copy ---- */

static int fail(sqlite3 *db, const char *what, const char *path, struct problem *problem)
{
	problem_set(problem, "%s %s: %s", what, path,
		db ? sqlite3_errmsg(db) : "out of memory");
	return db ? database_errno(sqlite3_extended_errcode(db)) : -ENOMEM;
}

static int copy_pages(
	sqlite3 *from, sqlite3 *to, const char *path, struct problem *problem)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
	int rc;

	if (!backup)
		return fail(to, "Cannot begin the copy", path, problem);
	/* All at once is one transaction of the source: one moment. */
	rc = sqlite3_backup_step(backup, -1);
	sqlite3_backup_finish(backup);
	if (rc != SQLITE_DONE)
		return fail(to, "Cannot write the copy", path, problem);
	/* The copy says that it has a write-ahead log; alone it needs none. */
	if (sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) !=
		SQLITE_OK)
		return fail(to, "Cannot finish the copy", path, problem);
	return 0;
}

static int verify(sqlite3 *db, const char *path, struct problem *problem)
{
	sqlite3_stmt *check = NULL;
	int result = 0;

	if (sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &check, NULL) !=
			SQLITE_OK ||
		sqlite3_step(check) != SQLITE_ROW) {
		result = fail(db, "Cannot verify the copy", path, problem);
	} else {
		const char *said = (const char *)sqlite3_column_text(check, 0);

		if (!said || strcmp(said, "ok") != 0) {
			problem_set(problem, "The copy %s is damaged: %s", path,
				said ? said : "?");
			result = -EUCLEAN;
		}
	}
	sqlite3_finalize(check);
	return result;
}

static int sync_file(const char *path, int64_t *bytes, struct problem *problem)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int result = 0;

	if (fd < 0 || fstat(fd, &st) < 0 || fsync(fd) < 0) {
		result = -errno;
		problem_set(
			problem, "Cannot sync the copy %s: %s", path, strerror(errno));
	} else {
		*bytes = st.st_size;
	}
	if (fd >= 0)
		close(fd);
	return result;
}

static int copy_into(
	sqlite3 *from, const char *path, int64_t *bytes, struct problem *problem)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	sqlite3 *to = NULL;
	int result;

	if (sqlite3_open_v2(path, &to, flags, NULL) != SQLITE_OK ||
		sqlite3_exec(to, "PRAGMA synchronous = OFF", NULL, NULL, NULL) !=
			SQLITE_OK)
		result = fail(to, "Cannot make the copy", path, problem);
	else
		result = copy_pages(from, to, path, problem);
	if (result == 0)
		result = verify(to, path, problem);
	sqlite3_close(to);
	if (result == 0)
		result = sync_file(path, bytes, problem);
	return result;
}

int backup_copy(const char *from, const char *to, int64_t *bytes, struct problem *problem)
{
	int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	sqlite3 *source = NULL;
	int result;

	if (fd < 0) {
		result = -errno;
		problem_set(problem, "Cannot make the copy %s: %s", to, strerror(errno));
		return result;
	}
	close(fd);
	if (sqlite3_open_v2(from, &source, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
		    NULL) != SQLITE_OK ||
		sqlite3_busy_timeout(source, LOCK_WAIT_MS) != SQLITE_OK)
		result = fail(source, "Cannot read the database", from, problem);
	else
		result = copy_into(source, to, bytes, problem);
	sqlite3_close(source);
	if (result < 0)
		unlink(to);
	return result;
}

void backup_sweep(const char *directory)
{
	DIR *d = opendir(directory);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strncmp(e->d_name, BACKUP_PREFIX, strlen(BACKUP_PREFIX)) == 0 &&
			unlinkat(dirfd(d), e->d_name, 0) == 0)
			log_info("removed a copy of the database that nobody took",
				"file", "%s", e->d_name, NULL);
	if (d)
		closedir(d);
}

/* ---- store.backup ---- */

/* One copy under way. The thread owns the results until it has written to `done_fd`. */
struct backup {
	struct store *store;
	struct call *call;
	char from[PATH_MAX], to[PATH_MAX];
	int done_fd;
	struct event *done;
	struct mono begun;
	int result;
	int64_t bytes;
	struct problem problem;
};

static void *run(void *arg)
{
	struct backup *b = arg;
	const uint64_t one = 1;
	ssize_t n;

	b->result = backup_copy(b->from, b->to, &b->bytes, &b->problem);
	n = write(b->done_fd, &one, sizeof(one));
	(void)n;
	return NULL;
}

static void backup_free(struct backup *b)
{
	b->store->backup = NULL;
	if (b->done)
		event_free(b->done);
	if (b->done_fd >= 0)
		close(b->done_fd);
	free(b);
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
	struct backup *b = arg;
	struct call *call = b->call;
	struct store *store = b->store;

	(void)fd;
	(void)what;
	if (b->result < 0) {
		log_error("the database was not copied", "problem", "%s", b->problem.text,
			NULL);
		call_refuse(call, ERROR_STORAGE_FAILED, "%s", b->problem.text);
	} else {
		log_info("the database was copied", "path", "%s", b->to, "bytes", "%lld",
			(long long)b->bytes, "ms", "%lld",
			(long long)mono_diff_ms(clock_mono(), b->begun), NULL);
		call_answer(call, &(struct backup_made){.path = str_of(b->to),
					  .bytes = b->bytes,
					  .has_bytes = true});
	}
	backup_free(b);
	serve_answer(store, call);
}

static int start_thread(struct backup *b)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	b->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (b->done_fd < 0)
		return -errno;
	b->done = event_new(b->store->worker->base, b->done_fd, EV_READ, on_done, b);
	if (!b->done || event_add(b->done, NULL) < 0)
		return -ENOMEM;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, run, b);
	pthread_attr_destroy(&attributes);
	return -error;
}

static int name_files(struct backup *b)
{
	char directory[PATH_MAX], id[UUID_SIZE];
	int n;

	uuid4(id);
	snprintf(b->from, sizeof(b->from), "%s", b->store->db.path);
	snprintf(directory, sizeof(directory), "%s", b->store->db.path);
	n = snprintf(b->to, sizeof(b->to), "%s/" BACKUP_PREFIX "%s.db",
		dirname(directory), id);
	return n < (int)sizeof(b->to) ? 0 : -ENAMETOOLONG;
}

static void refuse_second(struct store *store, struct call *call)
{
	call_refuse(call, ERROR_BUSY,
		"The database is being copied already; try again in a moment");
	serve_answer(store, call);
}

/* Outside of any transaction: the thread's view of the database begins when it does. */
static void begin(struct store *store, struct call *call)
{
	struct backup *b;
	int result;

	if (store->backup) {
		refuse_second(store, call);
		return;
	}
	b = calloc(1, sizeof(*b));
	if (!b)
		abort();
	*b = (struct backup){
		.store = store, .call = call, .done_fd = -1, .begun = clock_mono()};
	store->backup = b;
	result = name_files(b);
	if (result == 0)
		result = start_thread(b);
	if (result == 0)
		return;
	backup_free(b);
	call_refuse(call, ERROR_INTERNAL_ERROR,
		"The copy of the database could not be begun: %s", strerror(-result));
	serve_answer(store, call);
}

int store_backup(struct store *store, struct call *call)
{
	(void)store;
	call->outcome.after = begin;
	return 0;
}
