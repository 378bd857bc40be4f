/*
 * coalesce.h - turns what the watcher sees into what clients are told (FR-036, P3.9).
 *
 * Pure: times come in with the events, updates and the next deadline go out; it reads no
 * clock and no file. It knows for every path of late what clients were told and what is
 * true now, and tells the difference once things have settled:
 *
 *   - A first change is told at once; further ones of the same file within
 *     COALESCE_GAP_US are told together at its end.
 *   - A new file is told when its writer has closed it, or after COALESCE_OPEN_US.
 *   - What disappears is told only after COALESCE_HOLD_US, because it may be a save that
 *     goes through a temporary file or a backup: then it is one `change` (R01, R02).
 *   - Names that are short-lived by nature appear only after COALESCE_HOLD_US.
 *   - A rename is told as one, also of directories (R06); what is pending below a
 *     directory is told before anything about the directory itself.
 *   - More than COALESCE_BURST updates in COALESCE_BURST_US, or directories changing
 *     while a version control system holds its lock, are told as one fresh tree when they
 *     have come to rest, or every COALESCE_TREE_US while they do not (R11).
 */
#ifndef PAIGE_FSWATCH_WATCH_COALESCE_H
#define PAIGE_FSWATCH_WATCH_COALESCE_H

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
#define COALESCE_LOCK_US 3000000 /* a lock older than this is a stale one */
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

/* One thing to tell. Paths are borrowed until the callback returns. */
struct coalesce_update {
	bool fresh_tree; /* tell the whole tree anew; nothing below counts */
	enum tree_action action;
	struct str path;
	struct str new_path; /* of a rename */
};

typedef void coalesce_emit_fn(void *arg, const struct coalesce_update *update);

struct coalesce_entry;

/* Zero but for emit and arg is a valid start. */
struct coalesce {
	coalesce_emit_fn *emit;
	void *arg;
	struct pathmap entries;
	struct coalesce_entry *first, *last; /* in the order of their first event */
	/* How many updates were told in the present window. */
	struct mono window_start;
	unsigned window_count;
	/* A burst: nothing is told but the tree, when it is due. */
	bool burst;
	struct mono burst_since, burst_last;
	/* A lock is held: everything waits. */
	bool locked;
	struct mono locked_since;
};

/* Takes in one event. `new_path` counts for renames only. May tell directories at once.
 */
void coalesce_see(struct coalesce *c, struct mono now, enum coalesce_event event,
	struct str path, struct str new_path);
/* Everything known is void, as after lost events: the whole tree is told when at rest. */
void coalesce_lost(struct coalesce *c, struct mono now);
/* A version control system took, or gave back, the lock of its work tree. */
void coalesce_lock(struct coalesce *c, struct mono now, bool locked);

/*
 * Tells what is due and forgets what was told long enough ago. True when there is more to
 * tell, with *next the time to call again at the latest.
 */
bool coalesce_tell(struct coalesce *c, struct mono now, struct mono *next);

void coalesce_fini(struct coalesce *c);

#endif
