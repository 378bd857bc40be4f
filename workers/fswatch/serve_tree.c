/* serve_tree.c - the tree for windows, and what the watcher sees. */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "proto/tables/errors.h"
#include "workers/fswatch/fswatch.h"
#include <stdlib.h>

/* Written in one turn of the loop: some milliseconds. Handing it out is a turn of its own. */
#define TREE_SLICE_ENTRIES 10000

/* The tree is written. It is an event, so that it is in order with the changes. */
static void hand_out(struct fswatch *fs, struct buf *json)
{
	size_t count = fs->tree_waiter_count;
	bool too_big = json->len > BUS_BODY_MAX;

	if (!too_big)
		bus_publish(fs->bus, "tree/whole", buf_str(json));
	fs->tree_waiter_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (too_big)
			bus_answer_error(fs->tree_waiters[i],
				error_code_infos[ERROR_TOO_BIG].name,
				(struct str){NULL, 0},
				"The tree cannot be shown: the project has %zu files",
				watch_tree(fs->watch)->file_count);
		else
			bus_answer(fs->tree_waiters[i], STR_LIT("{}"));
	}
	commit_tidy(fs);
}

static void on_write(EVENT_UNUSED, void *arg)
{
	struct fswatch *fs = arg;

	if (!watch_ready(fs->watch)) { /* it is being scanned anew; see on_ready */
		fs->tree_writing = false;
		tree_write_fini(&fs->tree_writer);
	} else if (tree_written(&fs->tree_writer) ||
		   (tree_write(&fs->tree_writer, TREE_SLICE_ENTRIES) &&
			   fs->tree_writer.tries > TREE_WRITE_TRIES)) {
		fs->tree_writing = false;
		hand_out(fs, &fs->tree_writer.out);
		tree_write_fini(&fs->tree_writer);
	} else {
		event_add_ms(fs->tree_timer, 0);
	}
}

/* Whoever wants the tree while it is being written gets that one: it is as new as the
 * last change when it is handed out. */
static void write_tree(struct fswatch *fs)
{
	if (fs->tree_writing)
		return;
	fs->tree_writing = true;
	tree_write_start(&fs->tree_writer, watch_tree(fs->watch));
	event_active(fs->tree_timer, EV_TIMEOUT, 0);
}

static void serve_tree(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;

	(void)message;
	if (fs->tree_waiter_count == FSWATCH_MAX_TREE_WAITERS) {
		bus_answer_error(request, error_code_infos[ERROR_BUSY].name,
			(struct str){NULL, 0},
			"The project is still being scanned; try again in a moment");
		return;
	}
	fs->tree_waiters[fs->tree_waiter_count++] = request;
	if (watch_ready(fs->watch))
		write_tree(fs);
}

static void serve_list(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	const struct fs_list *in = message;
	const struct tree_dir *dir;
	struct buf json = {.data = NULL};
	char key[PATH_KEY_SIZE];

	if (!fswatch_key(fs, request, in->path, key))
		return;
	if (!watch_ready(fs->watch)) {
		fswatch_wait_in(&fs->unscanned, request, message, serve_list);
		return;
	}
	dir = tree_dir_at(watch_tree(fs->watch), str_of(key));
	if (!dir) {
		bus_answer_error(request, error_code_infos[ERROR_NOT_FOUND].name,
			fswatch_path_context(request, str_of(key)),
			"There is no directory \"%s\" in the project", key);
		return;
	}
	tree_write_list(dir, &json);
	if (json.len > BUS_BODY_MAX) {
		buf_free(&json);
		bus_answer_error(request, error_code_infos[ERROR_TOO_BIG].name,
			fswatch_path_context(request, str_of(key)),
			"The directory \"%s\" cannot be shown: it has %u files", key,
			dir->file_count);
		return;
	}
	commit_answer(fs, request, &json);
}

void fswatch_publish_stale(struct fswatch *fs)
{
	if (!watch_ready(fs->watch))
		return; /* who connects meanwhile asks for the tree */
	bus_publish(fs->bus, "tree/stale", STR_LIT("{}"));
}

static void on_update(void *arg, const struct coalesce_update *update)
{
	struct fswatch *fs = arg;
	AUTO_BUF json = {.data = NULL};

	if (update->fresh_tree) {
		fswatch_publish_stale(fs);
		return;
	}
	if (update->action == TREE_UNLINK || update->action == TREE_UNLINK_DIR ||
		update->action == TREE_RENAME)
		diagnostics_forget(&fs->diagnostics, update->path);
	proto_encode(fs_tree_update_type(),
		&(struct fs_tree_update){
			.action = (int)update->action,
			.has_action = true,
			.path = update->path,
			.new_path = update->new_path,
		},
		&json);
	bus_publish(fs->bus, "ui/fs:tree_update", buf_str(&json));
}

static void on_ready(void *arg)
{
	struct fswatch *fs = arg;
	const struct tree *tree = watch_tree(fs->watch);

	log_info("project scanned", "directories", "%zu", tree->dir_count, "files", "%zu",
		tree->file_count, NULL);
	if (fs->tree_waiter_count > 0)
		write_tree(fs);
	while (fs->unscanned.first && watch_ready(fs->watch))
		fswatch_serve_first(fs, &fs->unscanned);
}

static void on_limited(void *arg, const char *reason)
{
	struct fswatch *fs = arg;

	if (reason && reason != fs->watch_problem)
		log_warn("the project cannot be watched as it should", "reason", "%s",
			reason, NULL);
	fs->watch_problem = reason;
	fswatch_report(fs);
}

/* This process may only touch the directory that was there before. */
static void on_replaced(void *arg)
{
	struct fswatch *fs = arg;

	log_warn("another directory has replaced the project, restarting", "dir", "%s",
		fs->project.canonical, NULL);
	commit_finish(fs);
	worker_die(fs->worker, WORKER_EXIT_DEPENDENCY);
}

void serve_tree_init(struct fswatch *fs)
{
	const struct watch_calls calls = {
		on_update, on_ready, on_limited, on_replaced, fs};

	char data_key[PATH_KEY_SIZE];
	bool inside =
		paths_key(&fs->project.roots, str_of(fs->worker->settings->data_dir),
			data_key) == PATH_OK;

	fs->watch = watch_new(fs->worker->base, &fs->project, &calls,
		&(struct watch_options){.hidden = inside ? data_key : NULL});
	fs->tree_timer = alloc_checked(evtimer_new(fs->worker->base, on_write, fs));
	bus_serve(fs->bus, METHOD_FS_TREE, serve_tree, fs);
	bus_serve(fs->bus, METHOD_FS_LIST, serve_list, fs);
}
