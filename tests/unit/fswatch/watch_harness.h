/*
 * watch_harness.h - a watched project in a scratch directory, for the tests of
 * workers/fswatch/watch/watch.h: what is told is kept as text, and waited for.
 */
#pragma once

#include "common/base/log.h"
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include "workers/fswatch/disk/names.h"
#include "workers/fswatch/watch/watch.h"
#include <stdarg.h>
#include <sys/inotify.h>
#include <sys/wait.h>

#define MAX_UPDATES 4096

static char top[SCRATCH_SIZE];
static char dir[SCRATCH_SIZE + 8];
static struct event_base *base;
static struct project project;
static struct watch *watch;
static char updates[MAX_UPDATES][256];
static int update_count, taken;
static char limited[256];
static int replaced;

static inline void on_update(void *arg, const struct coalesce_update *u)
{
	char *out = updates[update_count++];

	(void)arg;
	ck_assert_int_lt(update_count, MAX_UPDATES);
	if (u->fresh_tree)
		snprintf(out, sizeof(updates[0]), "tree");
	else
		snprintf(out, sizeof(updates[0]), "%s %.*s%s%.*s",
			tree_action_enumeration()->names[u->action], STR_ARG(u->path),
			u->new_path.ptr ? " " : "", STR_ARG(u->new_path));
}

static inline void on_ready(void *arg)
{
	(void)arg;
}

static inline void on_limited(void *arg, const char *reason)
{
	(void)arg;
	snprintf(limited, sizeof(limited), "%s", reason ? reason : "");
}

static inline void on_replaced(void *arg)
{
	(void)arg;
	replaced++;
}

static inline void run_ms(int ms)
{
	struct mono end = mono_add_ms(clock_mono(), ms);

	for (int64_t left; (left = end.us - clock_mono().us) > 0;) {
		struct timeval tv = {.tv_usec = left < 5000 ? left : 5000};

		event_base_loopexit(base, &tv);
		event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
	}
}

static inline void start_limited(size_t max_watches)
{
	const struct watch_calls calls = {
		on_update, on_ready, on_limited, on_replaced, NULL};

	ck_assert_int_eq(project_open(&project, dir, NULL), 0);
	watch = watch_new(base, &project, &calls,
		&(struct watch_options){.hidden = "own", .max_watches = max_watches});
	for (int i = 0; !watch_ready(watch); i++) {
		ck_assert_int_lt(i, 1000);
		run_ms(2);
	}
	run_ms(5);
	ck_assert_int_eq(update_count, 0);
}

static inline void start(void)
{
	start_limited(0);
}

static inline void setup(void)
{
	log_init("test", LOG_LEVEL_ERROR);
	scratch_make(top);
	scratch_mkdir(top, "proj");
	snprintf(dir, sizeof(dir), "%s/proj", top);
	base = event_base_new();
	scratch_mkdir(dir, "src");
	scratch_write(dir, "src/a.ts", "a");
	scratch_write(dir, "b.ts", "b");
}

static inline void teardown(void)
{
	watch_free(watch);
	project_close(&project);
	event_base_free(base);
	scratch_remove(top);
}

/* Waits for the next update and compares. */
static void expect(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void expect(const char *format, ...)
{
	char want[256];
	va_list args;

	va_start(args, format);
	vsnprintf(want, sizeof(want), format, args);
	va_end(args);
	for (int i = 0; i < 1000 && update_count == taken; i++)
		run_ms(2);
	ck_assert_msg(update_count > taken, "\"%s\" did not come", want);
	ck_assert_str_eq(updates[taken], want);
	taken++;
}

/* Nothing more comes for a while. */
static inline void expect_silence(void)
{
	run_ms(250);
	ck_assert_msg(update_count == taken, "\"%s\" came", updates[taken]);
}

static inline void move(const char *from, const char *to)
{
	ck_assert_msg(rename(scratch_path(dir, from), scratch_path(dir, to)) == 0,
		"%s: %s", from, strerror(errno));
}

static inline void del(const char *name)
{
	ck_assert_msg(
		remove(scratch_path(dir, name)) == 0, "%s: %s", name, strerror(errno));
}

/* The tree as indented text, directories with a slash. */
static inline void add_tree(struct buf *out, const struct tree_dir *at)
{
	for (unsigned i = 0; i < at->dir_count; i++) {
		buf_printf(out, "%s/(", at->dirs[i]->name);
		add_tree(out, at->dirs[i]);
		buf_add_str(out, STR_LIT(") "));
	}
	for (unsigned i = 0; i < at->file_count; i++)
		buf_printf(out, "%s ", at->files[i]);
}

static inline void expect_tree(const char *want)
{
	struct buf have = {.data = NULL};

	add_tree(&have, watch_tree(watch)->root);
	buf_add_char(&have, '\0');
	ck_assert_str_eq(have.data, want);
	buf_free(&have);
}

static inline int run_watch_case(TCase *tc)
{
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	return check_run(tc);
}
