/* watch_events.c - what the events of inotify mean for tree and clients. */
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "workers/fswatch/disk/names.h"
#include "workers/fswatch/watch/watch_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFER_BYTES 65536

/* Where an event happened. */
struct place {
	struct watch *w;
	struct tree_dir *dir;
	struct str name;
	bool is_dir;
};

/* Not part of the tree: a noise directory, our own data, our own temporary file. */
static bool ignored(const struct place *p)
{
	if (!p->is_dir)
		return names_temp_owner(p->name) != 0;
	return names_noise_dir(p->name) || watch_hidden(p->w, p->dir, p->name);
}

/* ---- coming and going ---- */

static void dir_gone(struct watch *w, struct tree_dir *dir)
{
	tree_path(dir, (struct str){NULL, 0}, &w->path);
	watch_see_gone(w, dir, buf_str(&w->path));
	tree_dir_remove(&w->tree, dir);
}

/* Whatever of the other kind has the name in the tree is no longer there. */
static void make_way(const struct place *p)
{
	struct tree_dir *dir = tree_dir_find(p->dir, p->name);

	if (p->is_dir && tree_file_remove(&p->w->tree, p->dir, p->name))
		watch_see(p->w, SEEN_REMOVE, p->dir, p->name);
	if (!p->is_dir && dir)
		dir_gone(p->w, dir);
}

static void dir_came(const struct place *p)
{
	bool is_new;
	struct tree_dir *dir = tree_dir_add(&p->w->tree, p->dir, p->name, &is_new);

	if (!is_new) /* a scan was quicker */
		return;
	watch_see(p->w, SEEN_ADD_DIR, p->dir, p->name);
	watch_queue(p->w, dir, true, false);
}

/* `complete`: whoever writes it has closed it. */
static void file_came(const struct place *p, bool complete)
{
	if (tree_file_add(&p->w->tree, p->dir, p->name))
		watch_see(p->w, SEEN_ADD, p->dir, p->name);
	if (complete)
		watch_see(p->w, SEEN_CLOSE, p->dir, p->name);
}

static void came(const struct place *p, bool complete)
{
	make_way(p);
	if (p->is_dir)
		dir_came(p);
	else
		file_came(p, complete);
}

static void went(const struct place *p)
{
	struct tree_dir *dir = p->is_dir ? tree_dir_find(p->dir, p->name) : NULL;

	if (dir) {
		dir_gone(p->w, dir);
	} else if (!p->is_dir && tree_file_remove(&p->w->tree, p->dir, p->name)) {
		watch_see(p->w, SEEN_REMOVE, p->dir, p->name);
	}
}

static void written(const struct place *p, bool closed)
{
	if (tree_file_find(p->dir, p->name))
		watch_see(p->w, closed ? SEEN_CLOSE : SEEN_WRITE, p->dir, p->name);
}

/* ---- renames ---- */

static void forget_move(struct watch *w, size_t i)
{
	free(w->moves[i].path);
	memmove(w->moves + i, w->moves + i + 1,
		(w->move_count - i - 1) * sizeof(w->moves[0]));
	w->move_count--;
}

/* It went where nobody watches. */
static void moved_out(struct watch *w, size_t i)
{
	struct watch_move *move = &w->moves[i];
	struct str path = str_of(move->path);

	if (move->dir) {
		watch_see_gone(w, move->dir, path);
		tree_dir_remove(&w->tree, move->dir);
	} else {
		coalesce_see(&w->coalesce, clock_mono(), SEEN_REMOVE, path,
			(struct str){NULL, 0});
	}
	forget_move(w, i);
}

void watch_expire_moves(struct watch *w, struct mono now)
{
	while (w->move_count > 0 && w->moves[0].due.us <= now.us)
		moved_out(w, 0);
}

void watch_drop_moves(struct watch *w)
{
	while (w->move_count > 0)
		moved_out(w, 0);
}

/* After an exchange of two names, or a quick successor, something is still there. */
static bool still_there(const struct place *p)
{
	struct buf *path = &p->w->path;

	tree_path(p->dir, p->name, path);
	buf_add_char(path, '\0');

	AUTO_FD fd =
		project_openat_nofollow(p->w->project, path->data, O_PATH | O_NOFOLLOW);

	return fd >= 0;
}

static void moved_from(const struct place *p, uint32_t cookie)
{
	struct watch *w = p->w;

	if (ignored(p))
		return;
	if (w->move_count == WATCH_MAX_MOVES)
		moved_out(w, 0);

	struct watch_move move = {.cookie = cookie, .is_dir = p->is_dir};

	if (p->is_dir) {
		move.dir = tree_dir_find(p->dir, p->name);
		move.known = move.dir != NULL;
	} else {
		move.known = tree_file_remove(&w->tree, p->dir, p->name);
	}
	if (!move.known)
		return;
	tree_path(p->dir, p->name, &w->path);
	move.path = xstrndup(w->path.data, w->path.len);
	move.due = (struct mono){clock_mono().us + WATCH_MOVE_US};
	if (move.dir)
		tree_detach(move.dir);
	w->moves[w->move_count++] = move;
	if (still_there(p))
		watch_queue(w, p->dir, true, false);
}

static void dir_moved(const struct place *p, const struct watch_move *move)
{
	struct watch *w = p->w;
	struct tree_dir *dir = move->dir, *old = tree_dir_find(p->dir, p->name);

	if (old) /* an empty one, which the kernel does not mention */
		dir_gone(w, old);
	if (!tree_attach(dir, p->dir, p->name)) {
		tree_dir_remove(&w->tree, dir);
		watch_queue(w, w->tree.root, true, true);
		return;
	}
	tree_prune(&w->tree, dir);
	watch_see_move(w, SEEN_RENAME_DIR, move->path, p->dir, p->name);
	if (dir->stale)
		watch_queue(w, dir, true, true);
	dir->stale = false;
}

static void moved_to(const struct place *p, uint32_t cookie)
{
	struct watch *w = p->w;
	size_t i = 0;

	while (i < w->move_count && w->moves[i].cookie != cookie)
		i++;
	if (ignored(p)) {
		if (i < w->move_count)
			moved_out(w, i);
		return;
	}
	if (i == w->move_count || w->moves[i].is_dir != p->is_dir) {
		came(p, true);
		return;
	}
	make_way(p);
	if (p->is_dir) {
		dir_moved(p, &w->moves[i]);
	} else {
		bool is_new = tree_file_add(&w->tree, p->dir, p->name);

		watch_see_move(w, is_new ? SEEN_RENAME : SEEN_REPLACE, w->moves[i].path,
			p->dir, p->name);
	}
	forget_move(w, i);
}

/* ---- events ---- */

static void in_git(struct watch *w, uint32_t mask, struct str name)
{
	if (mask & IN_IGNORED)
		w->git_wd = -1;
	else if (!str_is(name, "index.lock"))
		return;
	coalesce_lock(
		&w->coalesce, clock_mono(), (mask & (IN_CREATE | IN_MOVED_TO)) != 0);
}

static void overflowed(struct watch *w)
{
	w->stats.overflows++;
	log_warn("the kernel lost file events, rescanning the project", "see", "%s",
		"fs.inotify.max_queued_events", NULL);
	watch_drop_moves(w);
	coalesce_lock(&w->coalesce, clock_mono(), false);
	coalesce_lost(&w->coalesce, clock_mono());
	watch_queue(w, w->tree.root, false, true);
}

static void in_dir(const struct place *p, uint32_t mask, uint32_t cookie)
{
	/* The lock of a repository that is only now being made. */
	if (p->is_dir && !p->dir->parent && str_is(p->name, ".git"))
		watch_git(p->w);
	if (mask & IN_MOVED_FROM)
		moved_from(p, cookie);
	else if (mask & IN_MOVED_TO)
		moved_to(p, cookie);
	else if (ignored(p))
		return;
	else if (mask & IN_CREATE)
		came(p, false);
	else if (mask & IN_DELETE)
		went(p);
	else if (mask & (IN_MODIFY | IN_CLOSE_WRITE))
		written(p, (mask & IN_CLOSE_WRITE) != 0);
}

static void understand(struct watch *w, const struct inotify_event *event)
{
	struct str name = event->len ? str_of(event->name) : (struct str){NULL, 0};

	w->stats.events++;
	if (event->mask & IN_Q_OVERFLOW) {
		overflowed(w);
		return;
	}
	if (event->wd == w->git_wd) {
		in_git(w, event->mask, name);
		return;
	}

	struct tree_dir *dir = pathmap_get(
		&w->by_wd, (struct str){(const char *)&event->wd, sizeof(event->wd)});

	if (!dir)
		return;
	if (event->mask & IN_IGNORED) {
		pathmap_remove(
			&w->by_wd, (struct str){(const char *)&dir->wd, sizeof(dir->wd)});
		dir->wd = -1;
		w->stats.watches--;
		return;
	}
	if (!dir->parent && event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) {
		watch_look_at_root(w);
		return;
	}
	if (tree_top(dir) != w->tree.root) {
		tree_top(dir)->stale = true;
		return;
	}
	if (event->mask & IN_UNMOUNT) /* what lies below the mount is there now */
		watch_queue(w, dir, true, true);
	if (name.len > 0)
		in_dir(&(struct place){w, dir, name, (event->mask & IN_ISDIR) != 0},
			event->mask, event->cookie);
}

void watch_read_events(struct watch *w)
{
	static char buffer[BUFFER_BYTES] __attribute__((aligned(8)));
	struct mono start = clock_mono();

	while (clock_mono().us - start.us < WATCH_SLICE_US) {
		ssize_t n = read(w->inotify_fd, buffer, sizeof(buffer));

		if (n <= 0)
			return;
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(buffer + at);

			understand(w, event);
			at += (ssize_t)sizeof(*event) + event->len;
		}
	}
}
