/* backups.c - copies of paige.db in DATA_DIR/backups (backups.h). */
#include "workers/store/backups.h"
#include "common/base/log.h"
#include "common/worker/worker.h"
#include "proto/codec/messages.h"
#include "workers/store/db/backup.h"
#include "workers/store/service/serve.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct backups {
	struct store *store;
	char *directory;
	struct call *first, **last; /* calls that wait; the first one is being served */
	size_t waiting;
	struct event *done; /* the thread has written to its eventfd */
	bool running;
	pthread_t thread;
	atomic_bool cancel;

	/* Of the copy that is being made: the thread's until it says that it is done. */
	char target[PATH_MAX];
	char source[PATH_MAX];
	int result;
	int64_t bytes;
	struct problem problem;
	struct mono begun;
};

/* Removes what was cut off, and copies that nobody took. Not while a copy is being made. */
static void tidy(const char *directory)
{
	DIR *d = opendir(directory);
	time_t now = time(NULL);
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		bool cut_off = strstr(e->d_name, BACKUP_PART) != NULL;

		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			!S_ISREG(st.st_mode) ||
			(!cut_off && now - st.st_mtime < BACKUPS_KEPT_S))
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) == 0)
			log_info(cut_off ? "removed a backup that was cut off"
					 : "removed a backup that nobody took",
				"name", "%s", e->d_name, NULL);
	}
	if (d)
		closedir(d);
}

static void *make_copy(void *arg)
{
	struct backups *b = arg;
	const uint64_t one = 1;

	b->result =
		backup_write(b->source, b->target, &b->cancel, &b->bytes, &b->problem);
	if (write(event_get_fd(b->done), &one, sizeof(one)) < 0)
		abort();
	return NULL;
}

/* Whether there is a copy of this call already. */
static bool is_made(struct backups *b)
{
	struct stat st;

	if (stat(b->target, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	b->bytes = st.st_size;
	return true;
}

static void answer(struct backups *b)
{
	struct call *call = b->first;

	b->first = call->next;
	b->waiting--;
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

/* Signals stay with the loop. 0 or -errno. */
static int start_thread(struct backups *b)
{
	sigset_t all, before;
	int result;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = -pthread_create(&b->thread, NULL, make_copy, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	b->running = result == 0;
	return result;
}

/* Starts the thread unless the copy is there. 0 or -errno. */
static int begin_first(struct backups *b)
{
	b->problem = (struct problem){0};
	b->begun = clock_mono();
	snprintf(b->source, sizeof(b->source), "%s", b->store->db.path);
	if (snprintf(b->target, sizeof(b->target), "%s/%.*s.db", b->directory,
		    STR_ARG(b->first->key)) >= (int)sizeof(b->target))
		return -ENAMETOOLONG;
	if (is_made(b))
		return 0;
	if (mkdir(b->directory, 0700) < 0 && errno != EEXIST)
		return -errno;
	tidy(b->directory);
	return start_thread(b);
}

static void begin_next(struct backups *b)
{
	while (b->first && !b->running) {
		int result = begin_first(b);

		/* From here on the result is the thread's. */
		if (b->running)
			return;
		b->result = result;
		if (b->result < 0)
			problem_set(&b->problem, "Cannot write to %s: %s", b->directory,
				strerror(-b->result));
		answer(b);
	}
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
	struct backups *b = arg;
	uint64_t count;

	(void)what;
	if (read(fd, &count, sizeof(count)) < 0)
		return;
	pthread_join(b->thread, NULL);
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
	struct backups *b = store->backups;

	call->next = NULL;
	if (!b->first)
		b->last = &b->first;
	*b->last = call;
	b->last = &call->next;
	b->waiting++;
	begin_next(b);
}

int store_backup(struct store *store, struct call *call)
{
	if (!store->backups)
		return call_refuse(call, ERROR_UNAVAILABLE, "The store is stopping");
	if (store->backups->waiting >= BACKUPS_MAX_WAITING)
		return call_refuse(call, ERROR_BUSY, "%d backups are being made already",
			BACKUPS_MAX_WAITING);
	call->outcome.after = take;
	return 0;
}

/* ---- life ---- */

void backups_open(struct store *store, const char *data_dir)
{
	struct backups *b = calloc(1, sizeof(*b));
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (!b || fd < 0 ||
		asprintf(&b->directory, "%s/" BACKUPS_DIRECTORY, data_dir) < 0)
		abort();
	b->store = store;
	b->done = event_new(store->worker->base, fd, EV_READ | EV_PERSIST, on_done, b);
	if (!b->done)
		abort();
	event_add(b->done, NULL);
	tidy(b->directory);
	store->backups = b;
}

void backups_close(struct store *store)
{
	struct backups *b = store->backups;

	if (!b)
		return;
	b->cancel = true;
	if (b->running)
		pthread_join(b->thread, NULL);
	b->result = -ECANCELED;
	while (b->first)
		answer(b);
	close(event_get_fd(b->done));
	event_free(b->done);
	free(b->directory);
	free(b);
	store->backups = NULL;
}
