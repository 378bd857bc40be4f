/* Tests of workers/fswatch/watch.h with real directories, and with git where it is. */
#include "common/log.h"
#include "tests/unit/scratch.h"
#include "workers/fswatch/names.h"
#include "workers/fswatch/watch.h"
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

static void on_update(void *arg, const struct coalesce_update *u)
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

static void on_ready(void *arg)
{
	(void)arg;
}

static void on_limited(void *arg, const char *reason)
{
	(void)arg;
	snprintf(limited, sizeof(limited), "%s", reason ? reason : "");
}

static void on_replaced(void *arg)
{
	(void)arg;
	replaced++;
}

static void run_ms(int ms)
{
	struct mono end = mono_add_ms(clock_mono(), ms);

	for (int64_t left; (left = end.us - clock_mono().us) > 0;) {
		struct timeval tv = {.tv_usec = left < 5000 ? left : 5000};

		event_base_loopexit(base, &tv);
		event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
	}
}

static void start_limited(size_t max_watches)
{
	const struct watch_calls calls = {
		on_update, on_ready, on_limited, on_replaced, NULL};

	ck_assert_int_eq(project_open(&project, dir, NULL), 0);
	watch = watch_new(base, &project, &calls, max_watches);
	for (int i = 0; !watch_ready(watch); i++) {
		ck_assert_int_lt(i, 1000);
		run_ms(2);
	}
	run_ms(5);
	ck_assert_int_eq(update_count, 0);
}

static void start(void)
{
	start_limited(0);
}

static void setup(void)
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

static void teardown(void)
{
	watch_free(watch);
	project_close(&project);
	event_base_free(base);
	scratch_remove(top);
}

/* Waits for the next update and compares. */
static void expect(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void expect(const char *format, ...)
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
static void expect_silence(void)
{
	run_ms(250);
	ck_assert_msg(update_count == taken, "\"%s\" came", updates[taken]);
}

static void move(const char *from, const char *to)
{
	ck_assert_msg(rename(scratch_path(dir, from), scratch_path(dir, to)) == 0,
		"%s: %s", from, strerror(errno));
}

static void del(const char *name)
{
	ck_assert_msg(
		remove(scratch_path(dir, name)) == 0, "%s: %s", name, strerror(errno));
}

/* The tree as indented text, directories with a slash. */
static void add_tree(struct buf *out, const struct tree_dir *at)
{
	for (unsigned i = 0; i < at->dir_count; i++) {
		buf_printf(out, "%s/(", at->dirs[i]->name);
		add_tree(out, at->dirs[i]);
		buf_add_str(out, STR_LIT(") "));
	}
	for (unsigned i = 0; i < at->file_count; i++)
		buf_printf(out, "%s ", at->files[i]);
}

static void expect_tree(const char *want)
{
	struct buf have = {.data = NULL};

	add_tree(&have, watch_tree(watch)->root);
	buf_add_char(&have, '\0');
	ck_assert_str_eq(have.data, want);
	buf_free(&have);
}

START_TEST(first_scan)
{
	scratch_mkdir(dir, "src/node_modules");
	scratch_write(dir, "src/node_modules/x.js", "x");
	scratch_mkdir(dir, "dist");
	scratch_mkdir(dir, ".git");
	scratch_write(dir, "build", "a file of that name");
	scratch_link(dir, ".", "loop");
	scratch_link(dir, "/", "root");
	scratch_mkdir(dir, "d");
	scratch_link(dir, "../d", "d/up");
	start();
	expect_tree("d/(up ) src/(a.ts ) b.ts build loop root ");
	expect_silence();
}
END_TEST

START_TEST(files)
{
	start();
	scratch_write(dir, "src/new.ts", "1");
	expect("add src/new.ts");
	run_ms(100);
	scratch_write(dir, "src/new.ts", "2");
	expect("change src/new.ts");
	del("src/new.ts");
	expect("unlink src/new.ts");
	move("src/a.ts", "src/c.ts");
	expect("rename src/a.ts src/c.ts");
	move("src/c.ts", "c.ts");
	expect("rename src/c.ts c.ts");
	move("c.ts", "b.ts");
	expect("change b.ts");
	expect("unlink c.ts");
	scratch_link(dir, "b.ts", "link.ts");
	expect("add link.ts");
	expect_silence();
	expect_tree("src/() b.ts link.ts ");
}
END_TEST

START_TEST(saves_through_other_files)
{
	start();
	for (int i = 0; i < 3; i++) {
		scratch_write(dir, ".a.ts.tmp", "new");
		run_ms(2);
		move(".a.ts.tmp", "src/a.ts");
		expect("change src/a.ts");
		run_ms(100);
	}
	scratch_write(dir, "src/a.ts", "plain");
	expect("change src/a.ts");
	/* As vim does it. */
	run_ms(100);
	scratch_write(dir, "src/4913", "");
	del("src/4913");
	move("src/a.ts", "src/a.ts~");
	scratch_write(dir, "src/a.ts", "vim");
	del("src/a.ts~");
	expect("change src/a.ts");
	/* Our own temporary files do not exist. */
	char temp[NAMES_TEMP_SIZE], name[NAMES_TEMP_SIZE + 8];

	run_ms(100);
	names_temp(getpid(), 1, temp);
	snprintf(name, sizeof(name), "src/%s", temp);
	scratch_write(dir, name, "saved");
	run_ms(20);
	move(name, "src/a.ts");
	expect("change src/a.ts");
	scratch_write(dir, name, "saved");
	move(name, "src/fresh.ts");
	expect("add src/fresh.ts");
	expect_silence();
}
END_TEST

START_TEST(five_hundred_atomic_saves)
{
	start();
	for (int i = 0; i < 500; i++) {
		char temp[64];

		snprintf(temp, sizeof(temp), "src/a.ts.tmp%d", i);
		scratch_write(dir, temp, "new");
		move(temp, "src/a.ts");
		run_ms(1);
	}
	run_ms(300);
	ck_assert_int_gt(update_count, 5);
	for (int i = 0; i < update_count; i++)
		ck_assert_str_eq(updates[i], "change src/a.ts");
}
END_TEST

START_TEST(directories_move)
{
	start();
	move("src", "lib");
	expect("rename src lib");
	scratch_write(dir, "lib/x", "x");
	expect("add lib/x");
	scratch_mkdir(dir, "lib/deep");
	expect("addDir lib/deep");
	move("lib/deep", "deep");
	expect("rename lib/deep deep");
	scratch_write(dir, "deep/y", "y");
	expect("add deep/y");
	move("lib", "deep/lib");
	expect("rename lib deep/lib");
	scratch_write(dir, "deep/lib/z", "z");
	expect("add deep/lib/z");
	move("deep", "again");
	expect("rename deep again");
	scratch_write(dir, "again/lib/z2", "z");
	expect("add again/lib/z2");
	expect_silence();
	expect_tree("again/(lib/(a.ts x z z2 ) y ) b.ts ");
}
END_TEST

START_TEST(over_the_border)
{
	struct watch_stats before, after;

	start();
	watch_get_stats(watch, &before);
	ck_assert_int_eq(rename(scratch_path(dir, "src"), scratch_path(top, "src")), 0);
	expect("unlinkDir src");
	watch_get_stats(watch, &after);
	ck_assert_uint_eq(after.watches, before.watches - 1);
	scratch_write(top, "src/outside.ts", "x");
	expect_silence();
	scratch_mkdir(top, "src/sub");
	scratch_write(top, "src/sub/s.ts", "x");
	ck_assert_int_eq(rename(scratch_path(top, "src"), scratch_path(dir, "back")), 0);
	expect("addDir back");
	expect("addDir back/sub");
	expect("add back/a.ts");
	expect("add back/outside.ts");
	expect("add back/sub/s.ts");
	scratch_write(dir, "back/sub/t.ts", "x");
	expect("add back/sub/t.ts");
	ck_assert_int_eq(rename(scratch_path(dir, "b.ts"), scratch_path(top, "b.ts")), 0);
	expect("unlink b.ts");
	ck_assert_int_eq(
		rename(scratch_path(top, "b.ts"), scratch_path(dir, "b2.ts")), 0);
	expect("add b2.ts");
	/* Into a noise directory and out of it is the same. */
	scratch_mkdir(dir, "dist");
	move("back", "dist/back");
	expect("unlinkDir back");
	move("dist", "out");
	expect("addDir out");
	expect("addDir out/back");
	run_ms(300);
	expect_tree("out/(back/(sub/(s.ts t.ts ) a.ts outside.ts ) ) b2.ts ");
}
END_TEST

START_TEST(removals)
{
	start();
	scratch_mkdir(dir, "src/deep");
	scratch_write(dir, "src/deep/x", "x");
	expect("addDir src/deep");
	expect("add src/deep/x");
	run_ms(100);
	del("src/deep/x");
	del("src/deep");
	del("src/a.ts");
	del("src");
	expect("unlink src/deep/x");
	expect("unlinkDir src/deep");
	expect("unlink src/a.ts");
	expect("unlinkDir src");
	expect_silence();
	expect_tree("b.ts ");
}
END_TEST

/* Directories made faster than watches can be added (R05). */
START_TEST(races_of_mkdir)
{
	start();
	for (int i = 0; i < 100; i++) {
		char a[32], b[32], c[32], f[40];

		snprintf(a, sizeof(a), "m%d", i);
		snprintf(b, sizeof(b), "m%d/b", i);
		snprintf(c, sizeof(c), "m%d/b/c", i);
		snprintf(f, sizeof(f), "m%d/b/c/f.txt", i);
		if (i % 2) { /* with the watcher somewhere in between */
			pid_t pid = fork();

			if (pid == 0) {
				scratch_mkdir(dir, a);
				scratch_mkdir(dir, b);
				scratch_mkdir(dir, c);
				scratch_write(dir, f, "x");
				_exit(0);
			}
			ck_assert_int_gt(pid, 0);
			run_ms(3);
			waitpid(pid, NULL, 0);
		} else {
			scratch_mkdir(dir, a);
			scratch_mkdir(dir, b);
			scratch_mkdir(dir, c);
			scratch_write(dir, f, "x");
		}
		expect("addDir %s", a);
		expect("addDir %s", b);
		expect("addDir %s", c);
		expect("add %s", f);
	}
	expect_silence();
}
END_TEST

START_TEST(exchanged_names)
{
	start();
	scratch_mkdir(dir, "lib");
	scratch_write(dir, "lib/l.ts", "l");
	expect("addDir lib");
	expect("add lib/l.ts");
	run_ms(200);
	renameat2(AT_FDCWD, scratch_path(dir, "b.ts"), AT_FDCWD,
		scratch_path(dir, "src/a.ts"), RENAME_EXCHANGE);
	run_ms(300);
	expect_tree("lib/(l.ts ) src/(a.ts ) b.ts ");
	for (; taken < update_count; taken++)
		ck_assert_msg(
			strncmp(updates[taken], "change ", 7) == 0, "%s", updates[taken]);
	renameat2(AT_FDCWD, scratch_path(dir, "lib"), AT_FDCWD, scratch_path(dir, "src"),
		RENAME_EXCHANGE);
	run_ms(300);
	expect_tree("lib/(a.ts ) src/(l.ts ) b.ts ");
	taken = update_count;
	scratch_write(dir, "lib/new.ts", "x");
	expect("add lib/new.ts");
	scratch_write(dir, "src/new.ts", "x");
	expect("add src/new.ts");
}
END_TEST

START_TEST(names_are_bytes)
{
	start();
	scratch_write(dir, "\xc3\xa9.ts", "1");
	expect("add \xc3\xa9.ts");
	scratch_write(dir, "e\xcc\x81.ts", "2");
	expect("add e\xcc\x81.ts");
	scratch_write(dir, "bad\xff.ts", "3");
	expect("add bad\xff.ts");
	del("\xc3\xa9.ts");
	expect("unlink \xc3\xa9.ts");
	expect_tree("src/(a.ts ) b.ts bad\xff.ts e\xcc\x81.ts ");
}
END_TEST

START_TEST(too_few_watches)
{
	scratch_mkdir(dir, "one");
	scratch_mkdir(dir, "one/two");
	scratch_write(dir, "one/two/x", "x");
	start_limited(2);
	ck_assert_ptr_nonnull(strstr(limited, "fs.inotify.max_user_watches"));
	scratch_write(dir, "c.ts", "x");
	expect("add c.ts");
	scratch_write(dir, "one/two/x", "longer");
	expect("change one/two/x");
	scratch_write(dir, "one/two/y", "y");
	expect("add one/two/y");
	del("one/two/x");
	expect("unlink one/two/x");
	scratch_mkdir(dir, "one/three");
	scratch_write(dir, "one/three/z", "z");
	expect("addDir one/three");
	expect("add one/three/z");
	expect_silence();
}
END_TEST

START_TEST(no_inotify_at_all)
{
	/* Take every instance this user may have. */
	for (int i = 0; i < 100000 && inotify_init1(0) >= 0; i++)
		;
	start();
	if (limited[0] == '\0')
		return; /* a descriptor limit was hit first */
	ck_assert_ptr_nonnull(strstr(limited, "fs.inotify.max_user_instances"));
	scratch_write(dir, "src/new.ts", "x");
	expect("add src/new.ts");
}
END_TEST

START_TEST(lost_events)
{
	start();
	for (int i = 0; i < 20000; i++) { /* more than max_queued_events */
		char name[32];

		snprintf(name, sizeof(name), "src/f%d", i);
		scratch_write(dir, name, "");
	}
	run_ms(1500);

	struct watch_stats stats;

	watch_get_stats(watch, &stats);
	ck_assert_uint_eq(watch_tree(watch)->file_count, 20002);
	ck_assert_str_eq(updates[update_count - 1], "tree");
	ck_assert_int_le(update_count, COALESCE_BURST + 20);
	ck_assert_msg(stats.overflows > 0 || stats.events > 40000, "%llu events",
		(unsigned long long)stats.events);
}
END_TEST

START_TEST(root_moved_away_and_back)
{
	char away[4096];

	start();
	snprintf(away, sizeof(away), "%s", scratch_path(top, "away"));
	ck_assert_int_eq(rename(dir, away), 0);
	run_ms(1200);
	ck_assert_str_eq(limited, "The project directory is gone");
	ck_assert_int_eq(replaced, 0);
	scratch_write(away, "meanwhile.ts", "x");
	ck_assert_int_eq(rename(away, dir), 0);
	run_ms(1500);
	ck_assert_str_eq(limited, "");
	expect_tree("src/(a.ts ) b.ts meanwhile.ts ");
	ck_assert_str_eq(updates[update_count - 1], "tree");
	taken = update_count;
	scratch_write(dir, "back.ts", "x");
	expect("add back.ts");
}
END_TEST

START_TEST(root_replaced)
{
	start();
	scratch_remove(dir);
	run_ms(1200);
	ck_assert_str_eq(limited, "The project directory is gone");
	expect_tree("");
	scratch_mkdir(top, "proj");
	run_ms(1200);
	ck_assert_int_ge(replaced, 1);
}
END_TEST

static bool git(const char *command)
{
	char line[1024];

	snprintf(line, sizeof(line),
		"cd '%s' && HOME='%s' GIT_CONFIG_NOSYSTEM=1 git -c user.name=t -c "
		"user.email=t@t "
		"-c init.defaultBranch=main -c gc.auto=0 -c advice.detachedHead=false %s "
		">/dev/null 2>&1",
		dir, top, command);
	return system(line) == 0;
}

START_TEST(git_status_is_silent)
{
	if (!git("init") || !git("add .") || !git("commit -m one"))
		return;
	start();
	for (int i = 0; i < 20; i++)
		ck_assert(git("status"));
	expect_silence();
	ck_assert(git("commit --allow-empty -m two"));
	expect_silence();
	scratch_write(dir, "b.ts", "edited");
	expect("change b.ts");
}
END_TEST

START_TEST(git_checkout_is_one_tree)
{
	char name[32];

	if (!git("init") || !git("add .") || !git("commit -m one"))
		return;
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "src/f%d.ts", i);
		scratch_write(dir, name, name);
	}
	ck_assert(git("add .") && git("commit -m two"));
	start();
	ck_assert(git("checkout HEAD~1"));
	run_ms(400);
	expect("tree");
	expect_tree("src/(a.ts ) b.ts ");
	ck_assert(git("checkout main"));
	run_ms(400);
	expect("tree");
	ck_assert_uint_eq(watch_tree(watch)->file_count, 2002);
	expect_silence();
}
END_TEST

START_TEST(leftovers_of_a_crash)
{
	char temp[NAMES_TEMP_SIZE];
	pid_t dead = fork();

	if (dead == 0)
		_exit(0);
	waitpid(dead, NULL, 0);
	names_temp(dead, 7, temp);
	scratch_write(dir, temp, "half");
	start();
	ck_assert(!scratch_exists(dir, temp));
	/* Those of a process that lives stay. */
	names_temp(getppid(), 7, temp);
	scratch_write(dir, temp, "half");
	scratch_mkdir(dir, "x");
	run_ms(50);
	ck_assert(scratch_exists(dir, temp));
	expect("addDir x");
	expect_silence();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("watch");
	TCase *tc = tcase_create("watch");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, first_scan);
	tcase_add_test(tc, files);
	tcase_add_test(tc, saves_through_other_files);
	tcase_add_test(tc, five_hundred_atomic_saves);
	tcase_add_test(tc, directories_move);
	tcase_add_test(tc, over_the_border);
	tcase_add_test(tc, removals);
	tcase_add_test(tc, races_of_mkdir);
	tcase_add_test(tc, exchanged_names);
	tcase_add_test(tc, names_are_bytes);
	tcase_add_test(tc, too_few_watches);
	tcase_add_test(tc, no_inotify_at_all);
	tcase_add_test(tc, lost_events);
	tcase_add_test(tc, root_moved_away_and_back);
	tcase_add_test(tc, root_replaced);
	tcase_add_test(tc, git_status_is_silent);
	tcase_add_test(tc, git_checkout_is_one_tree);
	tcase_add_test(tc, leftovers_of_a_crash);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
