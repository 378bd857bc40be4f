/* wal.c - keeps the write-ahead log short (wal.h). */
#include "workers/store/db/wal.h"

void wal_written(struct wal_policy *wal, int64_t log_bytes, struct mono now)
{
	wal->used_bytes = log_bytes;
	if (log_bytes > wal->file_bytes)
		wal->file_bytes = log_bytes;
	wal->last_write = now;
	/* Somebody let it go, and the log began anew. */
	if (log_bytes <= WAL_LIMIT_BYTES)
		wal->pinned = false;
}

static int64_t pause_for(const struct wal_policy *wal)
{
	return wal->file_bytes >= WAL_SMALL_BYTES ? WAL_PAUSE_MS : WAL_LONG_PAUSE_MS;
}

enum wal_action wal_decide(
	const struct wal_policy *wal, struct mono now, int64_t *wait_ms)
{
	int64_t idle_ms = mono_diff_ms(now, wal->last_write);

	*wait_ms = -1;
	if (wal->file_bytes == 0)
		return WAL_WAIT;
	if (now.us < wal->try_after.us) {
		*wait_ms = mono_diff_ms(wal->try_after, now) + 1;
		return WAL_WAIT;
	}
	if (wal->used_bytes > WAL_LIMIT_BYTES || idle_ms >= pause_for(wal))
		return WAL_CUT;
	if (wal->used_bytes >= WAL_SOFT_BYTES)
		return WAL_COPY;
	*wait_ms = pause_for(wal) - idle_ms;
	return WAL_WAIT;
}

void wal_done(struct wal_policy *wal, enum wal_action action, bool done, struct mono now)
{
	if (done) {
		wal->used_bytes = 0;
		wal->failing = false;
		wal->pinned = false;
		if (action == WAL_CUT)
			wal->file_bytes = 0;
		return;
	}
	if (!wal->failing)
		wal->failing_since = now;
	wal->failing = true;
	wal->try_after = mono_add_ms(now, WAL_RETRY_MS);
	if (wal->used_bytes > WAL_LIMIT_BYTES &&
		mono_diff_ms(now, wal->failing_since) >= WAL_PINNED_MS)
		wal->pinned = true;
}
