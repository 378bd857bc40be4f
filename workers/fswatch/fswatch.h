/*
 * fswatch.h - the state of the file worker, shared by the files that serve its methods.
 *
 *   main.c           start, confinement, stop
 *   commit.c         the end of each turn of the loop: what was done is written, then told
 *   serve_files.c    fs.save, fs.close, fs.open_files
 *   serve_open.c     fs.open, fs.show, fs.show_again
 *   reading.c        files read for handlers, long ones beside the loop
 *   serve_buffers.c  fs.buffer_update, fs.diff, fs.excerpt
 *   serve_state.c    fs.state, in slices
 *   diffs.c          diffs of unsaved edits, beside the loop
 *   serve_tools.c    fs.buffer, fs.places
 *   serve_diagnostics.c  fs.diagnostics
 *   follow.c         saved buffers follow the disk, unsaved ones over a changed file are
 *                    conflicts
 *   serve_tree.c     fs.tree, and what the watcher sees
 *   session.c        what the coaching session means for files, and the timer of summaries
 */
#pragma once

#include "common/loop/jobs.h"
#include "common/worker/worker.h"
#include "workers/fswatch/buffers/action_queue.h"
#include "workers/fswatch/buffers/buffer_store.h"
#include "workers/fswatch/buffers/buffers.h"
#include "workers/fswatch/buffers/diagnostics.h"
#include "workers/fswatch/buffers/journal.h"
#include "workers/fswatch/buffers/open_files.h"
#include "workers/fswatch/commit.h"
#include "workers/fswatch/disk/project.h"
#include "workers/fswatch/disk/read.h"
#include "workers/fswatch/watch/watch.h"
#include <sys/queue.h>

#define FSWATCH_MAX_TREE_WAITERS 256
#define FSWATCH_SESSION_SIZE 65

struct save_job;
struct reading;
struct waiter;

/* Requests that wait, in order. */
struct waiters {
	struct waiter *first, *last;
};

struct fswatch {
	struct worker *worker;
	struct bus *bus;
	char buffers_dir[PATH_KEY_SIZE];
	struct project project;
	struct watch *watch;
	struct jobs *jobs;	 /* what writes */
	struct jobs *write_jobs; /* commit.c: long buffers, which wait for no disk */
	struct jobs *diff_jobs;	 /* diffs.c, serve_state.c */
	struct jobs *read_jobs;	 /* reading.c */
	size_t diff_bytes;	 /* copied for them */
	struct buffer_store buffer_store;
	struct journal journal;
	struct buffers buffers;
	struct open_files open_files;
	struct diagnostics diagnostics;
	struct action_queue action_queue;
	struct buffer_log_limits log_limits;
	struct commit turn;
	struct waiters behind;	     /* for room in the action queue */
	bool catching_up;	     /* those are being served */
	struct file_content content; /* scratch of the handler that runs */
	/* reading.c */
	LIST_HEAD(, reading) readings; /* under way beside the loop */
	struct reading *read;	       /* whose requests are being served; or NULL */
	/* serve_files.c */
	LIST_HEAD(, save_job) saves; /* under way */
	size_t save_count;
	/* serve_buffers.c */
	struct mono edits_since;
	unsigned edits_told; /* since then */
	/* serve_tree.c */
	struct waiters unscanned; /* for the first scan, or a scan anew */
	struct bus_request *tree_waiters[FSWATCH_MAX_TREE_WAITERS];
	size_t tree_waiter_count;
	struct tree_writer tree_writer;
	struct event *tree_timer; /* writes the next slice */
	bool tree_writing;
	/* session.c */
	char session_id[FSWATCH_SESSION_SIZE]; /* of the active session; "": none */
	uint64_t session_changes;
	struct wall started; /* this process */
	struct event *summary_timer;
	struct event *ask_timer;
	/* main.c */
	const char *watch_problem;
	struct event *stop_timer;
	bool stopping;
};

void serve_files_init(struct fswatch *fs);
void serve_open_init(struct fswatch *fs);
void serve_buffers_init(struct fswatch *fs);
void serve_state_init(struct fswatch *fs);
void serve_diagnostics_init(struct fswatch *fs);
void serve_tools_init(struct fswatch *fs);
void serve_tree_init(struct fswatch *fs);
void session_init(struct fswatch *fs);

/* ---- what several of them need ---- */

/*
 * The key of a path that a client gave. False when it is refused: then the request was
 * answered with FILE_ERROR.
 */
bool fswatch_key(struct fswatch *fs, struct bus_request *request, struct str asked,
	char key[PATH_KEY_SIZE]);
/* {"path":...} for the context of an error, in the arena of the request. */
struct str fswatch_path_context(struct bus_request *request, struct str path);
/* Answers FILE_ERROR for what failed with a file (fault.h). */
void fswatch_refuse(struct bus_request *request, struct str path, int error);
/* True when the action log is too far behind to take more rows: then `fn` serves the
 * request once it has caught up. */
bool fswatch_behind(struct fswatch *fs, struct bus_request *request, const void *message,
	bus_serve_fn *fn);
/* Rows have left the action queue: serves who waits. */
void fswatch_caught_up(struct fswatch *fs);
/* Tells the supervisor what is not as it should be. */
void fswatch_report(struct fswatch *fs);
/* Publishes that what windows know of the tree may be out of date. */
void fswatch_publish_stale(struct fswatch *fs);
/* True while a save of the file is under way. */
bool fswatch_save_under_way(const struct fswatch *fs, const char *key);
/* A request waits until fswatch_serve_first; `fn` serves it then, unless its caller has
 * given up. */
void fswatch_wait_in(struct waiters *waiters, struct bus_request *request,
	const void *message, bus_serve_fn *fn);
void fswatch_serve_first(struct fswatch *fs, struct waiters *waiters);
/* True while a save of the file is under way; then `fn` serves the request after it. */
bool fswatch_saving(struct fswatch *fs, const char *key, struct bus_request *request,
	const void *message, bus_serve_fn *fn);

/* As fswatch_saving, while a long file is being read. reading.c */
bool fswatch_reading(struct fswatch *fs, const char *key, struct bus_request *request,
	const void *message, bus_serve_fn *fn);

/* What a model is told of diagnostics, in the arena; those of files that are gone are
 * forgotten. */
void fswatch_diagnostics(
	struct fswatch *fs, struct arena *arena, struct state_diagnostics *out);

/* Answers with the diffs of all unsaved edits, cut for a model. serve_state.c */
void fswatch_all_diffs(struct fswatch *fs, struct bus_request *request);

/* ---- follow.c ---- */

/*
 * A buffer as it is to be shown: a saved one takes over what another program has written
 * to its file since. NULL when it is gone with the file (or was NULL): whoever reads a
 * file then finds what is there.
 */
struct buffer *fswatch_current(struct fswatch *fs, struct buffer *buffer);
/* True when the file is no longer the one that the unsaved edits of a buffer began with.
 */
bool fswatch_conflict(struct fswatch *fs, struct buffer *buffer);
/* False when it is not, whatever is on disk: then nobody need look there. */
bool fswatch_may_conflict(const struct fswatch *fs, const struct buffer *buffer);
/* True when fswatch_current or fswatch_conflict look at the file of a buffer (or NULL). */
bool fswatch_looks(const struct fswatch *fs, const struct buffer *buffer);
/* True when fswatch_edit_begins would look at the file of an edit that comes now. */
bool fswatch_edit_looks(const struct fswatch *fs, struct str path);
/* Unsaved edits begin: notes which version of the file they are based on. */
void fswatch_edit_begins(struct fswatch *fs, struct buffer *buffer);
