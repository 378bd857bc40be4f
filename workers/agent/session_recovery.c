/*
 * session_recovery.c - what of the sessions outlives the worker (session_record.h): it is written as it
 * happens, and the sessions of a worker that has ended, by kill -9 or otherwise, go on
 * from it; see agents.h.
 *
 * Nobody is let in before nothing is left of the programs of that worker: two programs
 * never work in one session, and a client that is told of an end may rely on it.
 */
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "workers/agent/agents.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIRECTORY "agents"
#define LOCK "lock"
/* Longer than any reaper takes (reaper.h). */
#define LOCK_WAIT_MS 8000
#define LOCK_PAUSE_MS 5

/* ---- writing ---- */

int session_record(struct agent_session *s)
{
	AUTO_BUF lines = {0};

	record_render(s->folder.path, &s->state, &lines);
	return record_replace(&s->record, s->agents->records_fd, s->id, buf_str(&lines));
}

bool session_rewrites(const struct agent_session *s, enum record_line line)
{
	const struct record *record = &s->record;

	if (record->fd < 0)
		return false;
	return record->behind
		       ? line != RECORD_MESSAGE
		       : record->bytes - record->bytes_when_new > RECORD_GROWTH_BYTES;
}

void session_write(struct agent_session *s, enum record_line line, struct str about)
{
	struct record *record = &s->record;
	const bool was_behind = record->behind;
	int r = 0;

	if (record->fd < 0 || (was_behind && line == RECORD_MESSAGE))
		return;
	if (session_rewrites(s, line))
		r = session_record(s);
	if (r == 0)
		r = record_add(record, line, about);
	if (r == 0)
		return;
	record->behind = true;
	if (!was_behind)
		log_error(
			"an agent session can no longer be recorded: a crash would lose "
			"what happens now",
			"session", "%s", s->id, "error", "%s", strerror(-r), NULL);
}

void session_put_aside(struct agent_session *s)
{
	/* A worker that could not write everything down writes it now, if it can. */
	if (s->record.behind && session_record(s) < 0)
		log_warn("the end of an agent session is not recorded", "session", "%s",
			s->id, NULL);
	record_set_aside(&s->record, s->agents->records_fd, s->id);
}

int session_take_up(struct agent_session *s)
{
	struct record record = {.fd = -1};
	struct record_state state = {.known = false};
	char path[PATH_MAX] = "";
	int r = record_take_back(s->agents->records_fd, s->id);

	if (r == 0)
		r = record_open(&record, s->agents->records_fd, s->id, &state, path);
	if (r == 0 && strcmp(path, s->folder.path) == 0) {
		history_fini(&s->state.history);
		s->state.history = state.history;
		state.history = (struct history){0};
	} else if (r < 0 && r != -ENOENT) {
		log_warn("what happened before in an agent session cannot be read",
			"session", "%s", s->id, "error", "%s", strerror(-r), NULL);
	}
	record_close(&record);
	history_fini(&state.history);
	r = session_record(s);
	/* Whoever asks for the session again finds what happened before. */
	if (r < 0)
		record_set_aside(&s->record, s->agents->records_fd, s->id);
	return r;
}

/* ---- the programs of the worker before ---- */

/* Every reaper holds the lock as long as it is there, and so does the worker. */
static void wait_for_reapers(int lock_fd)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};
	const struct mono begin = clock_mono();
	int64_t waited_ms = 0;

	while (flock(lock_fd, LOCK_EX | LOCK_NB) < 0 && waited_ms < LOCK_WAIT_MS) {
		nanosleep(&pause, NULL);
		waited_ms = mono_diff_ms(clock_mono(), begin);
	}
	if (waited_ms >= LOCK_WAIT_MS)
		log_error("a program of the worker before does not end", "waited_ms",
			"%lld", (long long)waited_ms, NULL);
	else if (waited_ms > 0)
		log_info("the programs of the worker before have ended", "waited_ms",
			"%lld", (long long)waited_ms, NULL);
}

/* ---- its sessions ---- */

static void restore(struct agents *a, const char *id)
{
	struct record record;
	struct record_state state = {.known = false};
	struct folder folder = {.fd = -1};
	char path[PATH_MAX];
	int r = record_open(&record, a->records_fd, id, &state, path);

	/* As many files as there may be sessions is the rule, but anybody may copy one.
	 */
	if (r == 0 && a->session_count >= AGENTS_MAX_SESSIONS)
		r = -EUSERS;
	if (r == 0)
		r = folder_reopen(&a->root, path, &folder);
	if (r == 0) {
		session_restore(a, id, folder, &record, &state);
		return;
	}
	log_warn("an agent session cannot be gone on with", "session", "%s", id, "error",
		"%s", strerror(-r), NULL);
	history_fini(&state.history);
	/* A folder may come back; what cannot be read is of no use to anybody. */
	if (r == -EBADMSG)
		record_remove(&record, a->records_fd, id);
	record_close(&record);
}

/* The id out of a name with this ending; false: it is none. */
static bool take_id(const char *name, const char *ending, char id[UUID_SIZE])
{
	if (strlen(name) < UUID_SIZE - 1 || strcmp(name + UUID_SIZE - 1, ending) != 0)
		return false;
	snprintf(id, UUID_SIZE, "%s", name);
	return uuid_valid(str_of(id));
}

static int restore_all(struct agents *a)
{
	AUTO_DIR *dir =
		file_list(openat(a->records_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	const struct dirent *entry;
	char id[UUID_SIZE];

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)) != NULL && a->session_count < AGENTS_MAX_SESSIONS)
		if (take_id(entry->d_name, RECORD_ENDING, id))
			restore(a, id);
		else if (take_id(entry->d_name, RECORD_NEW_ENDING, id))
			(void)unlinkat(a->records_fd, entry->d_name, 0);
	return 0;
}

int sessions_open(struct agents *a)
{
	char path[PATH_MAX + sizeof("/" DIRECTORY)];

	snprintf(path, sizeof(path), "%s/" DIRECTORY, a->worker->settings->data_dir);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	a->records_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (a->records_fd < 0)
		return -errno;
	a->lock_fd = openat(
		a->records_fd, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (a->lock_fd < 0)
		return -errno;
	wait_for_reapers(a->lock_fd);
	return restore_all(a);
}
