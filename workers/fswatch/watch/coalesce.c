/* coalesce.c - see coalesce.h. */
#include "workers/fswatch/watch/coalesce.h"
#include "common/base/alloc.h"
#include "workers/fswatch/disk/names.h"
#include "workers/fswatch/disk/paths.h"
#include <stdlib.h>

#define NEVER INT64_MAX

/*
 * A path of which something is to be told, or was a moment ago. `told` is what clients
 * know, `there` what is true. A rename that is not told yet ties two entries together:
 * the old path, which is told but not there, and the new one, which is there but not
 * told.
 */
struct coalesce_entry {
	struct coalesce_entry *next, *previous;
	struct coalesce_entry *from, *to; /* the other end of a rename */
	bool told, there, changed;
	int64_t due_us;	      /* when to tell, or to forget the entry */
	int64_t last_told_us; /* 0: not of late */
	size_t len;
	char path[];
};

static struct str path_of(const struct coalesce_entry *e)
{
	return (struct str){e->path, e->len};
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- entries ---- */

static struct coalesce_entry *entry(struct coalesce *c, struct str path, bool told)
{
	struct coalesce_entry *e = pathmap_get(&c->entries, path);

	if (e)
		return e;
	e = xcalloc(1, sizeof(*e) + path.len + 1);
	memcpy(e->path, path.ptr, path.len);
	e->len = path.len;
	e->told = e->there = told;
	e->due_us = NEVER;
	e->previous = c->last;
	*(c->last ? &c->last->next : &c->first) = e;
	c->last = e;
	pathmap_put(&c->entries, path_of(e), e);
	return e;
}

static void untie(struct coalesce_entry *e)
{
	if (e->from)
		e->from->to = NULL;
	if (e->to)
		e->to->from = NULL;
	e->from = e->to = NULL;
}

static void drop(struct coalesce *c, struct coalesce_entry *e)
{
	untie(e);
	pathmap_remove(&c->entries, path_of(e));
	*(e->previous ? &e->previous->next : &c->first) = e->next;
	*(e->next ? &e->next->previous : &c->last) = e->previous;
	free(e);
}

static void drop_all(struct coalesce *c)
{
	while (c->first)
		drop(c, c->first);
}

/* ---- telling ---- */

static void start_burst(struct coalesce *c, struct mono now)
{
	drop_all(c);
	if (!c->burst)
		c->burst_since = now;
	c->burst = true;
	c->burst_last = now;
}

/* False when it would be one update too many: then all becomes a fresh tree. */
static bool room_for(struct coalesce *c, struct mono now, size_t count)
{
	if (now.us - c->window_start.us >= COALESCE_BURST_US) {
		c->window_start = now;
		c->window_count = 0;
	}
	if (c->window_count + count <= COALESCE_BURST)
		return true;
	start_burst(c, now);
	return false;
}

static void tell(struct coalesce *c, struct mono now, enum tree_action action,
	struct str path, struct str new_path)
{
	struct coalesce_update update = {
		.action = action, .path = path, .new_path = new_path};

	if (!room_for(c, now, 1))
		return;
	c->window_count++;
	c->emit(c->arg, &update);
}

static bool pending(const struct coalesce_entry *e)
{
	return e->told != e->there || (e->told && e->changed);
}

/* Tells a tied rename by its old path. */
static void tell_rename(struct coalesce *c, struct mono now, struct coalesce_entry *from)
{
	struct coalesce_entry *to = from->to;

	untie(from);
	from->told = from->changed = false;
	to->told = true;
	from->last_told_us = to->last_told_us = now.us;
	from->due_us = now.us + COALESCE_GAP_US;
	to->due_us = to->changed ? now.us : now.us + COALESCE_GAP_US;
	tell(c, now, TREE_RENAME, path_of(from), path_of(to));
}

static void tell_entry(struct coalesce *c, struct mono now, struct coalesce_entry *e)
{
	enum tree_action action = !e->told   ? TREE_ADD
				  : e->there ? TREE_CHANGE
					     : TREE_UNLINK;

	if (e->to || e->from) {
		tell_rename(c, now, e->to ? e : e->from);
		return;
	}
	e->told = e->there;
	e->changed = false;
	e->last_told_us = now.us;
	e->due_us = now.us + COALESCE_GAP_US;
	tell(c, now, action, path_of(e), (struct str){NULL, 0});
}

/* Tells at once all that waits at or below a directory, and forgets it. */
static void settle_below(struct coalesce *c, struct mono now, struct str dir)
{
	for (struct coalesce_entry *e = c->first, *next; e; e = next) {
		next = e->next;
		if (!paths_within(path_of(e), dir))
			continue;
		/* A rename may have a change to follow it. */
		for (int i = 0; i < 2 && !c->burst && pending(e); i++)
			tell_entry(c, now, e);
		if (c->burst)
			return;
		drop(c, e);
	}
}

/* ---- seeing ---- */

/* When a change of a file that clients know is told. */
static int64_t change_due(const struct coalesce_entry *e, struct mono now)
{
	int64_t free_at = e->last_told_us + COALESCE_GAP_US;

	return e->last_told_us && free_at > now.us ? free_at : now.us;
}

static int64_t add_due(const struct coalesce_entry *e, struct mono now, int64_t wait_us)
{
	return now.us +
	       (names_short_lived(paths_base(path_of(e))) ? COALESCE_HOLD_US : wait_us);
}

static void see_add(struct coalesce_entry *e, struct mono now)
{
	if (e->to) { /* it was only moved aside, for a backup */
		e->to->due_us = now.us + COALESCE_HOLD_US;
		untie(e);
	}
	e->there = true;
	if (e->told) {
		e->changed = true;
		e->due_us = now.us + COALESCE_WRITE_US;
	} else {
		e->due_us = add_due(e, now, COALESCE_OPEN_US);
	}
}

static void see_write(struct coalesce_entry *e, struct mono now, bool closed)
{
	bool waiting = pending(e); /* else its deadline is the one for forgetting it */

	e->changed = true;
	if (e->from) /* told with the rename */
		return;
	if (!e->told) {
		if (closed)
			e->due_us =
				earlier(e->due_us, add_due(e, now, COALESCE_CLOSED_US));
		return;
	}

	if (!e->there)
		return;

	struct mono then = {now.us + (closed ? 0 : COALESCE_WRITE_US)};
	int64_t due = change_due(e, then);

	e->due_us = waiting ? earlier(e->due_us, due) : due;
}

static void see_remove(struct coalesce *c, struct coalesce_entry *e, struct mono now)
{
	struct coalesce_entry *old = e->from;

	if (old)
		old->due_us = now.us + COALESCE_HOLD_US;
	untie(e);
	e->there = e->changed = false;
	if (e->told)
		e->due_us = now.us + COALESCE_HOLD_US;
	else if (e->last_told_us)
		e->due_us = e->last_told_us + COALESCE_GAP_US;
	else
		drop(c, e);
}

/* A file took the place of one that clients know: that one has changed. */
static void see_replaced(struct coalesce *c, struct coalesce_entry *old,
	struct coalesce_entry *e, struct mono now)
{
	bool back = old->from == e; /* moved away and back again */
	bool changed = !back || old->changed;

	see_remove(c, old, now);
	if (e->to) /* it was moved aside, for a backup */
		e->to->due_us = now.us + COALESCE_HOLD_US;
	untie(e);
	e->there = true;
	e->changed = changed;
	e->due_us = changed ? change_due(e, now) : now.us + COALESCE_GAP_US;
}

static void see_rename(struct coalesce *c, struct coalesce_entry *old,
	struct coalesce_entry *e, struct mono now)
{
	struct coalesce_entry *origin = old->told ? old : old->from;

	if (e->told) {
		see_replaced(c, old, e, now);
		return;
	}
	untie(e);
	e->there = true;
	e->changed = old->changed;
	untie(old);
	old->there = old->changed = false;
	if (!origin) {
		see_remove(c, old, now);
		e->due_us = add_due(e, now, COALESCE_CLOSED_US);
		return;
	}
	if (origin != old)
		see_remove(c, old, now);
	origin->to = e;
	e->from = origin;
	origin->due_us = e->due_us = now.us + COALESCE_HOLD_US;
}

static void see_dir(struct coalesce *c, struct mono now, enum coalesce_event event,
	struct str path, struct str new_path)
{
	static const enum tree_action actions[] = {
		[SEEN_ADD_DIR] = TREE_ADD_DIR,
		[SEEN_REMOVE_DIR] = TREE_UNLINK_DIR,
		[SEEN_RENAME_DIR] = TREE_RENAME,
	};

	if (c->locked) {
		start_burst(c, now);
		return;
	}
	settle_below(c, now, path);
	if (!c->burst && event == SEEN_RENAME_DIR)
		settle_below(c, now, new_path);
	if (!c->burst)
		tell(c, now, actions[event], path, new_path);
}

static void see_file(struct coalesce *c, struct mono now, enum coalesce_event event,
	struct str path, struct str new_path)
{
	struct coalesce_entry *e = entry(c, path, event != SEEN_ADD);

	if (event == SEEN_ADD)
		see_add(e, now);
	else if (event == SEEN_WRITE || event == SEEN_CLOSE)
		see_write(e, now, event == SEEN_CLOSE);
	else if (event == SEEN_REMOVE)
		see_remove(c, e, now);
	else
		see_rename(c, e, entry(c, new_path, event == SEEN_REPLACE), now);
}

void coalesce_see(struct coalesce *c, struct mono now, enum coalesce_event event,
	struct str path, struct str new_path)
{
	if (c->burst) {
		c->burst_last = now;
		return;
	}
	if (event >= SEEN_ADD_DIR)
		see_dir(c, now, event, path, new_path);
	else if (c->entries.count >= COALESCE_MAX_PATHS)
		start_burst(c, now);
	else
		see_file(c, now, event, path, new_path);
}

void coalesce_lost(struct coalesce *c, struct mono now)
{
	start_burst(c, now);
}

void coalesce_lock(struct coalesce *c, struct mono now, bool locked)
{
	size_t count = 0;

	c->locked = locked;
	c->locked_since = now;
	for (struct coalesce_entry *e = c->first; e && !locked; e = e->next)
		count += pending(e) && !e->from;
	if (count > COALESCE_BURST)
		start_burst(c, now);
}

/* ---- deadlines ---- */

static bool tell_tree(struct coalesce *c, struct mono now, struct mono *next)
{
	const struct coalesce_update update = {.fresh_tree = true};
	int64_t rest = c->burst_last.us + COALESCE_QUIET_US;
	int64_t limit = c->burst_since.us + COALESCE_TREE_US;

	if (now.us < rest && now.us < limit) {
		next->us = earlier(rest, limit);
		return true;
	}
	c->burst = now.us < rest; /* still going on */
	c->burst_since = now;
	c->window_count = 0;
	c->emit(c->arg, &update);
	next->us = earlier(rest, now.us + COALESCE_TREE_US);
	return c->burst;
}

static bool tell_due(struct coalesce *c, struct mono now, struct mono *next)
{
	size_t count = 0;

	for (struct coalesce_entry *e = c->first; e; e = e->next)
		count += e->due_us <= now.us && pending(e) && !e->from;
	if (count > 0 && !room_for(c, now, count))
		return tell_tree(c, now, next);
	next->us = NEVER;
	for (struct coalesce_entry *e = c->first, *after; e; e = after) {
		if (e->due_us <= now.us && pending(e))
			tell_entry(c, now, e);
		if (c->burst)
			return tell_tree(c, now, next);
		after = e->next;
		if (e->due_us <= now.us && !pending(e))
			drop(c, e);
	}
	/* Forgetting may wait until something happens. */
	for (struct coalesce_entry *e = c->first; e; e = e->next)
		if (pending(e))
			next->us = earlier(next->us, e->due_us);
	return next->us != NEVER;
}

bool coalesce_tell(struct coalesce *c, struct mono now, struct mono *next)
{
	if (c->locked) {
		next->us = c->locked_since.us + COALESCE_LOCK_US;
		if (now.us < next->us)
			return true;
		c->locked = false;
	}
	if (c->burst)
		return tell_tree(c, now, next);
	return tell_due(c, now, next);
}

void coalesce_fini(struct coalesce *c)
{
	drop_all(c);
	pathmap_fini(&c->entries);
}
