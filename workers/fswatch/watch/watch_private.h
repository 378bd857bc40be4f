/*
 * watch_private.h - shared by the files of the watcher: watch.c runs it, watch_events.c
 * handles inotify's events, watch_scan.c lists directories and adds watches.
 */
#pragma once

#include "workers/fswatch/watch/listing.h"
#include "workers/fswatch/watch/watch.h"
#include <sys/inotify.h>

#define WATCH_SLICE_US 5000 /* longest stretch of work in one turn of the loop */
#define WATCH_MAX_MOVES 64
#define WATCH_MOVE_US 10000 /* how long the second half of a rename may take */

/* The first half of a rename whose second half has not come yet. */
struct watch_move {
	uint32_t cookie;
	bool is_dir;
	bool known;	      /* it was in the tree */
	struct tree_dir *dir; /* detached from the tree; NULL for a file */
	char *path;	      /* where it was */
	struct mono due;
};

struct watch {
	struct event_base *base;
	const struct project *project;
	struct watch_calls calls;
	struct tree tree;
	struct coalesce coalesce;
	char *hidden;	  /* see struct watch_options */
	bool tree_wanted; /* report a fresh tree when the scan is done */
	/* inotify */
	int inotify_fd; /* -1: none to be had */
	struct event *readable;
	struct pathmap by_wd; /* by the bytes of tree_dir.wd */
	size_t max_watches;
	int git_wd;		 /* of .git, for its lock; -1 */
	enum project_state root; /* as last seen */
	struct watch_move moves[WATCH_MAX_MOVES];
	size_t move_count;
	/* scanning */
	struct tree_dir *first_queued, *last_queued;
	struct event *scan;
	struct listing listing;
	bool ready;
	size_t polled;
	int limit_error; /* why directories are polled: ENOSPC, EMFILE, ... */
	struct mono poll_started, poll_next;
	struct event *poll;
	/* the coalescer's deadline, to the microsecond */
	int timer_fd;
	struct event *timer;
	struct watch_stats stats;
	struct buf path, new_path; /* scratch */
};

/* ---- watch.c ---- */

/* Passes an event to the coalescer: `name` in `dir`; for a rename also the old path. */
void watch_see(struct watch *w, enum coalesce_event event, const struct tree_dir *dir,
	struct str name);
void watch_see_move(struct watch *w, enum coalesce_event event, const char *old_path,
	const struct tree_dir *dir, struct str name);
/* A directory is gone: reports each entry below it as removed. `path`: where it was. */
void watch_see_gone(struct watch *w, const struct tree_dir *dir, struct str path);
/* True for the directory that is left out of the tree (struct watch_options). */
bool watch_hidden(struct watch *w, const struct tree_dir *dir, struct str name);
/* Checks whether the project is still in its place, and reports a change. False when it is
 * not there. */
bool watch_look_at_root(struct watch *w);
/* Reports the current limits through `limited`. */
void watch_report(struct watch *w);

/* ---- watch_events.c ---- */

/* Reads and handles events of the kernel, for one slice. */
void watch_read_events(struct watch *w);
/* Renames whose second half did not come in time left the project. */
void watch_expire_moves(struct watch *w, struct mono now);
void watch_drop_moves(struct watch *w);

/* ---- watch_scan.c ---- */

/* Queues a directory for listing; `deep`: with everything below, else only what is new. */
void watch_queue(struct watch *w, struct tree_dir *dir, bool announce, bool deep);
/* Works through the queue for one slice and continues in the next turn. */
void watch_scan(struct watch *w);
/* Watches .git itself for its lock, when it is a directory. */
void watch_git(struct watch *w);
/* A directory left the tree: its watch goes, and its place in the queue. */
void watch_on_gone(void *arg, struct tree_dir *dir);
/* Tries to add a watch to every directory without one, and queues those that get none. */
void watch_poll_all(struct watch *w);
