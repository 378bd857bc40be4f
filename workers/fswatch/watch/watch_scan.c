/* watch_scan.c - lists directories of the project and puts watches on them. */
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "workers/fswatch/watch/watch_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define EVENTS                                                                           \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY |               \
		IN_CLOSE_WRITE | IN_ONLYDIR | IN_EXCL_UNLINK)
#define ROOT_EVENTS (IN_DELETE_SELF | IN_MOVE_SELF)
#define GIT_EVENTS (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)

static struct str wd_key(const struct tree_dir *dir)
{
	return (struct str){(const char *)&dir->wd, sizeof(dir->wd)};
}

/* ---- the queue ---- */

void watch_queue(struct watch *w, struct tree_dir *dir, bool announce, bool deep)
{
	dir->announce = announce;
	dir->deep |= deep;
	if (dir->queued)
		return;
	dir->queued = true;
	dir->next_queued = NULL;
	*(w->last_queued ? &w->last_queued->next_queued : &w->first_queued) = dir;
	w->last_queued = dir;
}

static void unqueue(struct watch *w, struct tree_dir *dir)
{
	struct tree_dir *before = NULL;

	for (struct tree_dir *d = w->first_queued; d != dir; d = d->next_queued)
		before = d;
	*(before ? &before->next_queued : &w->first_queued) = dir->next_queued;
	if (w->last_queued == dir)
		w->last_queued = before;
	dir->queued = false;
}

/* ---- watches ---- */

static int inotify_add(struct watch *w, int dir_fd, uint32_t mask)
{
	char path[32];

	if (w->inotify_fd < 0)
		return -EMFILE;
	if (w->max_watches && w->stats.watches >= w->max_watches)
		return -ENOSPC;
	/* By the descriptor: the path may lead elsewhere by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", dir_fd);

	int wd = inotify_add_watch(w->inotify_fd, path, mask);

	return wd < 0 ? -errno : wd;
}

static void set_polled(struct watch *w, struct tree_dir *dir, bool polled)
{
	if (dir->polled == polled)
		return;
	dir->polled = polled;
	w->polled += polled ? 1 : (size_t)-1;
	w->stats.polled = w->polled;
}

static void forget_watch(struct watch *w, struct tree_dir *dir)
{
	if (dir->wd < 0)
		return;
	pathmap_remove(&w->by_wd, wd_key(dir));
	dir->wd = -1;
	w->stats.watches--;
}

/* True when two paths lead to one directory, as bind mounts make it. */
static bool same_place(struct watch *w, const struct tree_dir *dir, int fd)
{
	struct stat a, b;

	tree_path(dir, (struct str){NULL, 0}, &w->path);
	buf_add_char(&w->path, '\0');

	AUTO_FD other =
		project_openat_nofollow(w->project, w->path.data, O_PATH | O_DIRECTORY);

	return other >= 0 && fstat(other, &a) == 0 && fstat(fd, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * Watches a directory. The kernel gives the same number again for what is watched
 * already: then whoever had it has moved on and is looked at anew, or is the same
 * directory under another path, and this one is polled.
 */
static int add_watch(struct watch *w, struct tree_dir *dir, int fd)
{
	int wd = inotify_add(w, fd, EVENTS | (dir->parent ? 0 : ROOT_EVENTS));

	if (wd < 0)
		return wd;

	struct tree_dir *owner =
		pathmap_get(&w->by_wd, (struct str){(const char *)&wd, sizeof(wd)});

	if (owner == dir)
		return 0;
	if (owner && tree_top(owner) == w->tree.root && same_place(w, owner, fd))
		return -EEXIST;
	if (owner) {
		forget_watch(w, owner);
		watch_queue(w, owner, true, true);
	}
	if (dir->wd >= 0) { /* another directory is here now */
		inotify_rm_watch(w->inotify_fd, dir->wd);
		forget_watch(w, dir);
	}
	dir->wd = wd;
	pathmap_put(&w->by_wd, wd_key(dir), dir);
	w->stats.watches++;
	return 0;
}

void watch_git(struct watch *w)
{
	AUTO_FD fd = project_openat_nofollow(w->project, ".git", O_PATH | O_DIRECTORY);

	if (fd < 0)
		return;

	int wd = inotify_add(w, fd, GIT_EVENTS);

	w->git_wd = wd < 0 ? -1 : wd;
}

void watch_on_gone(void *arg, struct tree_dir *dir)
{
	struct watch *w = arg;

	if (dir->queued)
		unqueue(w, dir);
	if (dir->wd >= 0) {
		/* Fails when the directory itself is gone. */
		inotify_rm_watch(w->inotify_fd, dir->wd);
		forget_watch(w, dir);
	}
	set_polled(w, dir, false);
}

/* ---- one directory ---- */

static void on_removed(void *arg, struct tree_dir *dir, struct str name, bool is_dir)
{
	struct watch *w = arg;

	if (!dir->announce)
		return;
	if (is_dir) {
		tree_path(dir, name, &w->path);
		watch_see_gone(w, tree_dir_find(dir, name), buf_str(&w->path));
	} else {
		watch_see(w, SEEN_REMOVE, dir, name);
	}
}

static void on_added(void *arg, struct tree_dir *dir, struct str name, bool is_dir)
{
	struct watch *w = arg;

	if (dir->announce)
		watch_see(w, is_dir ? SEEN_ADD_DIR : SEEN_ADD, dir, name);
	if (is_dir)
		watch_queue(w, tree_dir_find(dir, name), dir->announce, false);
}

static void on_changed(void *arg, struct tree_dir *dir, struct str name)
{
	watch_see(arg, SEEN_CLOSE, dir, name);
}

static void leave_out_hidden(struct watch *w, const struct tree_dir *dir)
{
	struct listing *l = &w->listing;

	for (size_t i = 0; w->hidden && i < l->count; i++)
		if (l->items[i].is_dir && watch_hidden(w, dir, str_of(l->items[i].name)))
			l->items[i--] = l->items[--l->count];
}

/* Opens, watches, lists: in this order, so that what changes meanwhile is an event. */
static int list(struct watch *w, struct tree_dir *dir)
{
	const struct tree_merge_calls calls = {on_removed, on_added, on_changed, w};

	tree_path(dir, (struct str){NULL, 0}, &w->path);
	buf_add_char(&w->path, '\0');

	int fd =
		project_openat_nofollow(w->project, w->path.data, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return fd;

	int error = add_watch(w, dir, fd);

	set_polled(w, dir, error != 0);
	if (error && !w->limit_error && error != -EEXIST) {
		w->limit_error = -error;
		watch_report(w);
	}
	/* The last look without a watch is compared with once more. */
	error = listing_read(&w->listing, fd, dir->polled || dir->stamps);
	if (error)
		return error;
	leave_out_hidden(w, dir);
	tree_merge(
		&w->tree, dir, w->listing.items, w->listing.count, dir->polled, &calls);
	return 0;
}

static void scan_one(struct watch *w, struct tree_dir *dir)
{
	if (tree_top(dir) != w->tree.root) {
		tree_top(dir)->stale = true;
		dir->deep = false;
		return;
	}
	if (dir->depth >= TREE_MAX_DEPTH) {
		log_warn("a directory is too deep to be looked into", "name", "%s",
			dir->name, "depth", "%u", dir->depth, NULL);
		return;
	}

	bool deep = dir->deep;
	int error = list(w, dir);

	dir->deep = false;
	if (error == -ENOENT || error == -ENOTDIR || error == -ELOOP)
		return; /* gone again; its removal is an event of its own */
	if (error) {
		tree_path(dir, (struct str){NULL, 0}, &w->path);
		log_warn("cannot list a directory of the project", "dir", "%.*s",
			STR_ARG(buf_str(&w->path)), "error", "%s", strerror(-error),
			NULL);
		return;
	}
	for (unsigned i = 0; deep && i < dir->dir_count; i++)
		watch_queue(w, dir->dirs[i], dir->announce, true);
}

static void finish(struct watch *w)
{
	if (!w->ready) {
		w->ready = true;
		watch_git(w);
		w->calls.ready(w->calls.arg);
	}
	if (w->tree_wanted) {
		const struct coalesce_update tree = {.fresh_tree = true};

		w->tree_wanted = false;
		w->calls.update(w->calls.arg, &tree);
	}
	if (w->poll_started.us) {
		int64_t took_us = clock_mono().us - w->poll_started.us;

		/* At most a tenth of the time goes into looking. */
		w->poll_next.us = clock_mono().us + took_us * 10;
		w->poll_started.us = 0;
	}
}

void watch_scan(struct watch *w)
{
	struct mono start = clock_mono();

	while (w->first_queued) {
		struct tree_dir *dir = w->first_queued;

		if (clock_mono().us - start.us >= WATCH_SLICE_US) {
			/* An active event would still be of this turn. */
			event_add_ms(w->scan, 0);
			return;
		}
		unqueue(w, dir);
		scan_one(w, dir);
	}
	finish(w);
}

/* ---- directories without a watch ---- */

static void poll_below(struct watch *w, struct tree_dir *dir)
{
	if (dir->polled && !dir->queued)
		watch_queue(w, dir, true, false);
	for (unsigned i = 0; i < dir->dir_count; i++)
		poll_below(w, dir->dirs[i]);
}

void watch_poll_all(struct watch *w)
{
	if (w->polled == 0 && w->limit_error) {
		w->limit_error = 0;
		watch_report(w);
	}
	if (w->polled == 0 || w->poll_started.us || clock_mono().us < w->poll_next.us)
		return;
	w->poll_started = clock_mono();
	poll_below(w, w->tree.root);
	watch_scan(w);
}
