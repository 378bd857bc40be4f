/*
 * watch.h - watches the project: keeps the tree up to date and reports changes (FR-035).
 *
 * One inotify watch for each directory. The first scan adds the watch of a directory
 * before it lists the directory, and so does every later scan, so nothing in between is
 * missed (R05). Renames are paired by their cookie. A directory that moves keeps its watches
 * and everything below (R03); one that leaves the project loses them. What clients are told
 * goes through coalesce.h.
 *
 * If the kernel has no more watches (fs.inotify.max_user_watches) or instances
 * (fs.inotify.max_user_instances), the other directories are polled (R09). If the kernel lost
 * events, everything is scanned again.
 *
 * Runs on the loop in slices of a few milliseconds. It only reads the project, apart from the
 * temporary files that listing.h removes.
 */
#pragma once

#include "proto/worker.h"
#include "workers/fswatch/disk/project.h"
#include "workers/fswatch/watch/coalesce.h"
#include "workers/fswatch/watch/tree.h"
#include <event2/event.h>

/* Between two looks at the project directory, and two polls of the directories without a
 * watch; the longer one while there are none and the project is there: that of the worker's
 * heartbeats, so that they come together. */
#define WATCH_POLL_MS 1000
#define WATCH_REST_POLL_MS WORKER_HEARTBEAT_MS

struct watch_calls {
	/* An update for clients. A fresh tree is asked for only when no scan is running. */
	coalesce_emit_fn *update;
	/* The first scan is done: the tree is complete. */
	void (*ready)(void *arg);
	/* Why not everything can be watched, for people; NULL when all is well. */
	void (*limited)(void *arg, const char *reason);
	/* Another directory has taken the project's place. Only a new process can go on, because
	 * this one is confined to the old directory. */
	void (*replaced)(void *arg);
	void *arg;
};

struct watch;

struct watch_options {
	/* Key of a directory that is left out of the tree, or NULL: the daemon's own data,
	 * which changes all the time. */
	const char *hidden;
	size_t max_watches; /* for tests; 0: only the kernel limits them */
};

/*
 * Starts to scan and watch in the next turns of the loop. Borrows the project, copies the
 * rest. Never fails: without inotify everything is polled.
 */
struct watch *watch_new(struct event_base *base, const struct project *project,
	const struct watch_calls *calls, const struct watch_options *options);
/* Stops events, scans and updates; the tree stays as it is. */
void watch_stop(struct watch *watch);
void watch_free(struct watch *watch);

/* The tree as known now; complete once `ready` was called. */
const struct tree *watch_tree(const struct watch *watch);
bool watch_ready(const struct watch *watch);

struct watch_stats {
	size_t watches, polled;
	uint64_t events, overflows;
};
void watch_get_stats(const struct watch *watch, struct watch_stats *out);
