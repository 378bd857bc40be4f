/* serve_tree.c - the tree for windows, and what the watcher sees. */
#include "common/log.h"
#include "proto/errors.h"
#include "proto/messages.h"
#include "workers/fswatch/fswatch.h"

#define TOO_BIG "The tree cannot be shown: the project has %zu files"

static void answer_tree(struct fswatch *fs, struct bus_request *request)
{
	struct buf json = {.data = NULL};

	tree_json(watch_tree(fs->watch), &json);
	if (json.len > BUS_BODY_MAX) {
		bus_answer_error(request, error_code_infos[ERROR_TOO_BIG].name,
			(struct str){NULL, 0}, TOO_BIG,
			watch_tree(fs->watch)->file_count);
		buf_free(&json);
		return;
	}
	turn_answer(fs, request, &json);
}

static void serve_tree(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;

	(void)message;
	if (watch_ready(fs->watch)) {
		answer_tree(fs, request);
	} else if (fs->tree_waiter_count < FSWATCH_MAX_TREE_WAITERS) {
		fs->tree_waiters[fs->tree_waiter_count++] = request;
	} else {
		bus_answer_error(request, error_code_infos[ERROR_BUSY].name,
			(struct str){NULL, 0},
			"The project is still being scanned; try again in a moment");
	}
}

/* What the windows show is out of date from now on. */
static void publish_too_big(struct fswatch *fs)
{
	struct arena arena = {0};
	struct connection_error error = {
		.code = str_of(error_code_infos[ERROR_TOO_BIG].name),
		.message =
			arena_printf(&arena, TOO_BIG, watch_tree(fs->watch)->file_count),
	};
	struct buf json = {.data = NULL};

	proto_encode(connection_error_type(), &error, &json);
	bus_publish(fs->bus, "ui/connection:error", buf_str(&json));
	buf_free(&json);
	arena_free(&arena);
}

void fswatch_publish_tree(struct fswatch *fs)
{
	struct buf json = {.data = NULL};

	if (!watch_ready(fs->watch))
		return; /* who connects meanwhile asks for it */
	tree_json(watch_tree(fs->watch), &json);
	if (json.len > BUS_BODY_MAX)
		publish_too_big(fs);
	else
		bus_publish(fs->bus, "ui/fs:tree", buf_str(&json));
	turn_tidy(fs);
	buf_free(&json);
}

static void on_update(void *arg, const struct coalesce_update *update)
{
	struct fswatch *fs = arg;
	struct buf json = {.data = NULL};

	if (update->fresh_tree) {
		fswatch_publish_tree(fs);
		return;
	}
	proto_encode(fs_tree_update_type(),
		&(struct fs_tree_update){
			.action = (int)update->action,
			.has_action = true,
			.path = update->path,
			.new_path = update->new_path,
		},
		&json);
	bus_publish(fs->bus, "ui/fs:tree_update", buf_str(&json));
	buf_free(&json);
}

static void on_ready(void *arg)
{
	struct fswatch *fs = arg;
	const struct tree *tree = watch_tree(fs->watch);

	log_info("project scanned", "directories", "%zu", tree->dir_count, "files", "%zu",
		tree->file_count, NULL);
	for (size_t i = 0; i < fs->tree_waiter_count; i++)
		answer_tree(fs, fs->tree_waiters[i]);
	fs->tree_waiter_count = 0;
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

	log_warn("another directory lies where the project was, starting anew", "dir",
		"%s", fs->project.canonical, NULL);
	turn_end(fs);
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
	bus_serve(fs->bus, METHOD_FS_TREE, serve_tree, fs);
}
