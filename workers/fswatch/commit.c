/* commit.c - see commit.h. */
#include "workers/fswatch/commit.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "workers/fswatch/fswatch.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than this does not wait for the end of the turn. */
#define MAX_WAITING_BYTES (16u * 1024 * 1024)
#define SYNC_MS 1000
/* Answers or edits of this size are worth tidying up after, when it has been quiet. */
#define MUCH_BYTES (64u * 1024)
#define TIDY_MS 300
/* Taking in as much took long enough: writing it down is a turn of the loop of its own. */
#define LONG_BYTES (1024u * 1024)
/* In one job: a save that comes meanwhile waits for no more than these. */
#define SYNC_MAX_BUFFERS 4

/* Something to be told when the turn is written down. */
struct commit_answer {
	struct commit_answer *next;
	struct bus_request *request; /* NULL: it is published */
	const char *topic;
	struct buf body;
};

/* ---- bringing it to the disk ---- */

struct synced_buffer {
	char path[PATH_KEY_SIZE];
	int fd;
	bool success;
};

struct sync_job {
	struct job job;
	struct fswatch *fs;
	int journal_fd;
	int journal_error;
	int dir_fd;
	int error; /* the first of all; 0 */
	size_t count;
	struct synced_buffer buffers[SYNC_MAX_BUFFERS];
};

static void run_sync(struct job *job)
{
	struct sync_job *sync = (struct sync_job *)job;

	for (size_t i = 0; i < sync->count; i++) {
		int error = fdatasync(sync->buffers[i].fd) < 0 ? errno : 0;

		sync->buffers[i].success = error == 0;
		sync->error = sync->error ? sync->error : error;
	}
	if (sync->journal_fd >= 0 && fdatasync(sync->journal_fd) < 0)
		sync->journal_error = errno;
	if (fsync(sync->dir_fd) < 0 && !sync->error)
		sync->error = errno;
	sync->error = sync->error ? sync->error : sync->journal_error;
}

static void set_sync_timer(struct fswatch *fs)
{
	if (!fs->turn.syncing && !event_pending(fs->turn.sync_timer, EV_TIMEOUT, NULL))
		event_add_ms(fs->turn.sync_timer, SYNC_MS);
}

static void sync_more(struct fswatch *fs);

static void done_buffer(struct fswatch *fs, const struct synced_buffer *synced)
{
	struct buffer *buffer = buffers_find(&fs->buffers, str_of(synced->path));

	close(synced->fd);
	/* Another buffer of the same path has nothing that is being synced. */
	if (!buffer || buffer->file.syncing < 0)
		return;
	buffer_store_synced(&buffer->file, synced->success);
	if (!synced->success)
		buffers_changed(&fs->buffers, buffer);
}

static void judge_sync(struct fswatch *fs, const struct sync_job *sync)
{
	if (sync->journal_error)
		fs->turn.write_anew = true;
	if (sync->error != fs->turn.sync_error) {
		if (sync->error)
			log_error("unsaved edits cannot be brought to the disk", "dir",
				"%s", fs->buffers_dir, "error", "%s",
				strerror(sync->error), NULL);
		fs->turn.sync_error = sync->error;
		fswatch_report(fs);
	}
	if (sync->error) /* what may be lost is written again */
		commit_work(fs);
}

static void done_sync(struct job *job)
{
	struct sync_job *sync = (struct sync_job *)job;
	struct fswatch *fs = sync->fs;
	bool full = sync->count == SYNC_MAX_BUFFERS;

	for (size_t i = 0; i < sync->count; i++)
		done_buffer(fs, &sync->buffers[i]);
	judge_sync(fs, sync);
	if (sync->journal_fd >= 0)
		close(sync->journal_fd);
	close(sync->dir_fd);
	fs->turn.syncing = false;
	free(sync);
	if (full) /* each buffer once in a round */
		sync_more(fs);
	else /* for what changed during the round */
		set_sync_timer(fs);
}

static void take_buffers(struct fswatch *fs, struct sync_job *sync)
{
	for (struct buffer *b = fs->buffers.first; b && sync->count < SYNC_MAX_BUFFERS;
		b = b->next) {
		struct synced_buffer *out = &sync->buffers[sync->count];

		if (!b->file.unsynced || b->sync_round == fs->turn.sync_round ||
			b->path.len >= sizeof(out->path))
			continue;
		b->sync_round = fs->turn.sync_round;
		out->fd = buffer_store_sync_start(&fs->buffer_store, &b->file);
		if (out->fd < 0)
			continue;
		memcpy(out->path, b->path.ptr, b->path.len);
		out->path[b->path.len] = '\0';
		sync->count++;
	}
}

static void sync_more(struct fswatch *fs)
{
	struct sync_job *sync = xmalloc(sizeof(*sync));

	sync->job = (struct job){.run = run_sync, .done = done_sync};
	sync->fs = fs;
	sync->count = 0;
	sync->error = sync->journal_error = 0;
	sync->journal_fd =
		fs->journal.unsynced ? fcntl(fs->journal.fd, F_DUPFD_CLOEXEC, 0) : -1;
	take_buffers(fs, sync);
	if (sync->count == 0 && sync->journal_fd < 0) {
		free(sync);
		return;
	}
	sync->dir_fd = fcntl(fs->buffer_store.dir_fd, F_DUPFD_CLOEXEC, 0);
	fs->journal.unsynced = false;
	fs->turn.syncing = true;
	jobs_add(fs->jobs, &sync->job);
}

static void on_sync(EVENT_UNUSED, void *arg)
{
	struct fswatch *fs = arg;

	/* Perhaps there is room by now. */
	if (fs->turn.error || fs->turn.write_anew)
		commit_work(fs);
	fs->turn.sync_round++;
	sync_more(fs);
}

/* ---- memory ---- */

static void on_tidy(EVENT_UNUSED, void *arg)
{
	(void)arg;
	malloc_trim(0);
}

void commit_tidy(struct fswatch *fs)
{
	event_add_ms(fs->turn.tidy_timer, TIDY_MS);
}

/* ---- the end of a turn ---- */

/* What still counts is far less than what the journal holds by now. */
static void shorten_journal(struct fswatch *fs)
{
	uint64_t live = fs->action_queue.bytes + fs->open_files.by_path.count * 128;

	if (!fs->turn.write_anew &&
		(fs->journal.bytes < JOURNAL_LONG_BYTES || fs->journal.bytes < live * 4))
		return;
	journal_restart(&fs->journal);
	journal_add(&fs->journal, JOURNAL_SESSION, str_of(fs->session_id), str_of(""));
	open_files_record(&fs->open_files);
	action_queue_record(&fs->action_queue);

	int error = journal_replace(&fs->journal);

	if (!error)
		fs->turn.write_anew = false;
	else if (!fs->turn.write_anew)
		log_warn("the journal cannot be rewritten", "error", "%s",
			strerror(-error), NULL);
}

static void judge_write(struct fswatch *fs, int error)
{
	if (error != fs->turn.error) {
		if (error)
			log_error("unsaved edits cannot be written", "dir", "%s",
				fs->buffers_dir, "error", "%s", strerror(-error), NULL);
		fs->turn.error = error;
		fswatch_report(fs);
	}
	/* Also tries again what could not be written. */
	if (error || fs->turn.write_anew || fs->journal.unsynced || fs->buffers.first)
		set_sync_timer(fs);
}

static void send_answers(struct fswatch *fs, struct commit_answer *answer)
{
	while (answer) {
		struct commit_answer *next = answer->next;

		if (answer->request)
			bus_answer_taking(answer->request, &answer->body);
		else
			bus_publish(fs->bus, answer->topic, buf_str(&answer->body));
		buf_free(&answer->body);
		free(answer);
		answer = next;
	}
}

/* All of it is written, or cannot be. */
static void written(struct fswatch *fs, int error, struct commit_answer *answers)
{
	judge_write(fs, error);
	send_answers(fs, answers);
	action_queue_send(&fs->action_queue);
}

struct write_job {
	struct job job;
	struct fswatch *fs;
	struct buffer_writes buffers;
	struct commit_answer *answers;
	int error; /* of what was written at once; 0 */
};

static void run_write(struct job *job)
{
	buffers_write(&((struct write_job *)job)->buffers);
}

static void done_write(struct job *job)
{
	struct write_job *w = (struct write_job *)job;
	struct fswatch *fs = w->fs;
	int error = buffers_written(&fs->buffers, &w->buffers);

	fs->turn.writing = false;
	written(fs, w->error ? w->error : error, w->answers);
	free(w);
	if (!fs->turn.again)
		return;
	fs->turn.again = false;
	commit_work(fs);
}

static void commit_end(struct fswatch *fs)
{
	struct buffer_writes beside = STAILQ_HEAD_INITIALIZER(beside);
	struct commit_answer *answers = fs->turn.first;
	struct write_job *w;
	int error, buffer_error;

	fs->turn.again = fs->turn.writing;
	if (fs->turn.writing)
		return;
	if (fs->turn.bytes > MUCH_BYTES)
		commit_tidy(fs);
	fs->turn.first = fs->turn.last = NULL;
	fs->turn.bytes = 0;
	error = journal_commit(&fs->journal);
	if (!error)
		shorten_journal(fs);
	buffer_error = buffers_flush(&fs->buffers, &beside);
	error = error ? error : buffer_error;
	if (STAILQ_EMPTY(&beside)) {
		written(fs, error, answers);
		return;
	}
	w = xcalloc(1, sizeof(*w));
	w->job = (struct job){.run = run_write, .done = done_write};
	w->fs = fs;
	STAILQ_INIT(&w->buffers);
	STAILQ_CONCAT(&w->buffers, &beside);
	w->answers = answers;
	w->error = error;
	fs->turn.writing = true;
	jobs_add(fs->write_jobs, &w->job);
}

void commit_finish(struct fswatch *fs)
{
	do {
		jobs_drain(fs->write_jobs);
		commit_end(fs);
	} while (fs->turn.writing);
}

static void on_end(EVENT_UNUSED, void *arg)
{
	commit_end(arg);
}

void commit_work(struct fswatch *fs)
{
	if (fs->turn.bytes > LONG_BYTES)
		event_add_ms(fs->turn.end, 0);
	else
		event_active(fs->turn.end, EV_TIMEOUT, 0);
}

static void tell(struct fswatch *fs, struct bus_request *request, const char *topic,
	struct buf *body)
{
	struct commit_answer *answer = xmalloc(sizeof(*answer));

	*answer =
		(struct commit_answer){.request = request, .topic = topic, .body = *body};
	*body = (struct buf){.data = NULL};
	*(fs->turn.last ? &fs->turn.last->next : &fs->turn.first) = answer;
	fs->turn.last = answer;
	fs->turn.bytes += answer->body.len;
	if (fs->turn.bytes > MAX_WAITING_BYTES)
		commit_end(fs);
	else
		commit_work(fs);
}

void commit_answer(struct fswatch *fs, struct bus_request *request, struct buf *body)
{
	tell(fs, request, NULL, body);
}

void commit_publish(struct fswatch *fs, const char *topic, struct buf *body)
{
	tell(fs, NULL, topic, body);
}

void commit_answer_message(
	struct fswatch *fs, struct bus_request *request, const void *reply)
{
	struct buf body = {.data = NULL};

	proto_encode(method_infos[request->method].reply(), reply, &body);
	commit_answer(fs, request, &body);
}

void commit_init(struct fswatch *fs)
{
	fs->turn.end = alloc_checked(event_new(fs->worker->base, -1, 0, on_end, fs));
	fs->turn.sync_timer = alloc_checked(evtimer_new(fs->worker->base, on_sync, fs));
	fs->turn.tidy_timer = alloc_checked(evtimer_new(fs->worker->base, on_tidy, fs));
}
