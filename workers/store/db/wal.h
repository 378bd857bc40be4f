/*
 * wal.h - keeps the write-ahead log short.
 *
 * SQLite's own checkpoints run inside a commit and never shrink the file; a reader that
 * stays pins the log, and it grows without end (R32). Here the log is copied into the
 * database when it passes WAL_SOFT_BYTES, cut off when it passes WAL_LIMIT_BYTES or
 * writing pauses, and a log that cannot be cut is told about. The policy is pure; the
 * store's loop does what it says.
 */
#pragma once

#include "common/base/clock.h"
#include <stdbool.h>

#define WAL_SOFT_BYTES (4 * 1024 * 1024)
#define WAL_LIMIT_BYTES (16 * 1024 * 1024)

/* After this pause in writing a log of WAL_SMALL_BYTES or more is cut off, after the long
 * one any. */
#define WAL_PAUSE_MS 1000
#define WAL_LONG_PAUSE_MS 30000
#define WAL_SMALL_BYTES (1024 * 1024)
/* Between two attempts while somebody reads the log. */
#define WAL_RETRY_MS 500
/* A log over the limit that cannot be cut for this long is pinned. */
#define WAL_PINNED_MS 2000

enum wal_action {
	WAL_WAIT,
	WAL_COPY, /* copy what can be copied, wait for nobody (a passive checkpoint) */
	WAL_CUT,  /* copy everything and cut the log to nothing (a truncating one) */
};

/* Zero before the first use. */
struct wal_policy {
	int64_t used_bytes; /* of the log that is not copied and reset */
	int64_t file_bytes; /* the longest it was since it was cut */
	struct mono last_write;
	struct mono try_after;
	struct mono failing_since;
	bool failing; /* the last attempt met a reader */
	bool pinned;  /* over the limit and failing for WAL_PINNED_MS */
};

/* A transaction was committed; the log has `log_bytes` in use now. */
void wal_written(struct wal_policy *wal, int64_t log_bytes, struct mono now);
/* What to do now; with WAL_WAIT, *wait_ms is when to ask again, -1 after the next write.
 */
enum wal_action wal_decide(
	const struct wal_policy *wal, struct mono now, int64_t *wait_ms);
/* How it went: `done` when the whole log was copied (and cut). */
void wal_done(struct wal_policy *wal, enum wal_action action, bool done, struct mono now);
