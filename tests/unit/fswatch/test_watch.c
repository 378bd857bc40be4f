/* Tests of workers/fswatch/watch/watch.h: what happens to files and directories. */
#include "tests/beside.h"
#include "tests/unit/fswatch/watch_harness.h"

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

static void on_other(evutil_socket_t fd, short what, void *arg)
{
	int *turns = arg;

	(void)fd;
	(void)what;
	if (watch && !watch_ready(watch))
		(*turns)++;
}

/* A scan is slices between which the loop looks at everything else. */
START_TEST(others_have_their_turn_during_a_scan)
{
	int ends[2], turns = 0;
	struct event *other;

	for (int i = 0; i < 4000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "src/d%d", i);
		scratch_mkdir(dir, name);
	}
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	other = event_new(base, ends[0], EV_READ | EV_PERSIST, on_other, &turns);
	event_add(other, NULL);
	start();
	/* Each look is five milliseconds of the scan later; 4,000 directories take more. */
	ck_assert_int_ge(turns, 3);
	event_free(other);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(the_hidden_directory)
{
	scratch_mkdir(dir, "own");
	scratch_write(dir, "own/x", "x");
	scratch_mkdir(dir, "src/own");
	start();
	expect_tree("src/(own/() a.ts ) b.ts ");
	scratch_write(dir, "own/y", "y");
	move("own", "theirs");
	expect("addDir theirs");
	expect("add theirs/x");
	expect("add theirs/y");
	move("theirs", "own");
	expect("unlink theirs/x");
	expect("unlink theirs/y");
	expect("unlinkDir theirs");
	scratch_mkdir(dir, "own/z");
	expect_silence();
	expect_tree("src/(own/() a.ts ) b.ts ");
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
	expect("unlink src/a.ts");
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
	expect("unlink back/sub/s.ts");
	expect("unlink back/sub/t.ts");
	expect("unlinkDir back/sub");
	expect("unlink back/a.ts");
	expect("unlink back/outside.ts");
	expect("unlinkDir back");
	move("dist", "out");
	expect("addDir out");
	expect("addDir out/back");
	run_ms(300);
	expect_tree("out/(back/(sub/(s.ts t.ts ) a.ts outside.ts ) ) b2.ts ");
}
END_TEST

/* More than can be told one by one are told as a tree, with bounded work. */
START_TEST(a_large_directory_leaves)
{
	scratch_mkdir(dir, "src/big");
	for (int i = 0; i < 6000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "src/big/f%d", i);
		scratch_write(dir, name, "");
	}
	start();
	ck_assert_int_eq(rename(scratch_path(dir, "src"), scratch_path(top, "src")), 0);
	expect("tree");
	expect_silence();
	expect_tree("b.ts ");
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
	for (int i = 0; i < 40; i++) {
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
	const TTest *const cases[] = {
		first_scan,
		others_have_their_turn_during_a_scan,
		the_hidden_directory,
		files,
		saves_through_other_files,
		five_hundred_atomic_saves,
		directories_move,
		over_the_border,
		a_large_directory_leaves,
		removals,
		races_of_mkdir,
		exchanged_names,
		names_are_bytes,
		leftovers_of_a_crash,
	};
	const struct beside how = {setup, teardown, 60};

	return beside_run(&how, cases, sizeof(cases) / sizeof(cases[0]));
}
