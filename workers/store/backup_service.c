/* backup_service.c - copies of paige.db in DATA_DIR/backups (backup_service.h). */
#include "workers/store/backup_service.h"
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "common/loop/jobs.h"
#include "common/worker/worker.h"
#include "proto/codec/messages.h"
#include "workers/store/db/backup_file.h"
#include "workers/store/service/serve.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct backup_service {
	struct store *store;
	char *directory;
	struct group queue; /* the first one is being served */
	struct jobs *jobs;
	struct job job;
	bool running;
	atomic_bool cancel;

	/* Of the copy that is being made: the thread's until it says that it is done. */
	char target[PATH_MAX];
	char source[PATH_MAX];
	int result;
	int64_t bytes;
	struct error_text problem;
	struct mono begun;
};

/* Removes what was cut off, and copies that nobody took. Not while a copy is being made. */
static void tidy(const char *directory)
{
	AUTO_DIR *d = opendir(directory);
	time_t now = time(NULL);
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		bool cut_off = strstr(e->d_name, BACKUP_FILE_PART) != NULL;

		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			!S_ISREG(st.st_mode) ||
			(!cut_off && now - st.st_mtime < BACKUP_SERVICE_KEPT_S))
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) == 0)
			log_info(cut_off ? "removed a backup that was cut off"
					 : "removed a backup that nobody took",
				"name", "%s", e->d_name, NULL);
	}
}

static void make_copy(struct job *job)
{
	struct backup_service *b = CONTAINER_OF(job, struct backup_service, job);

	b->result = backup_file_write(
		b->source, b->target, &b->cancel, &b->bytes, &b->problem);
}

/* Whether there is a copy of this call already. */
static bool is_made(struct backup_service *b)
{
	struct stat st;

	if (stat(b->target, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	b->bytes = st.st_size;
	return true;
}

static void answer(struct backup_service *b)
{
	struct call *call = group_take(&b->queue);

	if (b->result == -ECANCELED)
		call_refuse(call, ERROR_UNAVAILABLE, "The store is stopping");
	else if (b->result < 0)
		call_refuse(call, ERROR_STORAGE_FAILED, "%s", b->problem.text);
	else
		call_answer(call, &(struct backup_made){.path = str_of(b->target),
					  .bytes = b->bytes,
					  .has_bytes = true});
	serve_answer(b->store, call);
}

/* Gives the thread the copy to make unless the copy is there. 0 or -errno. */
static int begin_first(struct backup_service *b)
{
	b->problem = (struct error_text){0};
	b->begun = clock_mono();
	snprintf(b->source, sizeof(b->source), "%s", b->store->db.path);
	if (snprintf(b->target, sizeof(b->target), "%s/%.*s.db", b->directory,
		    STR_ARG(b->queue.first->key)) >= (int)sizeof(b->target))
		return -ENAMETOOLONG;
	if (is_made(b))
		return 0;
	if (mkdir(b->directory, 0700) < 0 && errno != EEXIST)
		return -errno;
	tidy(b->directory);
	b->running = true;
	jobs_add(b->jobs, &b->job);
	return 0;
}

static void begin_next(struct backup_service *b)
{
	while (b->queue.first && !b->running && !b->cancel) {
		int result = begin_first(b);

		/* From here on the result is the thread's. */
		if (b->running)
			return;
		b->result = result;
		if (b->result < 0)
			error_text_set(&b->problem, "Cannot write to %s: %s",
				b->directory, strerror(-b->result));
		answer(b);
	}
}

static void on_done(struct job *job)
{
	struct backup_service *b = CONTAINER_OF(job, struct backup_service, job);

	b->running = false;
	if (b->result == 0)
		log_info("backup made", "path", "%s", b->target, "bytes", "%lld",
			(long long)b->bytes, "ms", "%lld",
			(long long)mono_diff_ms(clock_mono(), b->begun), NULL);
	else
		log_warn("backup not made", "problem", "%s", b->problem.text, NULL);
	answer(b);
	begin_next(b);
}

static void take(struct store *store, struct call *call)
{
	struct backup_service *b = store->backup_service;

	group_add(&b->queue, call);
	begin_next(b);
}

int store_backup(struct store *store, struct call *call)
{
	if (!store->backup_service)
		return call_refuse(call, ERROR_UNAVAILABLE, "The store is stopping");
	if (store->backup_service->queue.waiting >= BACKUP_SERVICE_MAX_WAITING)
		return call_refuse(call, ERROR_BUSY, "%d backups are being made already",
			BACKUP_SERVICE_MAX_WAITING);
	call->outcome.after = take;
	return 0;
}

/* ---- life ---- */

void backup_service_open(struct store *store, const char *data_dir)
{
	struct backup_service *b = xcalloc(1, sizeof(*b));

	b->jobs = alloc_checked(jobs_new(store->worker->base));
	b->job = (struct job){.run = make_copy, .done = on_done};
	b->directory = xasprintf("%s/" BACKUP_SERVICE_DIRECTORY, data_dir);
	b->store = store;
	tidy(b->directory);
	store->backup_service = b;
}

void backup_service_close(struct store *store)
{
	struct backup_service *b = store->backup_service;

	if (!b)
		return;
	b->cancel = true;
	jobs_free(b->jobs);
	b->result = -ECANCELED;
	while (b->queue.first)
		answer(b);
	free(b->directory);
	free(b);
	store->backup_service = NULL;
}
