/* Tests of workers/fswatch/disk/project.h: what opens beneath the root, and what never does.
 */
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include "workers/fswatch/disk/project.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static char top[SCRATCH_SIZE]; /* holds the project, its neighbours and secrets */
static struct project project;

static void make_project(void)
{
	scratch_make(top);
	scratch_mkdir(top, "proj");
	scratch_mkdir(top, "proj/src");
	scratch_mkdir(top, "proj-evil");
	scratch_mkdir(top, "secret");
	scratch_write(top, "secret/key.txt", "SECRET");
	scratch_write(top, "proj-evil/x", "SECRET");
	scratch_write(top, "proj/src/auth.ts", "auth");
	scratch_link(top, "proj", "link");
	ck_assert_int_eq(project_open(&project, scratch_path(top, "proj"), NULL), 0);
}

static void drop_project(void)
{
	project_close(&project);
	scratch_remove(top);
}

static bool reads(const char *key, const char *text)
{
	char have[64] = "";
	int fd = project_openat(&project, key, O_RDONLY);

	if (fd < 0)
		return false;

	ssize_t n = read(fd, have, sizeof(have) - 1);

	close(fd);
	return n >= 0 && strcmp(have, text) == 0;
}

static void refuses(const char *key, int error)
{
	int fd = project_openat(&project, key, O_RDONLY);

	ck_assert_msg(fd == error, "%s: %d", key, fd);
}

START_TEST(opens_honest_links)
{
	char absolute[SCRATCH_SIZE + 32];

	scratch_link(top, "auth.ts", "proj/src/inside.ts");
	scratch_link(top, "src/auth.ts", "proj/b.ts");
	scratch_link(top, "b.ts", "proj/hop.ts");
	scratch_link(top, "src", "proj/dir");
	scratch_link(top, "../src/auth.ts", "proj/src/up.ts");
	snprintf(absolute, sizeof(absolute), "%s/proj/src", top);
	scratch_link(top, absolute, "proj/absolute");
	snprintf(absolute, sizeof(absolute), "%s/proj/src/auth.ts", top);
	scratch_link(top, absolute, "proj/absolute.ts");
	ck_assert(reads("src/auth.ts", "auth"));
	ck_assert(reads("src/inside.ts", "auth"));
	ck_assert(reads("b.ts", "auth"));
	ck_assert(reads("hop.ts", "auth"));
	ck_assert(reads("dir/auth.ts", "auth"));
	ck_assert(reads("src/up.ts", "auth"));
	ck_assert(reads("absolute/auth.ts", "auth"));
	ck_assert(reads("absolute.ts", "auth"));
}
END_TEST

START_TEST(refuses_to_leave)
{
	char absolute[SCRATCH_SIZE + 32];

	scratch_link(top, "../secret/key.txt", "proj/leak.txt");
	scratch_link(top, "../secret", "proj/leakdir");
	snprintf(absolute, sizeof(absolute), "%s/secret", top);
	scratch_link(top, absolute, "proj/leakabs");
	snprintf(absolute, sizeof(absolute), "%s/proj-evil", top);
	scratch_link(top, absolute, "proj/evil");
	scratch_link(top, "leakdir", "proj/hop");
	scratch_link(top, "/etc/passwd", "proj/passwd");
	scratch_link(top, "/", "proj/slash");
	scratch_link(top, "../secret/none.txt", "proj/dangling.txt");
	scratch_link(top, "/proc/self/fd", "proj/magic");
	scratch_link(top, "loop", "proj/loop");
	refuses("leak.txt", -EXDEV);
	refuses("leakdir/key.txt", -EXDEV);
	refuses("leakabs/key.txt", -EXDEV);
	refuses("evil/x", -EXDEV);
	refuses("hop/key.txt", -EXDEV);
	refuses("passwd", -EXDEV);
	refuses("slash/etc/passwd", -EXDEV);
	refuses("dangling.txt", -EXDEV);
	refuses("magic/0", -EXDEV);
	refuses("loop", -ELOOP);
	refuses("src/none", -ENOENT);
	refuses("src/auth.ts/x", -ENOTDIR);
	ck_assert_int_eq(project_openat_nofollow(&project, "leakdir", O_RDONLY), -ELOOP);
}
END_TEST

/* Where a save goes, as a key; the error's name when it goes nowhere. */
static const char *place_of(const char *key)
{
	static char text[PATH_KEY_SIZE];
	struct project_place place;
	int error = project_place(&project, key, &place);

	if (error)
		return strerrorname_np(-error);
	close(place.dir_fd);
	ck_assert_str_eq(
		strrchr(place.real, '/') ? strrchr(place.real, '/') + 1 : place.real,
		place.base);
	snprintf(text, sizeof(text), "%s", place.real);
	return text;
}

START_TEST(places_follow_links_and_make_directories)
{
	char absolute[SCRATCH_SIZE + 32];

	scratch_link(top, "src/auth.ts", "proj/b.ts");
	scratch_link(top, "b.ts", "proj/hop.ts");
	scratch_link(top, "src/not-yet.ts", "proj/future.ts");
	snprintf(absolute, sizeof(absolute), "%s/link/src/new.ts", top);
	scratch_link(top, absolute, "proj/absolute.ts");
	scratch_link(top, "src", "proj/dir");
	ck_assert_str_eq(place_of("top.ts"), "top.ts");
	ck_assert_str_eq(place_of("src/auth.ts"), "src/auth.ts");
	ck_assert_str_eq(place_of("hop.ts"), "src/auth.ts");
	ck_assert_str_eq(place_of("future.ts"), "src/not-yet.ts");
	ck_assert_str_eq(place_of("dir/x.ts"), "src/x.ts");
	ck_assert_str_eq(place_of("a/b/c/d.ts"), "a/b/c/d.ts");
	ck_assert(scratch_exists(top, "proj/a/b/c"));
	ck_assert_str_eq(place_of("dir/deep/x.ts"), "src/deep/x.ts");
	ck_assert(scratch_exists(top, "proj/src/deep"));
	ck_assert_str_eq(place_of("."), "EISDIR");
	ck_assert_str_eq(place_of("src/auth.ts/x"), "ENOTDIR");
	/* An absolute link by the other spelling of the root. */
	project_close(&project);
	ck_assert_int_eq(project_open(&project, scratch_path(top, "proj"),
				 scratch_path(top, "link")),
		0);
	ck_assert_str_eq(place_of("absolute.ts"), "src/new.ts");
	ck_assert(reads("src/auth.ts", "auth"));
}
END_TEST

START_TEST(places_never_lie_outside)
{
	scratch_link(top, "../secret/key.txt", "proj/leak.txt");
	scratch_link(top, "../secret", "proj/leakdir");
	scratch_link(top, "/etc", "proj/etc");
	scratch_link(top, "../secret/none.txt", "proj/dangling.txt");
	scratch_link(top, "loop", "proj/loop");
	ck_assert_str_eq(place_of("leak.txt"), "EXDEV");
	ck_assert_str_eq(place_of("leakdir/new.txt"), "EXDEV");
	ck_assert_str_eq(place_of("leakdir/sub/new.txt"), "EXDEV");
	ck_assert_str_eq(place_of("etc/x"), "EXDEV");
	ck_assert_str_eq(place_of("dangling.txt"), "EXDEV");
	ck_assert_str_eq(place_of("loop"), "ELOOP");
	ck_assert(!scratch_exists(top, "secret/sub"));
	ck_assert(!scratch_exists(top, "secret/none.txt"));
}
END_TEST

START_TEST(knows_when_the_root_is_gone)
{
	struct project other;

	char from[4096], to[4096];

	snprintf(from, sizeof(from), "%s", scratch_path(top, "proj"));
	snprintf(to, sizeof(to), "%s", scratch_path(top, "elsewhere"));
	ck_assert_int_eq(project_look(&project), PROJECT_HERE);
	ck_assert_int_eq(rename(from, to), 0);
	ck_assert_int_eq(project_look(&project), PROJECT_GONE);
	scratch_link(top, "proj-evil", "proj");
	ck_assert_int_eq(project_look(&project), PROJECT_LINK);
	ck_assert_int_eq(project_open(&other, scratch_path(top, "proj"), NULL), -ELOOP);
	ck_assert_int_eq(
		project_open(&other, scratch_path(top, "proj/src"), NULL), -ELOOP);
	ck_assert_int_eq(unlink(scratch_path(top, "proj")), 0);
	/* Also one that leads to the very directory. */
	scratch_link(top, "elsewhere", "proj");
	ck_assert_int_eq(project_look(&project), PROJECT_LINK);
	ck_assert_int_eq(unlink(scratch_path(top, "proj")), 0);
	ck_assert_int_eq(mkdir(from, 0755), 0);
	ck_assert_int_eq(project_look(&project), PROJECT_REPLACED);
	ck_assert_int_eq(
		project_open(&project, scratch_path(top, "none"), NULL), -ENOENT);
	ck_assert_int_eq(
		project_open(&project, scratch_path(top, "secret/key.txt"), NULL),
		-ENOTDIR);
}
END_TEST

static atomic_bool swapping;

/* Makes proj/swap by turns a directory, a link to the outside and a link inside. */
static void *swap(void *arg)
{
	char here[4096], evil[4096], honest[4096];

	(void)arg;
	snprintf(here, sizeof(here), "%s/proj/swap", top);
	snprintf(evil, sizeof(evil), "%s/proj/evil", top);
	snprintf(honest, sizeof(honest), "%s/proj/honest", top);
	while (atomic_load(&swapping)) {
		renameat2(AT_FDCWD, here, AT_FDCWD, evil, RENAME_EXCHANGE);
		renameat2(AT_FDCWD, here, AT_FDCWD, honest, RENAME_EXCHANGE);
	}
	return NULL;
}

START_TEST(links_swapped_in_between)
{
	pthread_t thread;
	int opened = 0, placed = 0;

	scratch_mkdir(top, "proj/swap");
	scratch_write(top, "proj/swap/key.txt", "harmless");
	scratch_link(top, "../secret", "proj/evil");
	scratch_link(top, "src", "proj/honest");
	atomic_store(&swapping, true);
	ck_assert_int_eq(pthread_create(&thread, NULL, swap, NULL), 0);
	for (int i = 0; i < 20000; i++) {
		struct project_place place;

		ck_assert_msg(!reads("swap/key.txt", "SECRET"), "after %d tries", i);
		opened += reads("swap/key.txt", "harmless");
		if (project_place(&project, "swap/new.txt", &place))
			continue;

		int fd = openat(
			place.dir_fd, place.base, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

		placed += fd >= 0;
		close(fd);
		close(place.dir_fd);
	}
	atomic_store(&swapping, false);
	pthread_join(thread, NULL);
	ck_assert(!scratch_exists(top, "secret/new.txt"));
	ck_assert_msg(opened > 0 && placed > 0, "%d opened, %d placed", opened, placed);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("project");

	tcase_add_checked_fixture(tc, make_project, drop_project);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, opens_honest_links);
	tcase_add_test(tc, refuses_to_leave);
	tcase_add_test(tc, places_follow_links_and_make_directories);
	tcase_add_test(tc, places_never_lie_outside);
	tcase_add_test(tc, knows_when_the_root_is_gone);
	tcase_add_test(tc, links_swapped_in_between);
	return check_run(tc);
}
