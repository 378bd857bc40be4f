/* watch.c - runs the watcher: starting, timers, telling. */
#include "workers/fswatch/watch/watch.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "workers/fswatch/watch/watch_private.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* ---- telling ---- */

void watch_see(struct watch *w, enum coalesce_event event, const struct tree_dir *dir,
	struct str name)
{
	tree_path(dir, name, &w->path);
	coalesce_see(&w->coalesce, clock_mono(), event, buf_str(&w->path),
		(struct str){NULL, 0});
}

void watch_see_move(struct watch *w, enum coalesce_event event, const char *old_path,
	const struct tree_dir *dir, struct str name)
{
	tree_path(dir, name, &w->new_path);
	coalesce_see(&w->coalesce, clock_mono(), event, str_of(old_path),
		buf_str(&w->new_path));
}

/* `path` is the key of `dir`; it is the same again afterwards. */
static void see_gone(struct watch *w, const struct tree_dir *dir, struct buf *path)
{
	size_t len = path->len;

	for (unsigned i = 0; i < dir->file_count && !w->coalesce.burst; i++) {
		buf_printf(path, "/%s", dir->files[i]);
		coalesce_see(&w->coalesce, clock_mono(), SEEN_REMOVE, buf_str(path),
			(struct str){NULL, 0});
		path->len = len;
	}
	for (unsigned i = 0; i < dir->dir_count && !w->coalesce.burst; i++) {
		buf_printf(path, "/%s", dir->dirs[i]->name);
		see_gone(w, dir->dirs[i], path);
		path->len = len;
	}
	coalesce_see(&w->coalesce, clock_mono(), SEEN_REMOVE_DIR, buf_str(path),
		(struct str){NULL, 0});
}

void watch_see_gone(struct watch *w, const struct tree_dir *dir, struct str path)
{
	AUTO_BUF copy = {.data = NULL};

	buf_add_str(&copy, path);
	see_gone(w, dir, &copy);
}

/* A tree that is still being scanned would be a wrong one. */
static void on_update(void *arg, const struct coalesce_update *update)
{
	struct watch *w = arg;

	if (update->fresh_tree && w->first_queued)
		w->tree_wanted = true;
	else
		w->calls.update(w->calls.arg, update);
}

static void set_timer(struct watch *w, struct mono when)
{
	int64_t us = when.us - clock_mono().us;

	if (us < 1)
		us = 1;

	struct itimerspec spec = {
		.it_value = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}};

	timerfd_settime(w->timer_fd, 0, &spec, NULL);
}

/* Reports what is due and sets the timer for the rest. */
static void tell_due(struct watch *w)
{
	struct mono now = clock_mono(), next;

	watch_expire_moves(w, now);

	bool more = coalesce_tell(&w->coalesce, now, &next);

	if (w->move_count > 0 && (!more || w->moves[0].due.us < next.us)) {
		next = w->moves[0].due;
		more = true;
	}
	if (more)
		set_timer(w, next);
}

void watch_report(struct watch *w)
{
	const char *reason = NULL;

	if (w->root == PROJECT_LINK)
		reason = "A link lies where the project directory was: nothing is saved "
			 "until the directory is back";
	else if (w->root != PROJECT_HERE)
		reason = "The project directory is gone";
	else if (w->limit_error == ENOSPC)
		reason = "Parts of the project are polled: the kernel is out of "
			 "watches; "
			 "raise the sysctl fs.inotify.max_user_watches";
	else if (w->limit_error == EMFILE)
		reason = "The project is polled: the kernel is out of inotify "
			 "instances; "
			 "raise the sysctl fs.inotify.max_user_instances";
	else if (w->limit_error)
		reason = "Parts of the project are polled: they cannot be watched";
	w->calls.limited(w->calls.arg, reason);
}

bool watch_hidden(struct watch *w, const struct tree_dir *dir, struct str name)
{
	if (!w->hidden || !str_eq(paths_base(str_of(w->hidden)), name))
		return false;
	tree_path(dir, name, &w->path);
	return str_is(buf_str(&w->path), w->hidden);
}

bool watch_look_at_root(struct watch *w)
{
	enum project_state before = w->root;

	w->root = project_look(w->project);
	if (w->root == before)
		return w->root == PROJECT_HERE;
	watch_report(w);
	if (w->root != PROJECT_HERE)
		return false;
	coalesce_lost(&w->coalesce, clock_mono());
	watch_queue(w, w->tree.root, false, true);
	return true;
}

/* ---- events of the loop ---- */

static void on_readable(EVENT_UNUSED, void *arg)
{
	struct watch *w = arg;

	watch_read_events(w);
	watch_scan(w);
	tell_due(w);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct watch *w = arg;
	uint64_t count;

	(void)what;
	if (read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return;
	/* What happened by now may make what is due not worth telling. */
	if (w->inotify_fd >= 0)
		watch_read_events(w);
	watch_scan(w);
	tell_due(w);
}

static void on_scan(EVENT_UNUSED, void *arg)
{
	struct watch *w = arg;

	watch_scan(w);
	tell_due(w);
}

/* Looks for what inotify does not tell: a root that was moved by its parents, and
 * directories without a watch. */
static void on_poll(EVENT_UNUSED, void *arg)
{
	struct watch *w = arg;
	bool here = watch_look_at_root(w);

	event_add_in_step_ms(
		w->poll, here && w->polled == 0 ? WATCH_REST_POLL_MS : WATCH_POLL_MS);
	if (w->root == PROJECT_REPLACED) {
		w->calls.replaced(w->calls.arg);
		return;
	}
	if (here && w->ready)
		watch_poll_all(w);
	watch_scan(w);
	tell_due(w);
}

/* ---- life ---- */

static void start_inotify(struct watch *w)
{
	w->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w->inotify_fd < 0) {
		w->limit_error = errno;
		return;
	}
	w->readable = alloc_checked(
		event_new(w->base, w->inotify_fd, EV_READ | EV_PERSIST, on_readable, w));
	event_add(w->readable, NULL);
}

static void start_timers(struct watch *w)
{
	w->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (w->timer_fd < 0) {
		log_error("cannot make a timer", "error", "%s", strerror(errno), NULL);
		abort();
	}
	w->timer = alloc_checked(
		event_new(w->base, w->timer_fd, EV_READ | EV_PERSIST, on_timer, w));
	event_add(w->timer, NULL);
	w->poll = alloc_checked(evtimer_new(w->base, on_poll, w));
	event_add_in_step_ms(w->poll, WATCH_POLL_MS);
	w->scan = alloc_checked(event_new(w->base, -1, 0, on_scan, w));
	event_active(w->scan, EV_TIMEOUT, 0);
}

struct watch *watch_new(struct event_base *base, const struct project *project,
	const struct watch_calls *calls, const struct watch_options *options)
{
	struct watch *w = xcalloc(1, sizeof(*w));

	w->base = base;
	w->project = project;
	w->calls = *calls;
	w->max_watches = options->max_watches;
	w->hidden = options->hidden ? xstrdup(options->hidden) : NULL;
	w->git_wd = -1;
	w->coalesce.emit = on_update;
	w->coalesce.arg = w;
	tree_init(&w->tree, project->spelled[1] ? paths_base(project->roots.spelled)
						: project->roots.spelled);
	w->tree.on_gone = watch_on_gone;
	w->tree.arg = w;
	watch_queue(w, w->tree.root, false, false);
	start_inotify(w);
	start_timers(w);
	return w;
}

static void free_event(struct event **event)
{
	if (*event)
		event_free(*event);
	*event = NULL;
}

void watch_stop(struct watch *w)
{
	free_event(&w->readable);
	free_event(&w->scan);
	free_event(&w->poll);
	free_event(&w->timer);
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	watch_stop(w);
	close(w->timer_fd);
	watch_drop_moves(w);
	coalesce_fini(&w->coalesce);
	tree_fini(&w->tree);
	if (w->inotify_fd >= 0)
		close(w->inotify_fd);
	pathmap_fini(&w->by_wd);
	listing_fini(&w->listing);
	free(w->hidden);
	buf_free(&w->path);
	buf_free(&w->new_path);
	free(w);
}

const struct tree *watch_tree(const struct watch *w)
{
	return &w->tree;
}

bool watch_ready(const struct watch *w)
{
	return w->ready;
}

void watch_get_stats(const struct watch *w, struct watch_stats *out)
{
	*out = w->stats;
}
