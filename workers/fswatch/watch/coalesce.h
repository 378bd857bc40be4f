/*
 * coalesce.h - turns the watcher's events into the updates that clients get (FR-036, P3.9).
 *
 * Pure: times come in with the events, updates and the next deadline go out; it reads no
 * clock and no file. For each recent path it knows what clients were told and what is true
 * now, and reports the difference once the path has settled:
 *
 *   - The first change of a file is reported at once; further ones within
 *     COALESCE_GAP_US are reported together at its end.
 *   - A new file is reported when its writer has closed it, or after COALESCE_OPEN_US.
 *   - A removal is reported only after COALESCE_HOLD_US, because it may be part of a save
 *     through a temporary file or a backup: that is one `change` (R01, R02).
 *   - Names that are usually short-lived are reported only after COALESCE_HOLD_US.
 *   - A rename is reported as one update, of directories too (R06). Pending updates below
 *     a directory come before those of the directory itself.
 *   - More than COALESCE_BURST updates in COALESCE_BURST_US, or directories that change
 *     while a version control system holds its lock, are reported as one fresh tree when
 *     they have settled, or every COALESCE_TREE_US until then (R11).
 */
#pragma once

#include "common/base/clock.h"
#include "proto/codec/messages.h"
#include "workers/fswatch/disk/pathmap.h"

#define COALESCE_GAP_US 50000
#define COALESCE_OPEN_US 50000
#define COALESCE_CLOSED_US 500	 /* a rename often follows the close */
#define COALESCE_WRITE_US 100000 /* written, but kept open */
#define COALESCE_HOLD_US 100000
#define COALESCE_BURST 200
#define COALESCE_BURST_US 100000
#define COALESCE_QUIET_US 100000
#define COALESCE_TREE_US 1000000
#define COALESCE_LOCK_US 3000000 /* an older lock is stale */
#define COALESCE_MAX_PATHS 4096

enum coalesce_event {
	SEEN_ADD,	 /* a file appeared */
	SEEN_WRITE,	 /* its content changed, it is still open */
	SEEN_CLOSE,	 /* it was closed after having been written */
	SEEN_REMOVE,	 /* it is gone */
	SEEN_RENAME,	 /* it has a new path where no file was */
	SEEN_REPLACE,	 /* it has a new path and took the place of the file there */
	SEEN_ADD_DIR,	 /* a directory appeared */
	SEEN_REMOVE_DIR, /* it is gone, with all that was in it */
	SEEN_RENAME_DIR, /* it has a new path, with all that is in it */
};

/* One update. Paths are borrowed until the callback returns. */
struct coalesce_update {
	bool fresh_tree; /* send the whole tree; ignore the other members */
	enum tree_action action;
	struct str path;
	struct str new_path; /* of a rename */
};

typedef void coalesce_emit_fn(void *arg, const struct coalesce_update *update);

struct coalesce_entry;

/* Zero with emit and arg set is a valid start. */
struct coalesce {
	coalesce_emit_fn *emit;
	void *arg;
	struct pathmap entries;
	struct coalesce_entry *first, *last; /* in the order of their first event */
	/* Updates reported in the current window. */
	struct mono window_start;
	unsigned window_count;
	/* A burst: only the tree is reported, when it is due. */
	bool burst;
	struct mono burst_since, burst_last;
	/* A version control system holds its lock: everything waits. */
	bool locked;
	struct mono locked_since;
};

/* Takes an event. `new_path` is for renames only. May report directories at once. */
void coalesce_see(struct coalesce *c, struct mono now, enum coalesce_event event,
	struct str path, struct str new_path);
/* Events were lost: the whole tree is reported once things have settled. */
void coalesce_lost(struct coalesce *c, struct mono now);
/* A version control system took or released the lock of its work tree. */
void coalesce_lock(struct coalesce *c, struct mono now, bool locked);

/*
 * Reports what is due and forgets paths that were reported long enough ago. True when more
 * is pending; *next is the latest time to call again.
 */
bool coalesce_tell(struct coalesce *c, struct mono now, struct mono *next);

void coalesce_fini(struct coalesce *c);
