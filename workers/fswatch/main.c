/*
 * main.c - paige-fswatch, the worker that owns the project: files, buffers, tree, watch.
 * Its start, what it may still do, and its end.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "common/worker/worker.h"
#include "workers/fswatch/buffers/in_place.h"
#include "workers/fswatch/fswatch.h"
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

/* How long the action log may take for the last rows when the daemon stops; what it does
 * not take stays in the journal. */
#define STOP_PATIENCE_MS 1500

/* A long burst of edits must not give memory back and fetch it again for each of them;
 * what is big is given back at once, the rest when the burst is over (commit.c). */
#define MMAP_BYTES (4 * 1024 * 1024)
#define TRIM_BYTES (16 * 1024 * 1024)

/* ---- start ---- */

/* Only what another start with the same settings cannot mend: the rest may come back. */
static int exit_code_of(int error)
{
	return error == -ENOSYS || error == -ENAMETOOLONG ? WORKER_EXIT_CONFIG
							  : WORKER_EXIT_DEPENDENCY;
}

static const char *reason_of(int error)
{
	switch (error) {
	case -ENOSYS:
		return "openat2 is refused: a system call filter forbids it (in a unit "
		       "for systemd RestrictSUIDSGID=yes does), or the kernel is older "
		       "than Linux 5.6";
	case -ELOOP:
		return "a link lies where a directory was when the daemon started";
	default:
		return strerror(-error);
	}
}

static int fail(const char *what, const char *path, int error)
{
	log_error(what, "path", "%s", path, "error", "%s", reason_of(error), NULL);
	return exit_code_of(error);
}

static void on_record(void *arg, enum journal_type type, struct str data)
{
	struct fswatch *fs = arg;

	switch (type) {
	case JOURNAL_OPEN:
	case JOURNAL_CLOSE:
	case JOURNAL_CLEAR:
		open_files_restore(&fs->open_files, type, data);
		return;
	case JOURNAL_ROW:
	case JOURNAL_SENT:
		action_queue_restore(&fs->action_queue, type, data);
		return;
	case JOURNAL_SESSION:
		if (data.len < sizeof(fs->session_id)) {
			memcpy(fs->session_id, data.ptr, data.len);
			fs->session_id[data.len] = '\0';
		}
		return;
	}
}

/* Takes in what an earlier process left. */
static int restore(struct fswatch *fs)
{
	const char *data_dir = fs->worker->settings->data_dir;
	int error = buffer_store_open(&fs->buffer_store, data_dir);

	if (error)
		return error;
	error = in_place_recover(fs->buffer_store.dir_fd, &fs->project);
	if (error)
		return error;
	fs->open_files.journal = &fs->journal;
	error = journal_open(&fs->journal, fs->buffer_store.dir_fd, on_record, fs);
	if (error)
		return error;
	error = buffers_init(&fs->buffers, &fs->buffer_store, fs->worker->epoch);
	if (!error &&
		(fs->buffers.first || fs->open_files.first || fs->action_queue.first))
		log_info("restored", "buffers", "%zu", fs->buffers.by_path.count,
			"open_files", "%zu", fs->open_files.by_path.count, "rows", "%zu",
			fs->action_queue.count, NULL);
	return error;
}

void fswatch_report(struct fswatch *fs)
{
	char text[256];

	if (fs->turn.error) {
		snprintf(text, sizeof(text),
			"Unsaved edits are kept in memory only: DATA_DIR/buffers cannot "
			"be "
			"written: %s",
			strerror(-fs->turn.error));
		worker_set_condition(fs->worker, WORKER_DEGRADED, text);
	} else if (fs->turn.sync_error) {
		snprintf(text, sizeof(text),
			"Unsaved edits may not outlive a loss of power: the disk does "
			"not keep DATA_DIR/buffers: %s",
			strerror(fs->turn.sync_error));
		worker_set_condition(fs->worker, WORKER_DEGRADED, text);
	} else if (fs->watch_problem) {
		worker_set_condition(fs->worker, WORKER_DEGRADED, fs->watch_problem);
	} else {
		worker_set_condition(fs->worker, WORKER_FINE, NULL);
	}
}

static void on_rows_sent(void *arg)
{
	struct fswatch *fs = arg;

	if (!fs->stopping)
		fswatch_caught_up(fs);
	else if (fs->action_queue.count == 0)
		worker_stopped(fs->worker);
}

static int init(struct worker *w)
{
	struct fswatch *fs = xcalloc(1, sizeof(*fs));
	int error;

	mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
	mallopt(M_TRIM_THRESHOLD, TRIM_BYTES);
	w->state = fs;
	fs->worker = w;
	fs->started = clock_wall();
	fs->bus = w->bus;
	fs->project.root_fd = -1;
	fs->log_limits = (struct buffer_log_limits){
		.chars = w->settings->buffer_significant_chars,
		.ratio = w->settings->buffer_significant_ratio,
	};
	error = project_open(
		&fs->project, w->settings->project_dir, w->settings->project_spelling);
	if (error)
		return fail(
			"the project cannot be opened", w->settings->project_dir, error);
	snprintf(fs->buffers_dir, sizeof(fs->buffers_dir), "%s/buffers",
		w->settings->data_dir);
	error = restore(fs);
	if (error)
		return fail("the buffers cannot be kept", fs->buffers_dir, error);
	fs->jobs = jobs_new(w->base);
	fs->diff_jobs = jobs_new(w->base);
	fs->read_jobs = jobs_new(w->base);
	fs->write_jobs = jobs_new(w->base);
	if (!fs->write_jobs || !fs->jobs || !fs->diff_jobs || !fs->read_jobs)
		return fail("the worker cannot start", w->settings->project_dir, -errno);
	action_queue_init(
		&fs->action_queue, w->base, w->bus, &fs->journal, on_rows_sent, fs);
	commit_init(fs);
	serve_files_init(fs);
	serve_open_init(fs);
	serve_buffers_init(fs);
	serve_state_init(fs);
	serve_diagnostics_init(fs);
	serve_tools_init(fs);
	serve_tree_init(fs);
	session_init(fs);
	commit_work(fs); /* sends what waits from before */
	return WORKER_EXIT_OK;
}

static void confine(struct worker *w, struct confinement *c)
{
	struct fswatch *fs = w->state;

	c->read_write[0] = fs->project.canonical;
	c->read_write[1] = fs->buffers_dir;
	c->keeps_files = true;
}

/* ---- stop ---- */

static void on_stop_timer(EVENT_UNUSED, void *arg)
{
	struct fswatch *fs = arg;

	log_warn("rows for the action log wait for the next start", "rows", "%zu",
		fs->action_queue.count, NULL);
	worker_stopped(fs->worker);
}

/* Saves under way are finished and answered; no more file events (FR-037, EC-16, EC-18).
 */
static void stop(struct worker *w)
{
	struct fswatch *fs = w->state;

	fs->stopping = true;
	event_del(fs->summary_timer);
	watch_stop(fs->watch);
	do { /* what has waited for one may need the other */
		jobs_drain(fs->read_jobs);
		jobs_drain(fs->jobs);
	} while (!LIST_EMPTY(&fs->readings) || !LIST_EMPTY(&fs->saves));
	jobs_drain(fs->diff_jobs);
	commit_finish(fs);
	fs->stop_timer = evtimer_new(w->base, on_stop_timer, fs);
	if (fs->action_queue.count == 0 || !fs->stop_timer)
		worker_stopped(w);
	else
		event_add_ms(fs->stop_timer, STOP_PATIENCE_MS);
}

int main(int argc, char **argv)
{
	static const struct worker_spec spec = {
		.id = WORKER_FSWATCH,
		.init = init,
		.confine = confine,
		.stop = stop,
	};

	return worker_main(&spec, argc, argv);
}
