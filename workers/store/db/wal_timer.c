/* wal_timer.c - keeps the write-ahead log of one open database short (wal_timer.h). */
#include "workers/store/db/wal_timer.h"
#include "common/base/alloc.h"
#include "common/loop/timer.h"
#include "workers/store/db/image.h"
#include <errno.h>
#include <stdlib.h>

static bool checkpoint(struct wal_timer *k, enum wal_action action)
{
	int mode = action == WAL_CUT ? SQLITE_CHECKPOINT_TRUNCATE
				     : SQLITE_CHECKPOINT_PASSIVE;
	int in_log = 0, copied = 0;
	int rc = sqlite3_wal_checkpoint_v2(k->db->handle, "main", mode, &in_log, &copied);

	if (rc == SQLITE_OK)
		return in_log == copied;
	if (database_errno(rc) == -EBUSY)
		error_text_set(&k->pin,
			"The write-ahead log of %s cannot be cut because another process "
			"keeps reading "
			"the database. End that process.",
			k->db->path);
	else
		database_error_text(k->db, &k->pin);
	return false;
}

static void tend(struct wal_timer *k)
{
	int64_t wait_ms;
	enum wal_action action = wal_decide(&k->policy, clock_mono(), &wait_ms);

	if (action != WAL_WAIT) {
		wal_done(&k->policy, action, checkpoint(k, action), clock_mono());
		action = wal_decide(&k->policy, clock_mono(), &wait_ms);
	}
	k->pinned = k->policy.pinned;
	if (action == WAL_WAIT && wait_ms >= 0) {

		event_add_ms(k->timer, wait_ms);
	}
}

static void on_timer(EVENT_UNUSED, void *arg)
{
	struct wal_timer *k = arg;

	tend(k);
	k->on_change(k->arg);
}

void wal_timer_start(struct wal_timer *k, struct event_base *base, struct database *db,
	void (*on_change)(void *arg), void *arg)
{
	*k = (struct wal_timer){
		.db = db, .commits = db->commits, .on_change = on_change, .arg = arg};
	k->timer = alloc_checked(evtimer_new(base, on_timer, k));
	wal_written(&k->policy, database_log_bytes(db), clock_mono());
	tend(k);
}

bool wal_timer_after_commit(struct wal_timer *k)
{
	if (k->commits == k->db->commits)
		return false;
	k->commits = k->db->commits;
	wal_written(&k->policy,
		(int64_t)k->db->log_pages *
			(k->db->page_bytes + IMAGE_FRAME_HEADER_BYTES),
		clock_mono());
	tend(k);
	return true;
}

bool wal_timer_stop(struct wal_timer *k, bool cut)
{
	bool done = true;

	if (!k->db)
		return true;
	event_free(k->timer);
	if (cut)
		done = checkpoint(k, WAL_CUT);
	*k = (struct wal_timer){0};
	return done;
}
