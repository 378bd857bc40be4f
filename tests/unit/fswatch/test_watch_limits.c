/* Tests of workers/fswatch/watch/watch.h where something is missing: watches, events, the
 * project itself; and beside git. */
#include "tests/unit/fswatch/watch_harness.h"

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

int main(void)
{
	TCase *tc = tcase_create("watch_limits");

	tcase_add_test(tc, too_few_watches);
	tcase_add_test(tc, no_inotify_at_all);
	tcase_add_test(tc, lost_events);
	tcase_add_test(tc, root_moved_away_and_back);
	tcase_add_test(tc, root_replaced);
	tcase_add_test(tc, git_status_is_silent);
	tcase_add_test(tc, git_checkout_is_one_tree);
	return run_watch_case(tc);
}
