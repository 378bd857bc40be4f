/*
 * watch_private.h - what the files of the watcher share: watch.c runs it, watch_events.c
 * understands inotify's events, watch_scan.c lists directories and adds watches.
 */
#ifndef PAIGE_FSWATCH_WATCH_WATCH_PRIVATE_H
#define PAIGE_FSWATCH_WATCH_WATCH_PRIVATE_H

#include "workers/fswatch/watch/listing.h"
#include "workers/fswatch/watch/watch.h"
#include <sys/inotify.h>

#define WATCH_SLICE_US 5000 /* longest stretch of work in one turn of the loop */
#define WATCH_MAX_MOVES 64
#define WATCH_MOVE_US 10000 /* how long the second half of a rename may take */

/* The first half of a rename whose second is still to come. */
struct watch_move {
	uint32_t cookie;
	bool is_dir;
	bool known;	      /* it was in the tree */
	struct tree_dir *dir; /* taken out of the tree; NULL for a file */
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
	bool tree_wanted; /* a fresh tree is to be told when the scan is done */
	/* inotify */
	int inotify_fd; /* -1: none to be had */
	struct event *readable;
	struct pathmap by_wd; /* by the bytes of tree_dir.wd */
	size_t max_watches;
	int git_wd;		 /* of .git, for its lock; -1 */
	enum project_state root; /* as it was last seen */
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

/* Tells the coalescer; `name` in `dir`, for renames the old path is given. */
void watch_see(struct watch *w, enum coalesce_event event, const struct tree_dir *dir,
	struct str name);
void watch_see_move(struct watch *w, enum coalesce_event event, const char *old_path,
	const struct tree_dir *dir, struct str name);
/* A directory is gone with all that the tree knows in it: each is told, as if it had been
 * removed by itself. `path`: where the directory was. */
void watch_see_gone(struct watch *w, const struct tree_dir *dir, struct str path);
/* True for the directory that is no part of the tree (struct watch_options). */
bool watch_hidden(struct watch *w, const struct tree_dir *dir, struct str name);
/* Tells clients what is due and sets the timer for the rest. */
void watch_tell(struct watch *w);
/* Sees whether the project is still where it was, and tells when that changes. False when
 * it is not there. */
bool watch_look_at_root(struct watch *w);
/* Puts into words what holds now, for `limited`. */
void watch_report(struct watch *w);

/* ---- watch_events.c ---- */

/* Reads and understands what the kernel has, for one slice. */
void watch_read_events(struct watch *w);
/* Renames whose second half did not come in time were moves to the outside. */
void watch_expire_moves(struct watch *w, struct mono now);
void watch_drop_moves(struct watch *w);

/* ---- watch_scan.c ---- */

/* Has a directory listed; `deep`: with all that is below, else only what is new. */
void watch_queue(struct watch *w, struct tree_dir *dir, bool announce, bool deep);
/* Works through the queue for one slice and continues on the next turn. */
void watch_scan(struct watch *w);
/* Watches .git itself for its lock, when it is a directory. */
void watch_git(struct watch *w);
/* A directory left the tree: its watch goes, and its place in the queue. */
void watch_on_gone(void *arg, struct tree_dir *dir);
/* Queues every directory without a watch, after trying for one. */
void watch_poll_all(struct watch *w);

#endif
