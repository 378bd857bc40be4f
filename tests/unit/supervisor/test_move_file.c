/* Putting a finished file where somebody wants it (supervisor/paigectl/data/move_file.h). */
#include "supervisor/paigectl/data/move_file.h"
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include <dirent.h>

static char dir[SCRATCH_SIZE], far_dir[SCRATCH_SIZE];

static void setup(void)
{
	scratch_make(dir);
	scratch_write(dir, "from", "new");
	/* On most machines another file system. */
	strcpy(far_dir, "/dev/shm/paige-test.XXXXXX");
	if (!mkdtemp(far_dir))
		scratch_make(far_dir);
}

static void teardown(void)
{
	scratch_remove(dir);
	scratch_remove(far_dir);
}

static const char *target_dir(int far)
{
	return far ? far_dir : dir;
}

static int files_in(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	int n = 0;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

/* Each of them near and far. */

START_TEST(a_file_is_moved)
{
	const char *to = target_dir(_i);

	ck_assert_int_eq(
		move_file(scratch_path(dir, "from"), scratch_path(to, "to"), false), 0);
	ck_assert(scratch_holds(to, "to", "new"));
	ck_assert(!scratch_exists(dir, "from"));
	ck_assert_int_eq(files_in(dir) + files_in(far_dir), 1);
}
END_TEST

START_TEST(nothing_is_replaced_unasked)
{
	const char *to = target_dir(_i);

	scratch_write(to, "to", "old");
	ck_assert_int_eq(
		move_file(scratch_path(dir, "from"), scratch_path(to, "to"), false),
		-EEXIST);
	ck_assert(scratch_holds(to, "to", "old"));
	ck_assert(scratch_holds(dir, "from", "new"));
	ck_assert_int_eq(files_in(dir) + files_in(far_dir), 2);
	ck_assert_int_eq(
		move_file(scratch_path(dir, "from"), scratch_path(to, "to"), true), 0);
	ck_assert(scratch_holds(to, "to", "new"));
	ck_assert_int_eq(files_in(dir) + files_in(far_dir), 1);
}
END_TEST

START_TEST(a_link_is_not_followed)
{
	const char *to = target_dir(_i);

	scratch_write(to, "precious", "old");
	scratch_link(to, "precious", "to");
	ck_assert_int_eq(
		move_file(scratch_path(dir, "from"), scratch_path(to, "to"), false),
		-EEXIST);
	ck_assert_int_eq(
		move_file(scratch_path(dir, "from"), scratch_path(to, "to"), true), 0);
	ck_assert(scratch_holds(to, "precious", "old"));
	ck_assert(scratch_holds(to, "to", "new"));
}
END_TEST

START_TEST(what_fails_leaves_everything_as_it_was)
{
	const char *to = target_dir(_i);

	ck_assert_int_eq(
		move_file(scratch_path(dir, "from"), scratch_path(to, "none/to"), false),
		-ENOENT);
	scratch_mkdir(to, "folder");
	scratch_write(to, "folder/x", "x");
	ck_assert_int_lt(
		move_file(scratch_path(dir, "from"), scratch_path(to, "folder"), true),
		0);
	ck_assert_int_eq(
		move_file(scratch_path(dir, "absent"), scratch_path(to, "to"), false),
		-ENOENT);
	ck_assert(scratch_holds(dir, "from", "new"));
	ck_assert(scratch_holds(to, "folder/x", "x"));
	ck_assert_int_eq(files_in(dir) + files_in(far_dir), 2);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("place");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_file_is_moved, 0, 2);
	tcase_add_loop_test(tc, nothing_is_replaced_unasked, 0, 2);
	tcase_add_loop_test(tc, a_link_is_not_followed, 0, 2);
	tcase_add_loop_test(tc, what_fails_leaves_everything_as_it_was, 0, 2);
	return check_run(tc);
}
