/*
 * watch.h - watches the project: keeps the tree true and says what changed (FR-035).
 *
 * One inotify watch for each directory. The first scan adds the watch of a directory
 * before it lists it, and so does every later one, so nothing that happens in between is
 * missed (R05). Renames are paired by their cookie; a directory that moves keeps its
 * watches and everything below (R03), one that leaves loses them. What clients are told
 * goes through coalesce.h.
 *
 * Where the kernel has no more watches (fs.inotify.max_user_watches) or no instance to
 * give (fs.inotify.max_user_instances), the rest is looked at by turns (R09). When the
 * kernel lost events everything is scanned anew.
 *
 * Runs on the loop in slices of a few milliseconds. Only reads the project, but for what
 * listing.h cleans up.
 */
#ifndef PAIGE_FSWATCH_WATCH_WATCH_H
#define PAIGE_FSWATCH_WATCH_WATCH_H

#include "workers/fswatch/disk/project.h"
#include "workers/fswatch/watch/coalesce.h"
#include "workers/fswatch/watch/tree.h"
#include <event2/event.h>

#define WATCH_POLL_MS 1000 /* pause between looks at directories without a watch */

struct watch_calls {
	/* Something is to be told to clients. A fresh tree is asked for only when no scan
	 * is under way. */
	coalesce_emit_fn *update;
	/* The first scan is done: the tree is whole. */
	void (*ready)(void *arg);
	/* What cannot be watched as it should, for people; NULL when all is well. */
	void (*limited)(void *arg, const char *reason);
	/* Another directory lies where the project was: only a new process can go on,
	 * because this one is confined to the old one. */
	void (*replaced)(void *arg);
	void *arg;
};

struct watch;

struct watch_options {
	/* Key of a directory that is no part of the tree, or NULL: where the daemon keeps
	 * its own data, which changes with all that happens. */
	const char *hidden;
	size_t max_watches; /* for tests; 0: only the kernel limits them */
};

/*
 * Starts to scan and watch, on the next turns of the loop. Borrows the project, copies
 * the rest. Never fails: without inotify everything is polled.
 */
struct watch *watch_new(struct event_base *base, const struct project *project,
	const struct watch_calls *calls, const struct watch_options *options);
/* No more events, scans and updates; the tree stays as it is. */
void watch_stop(struct watch *watch);
void watch_free(struct watch *watch);

/* The tree as it is known now; whole once `ready` was called. */
const struct tree *watch_tree(const struct watch *watch);
bool watch_ready(const struct watch *watch);

struct watch_stats {
	size_t watches, polled;
	uint64_t events, overflows;
};
void watch_get_stats(const struct watch *watch, struct watch_stats *out);

#endif
