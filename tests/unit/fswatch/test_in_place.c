/*
 * Tests of writing files where they lie: workers/fswatch/buffers/in_place.h through save.h. A
 * process is killed before each of its system calls, and in the middle of each write.
 */
#include "common/base/log.h"
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include "workers/fswatch/buffers/in_place.h"
#include "workers/fswatch/buffers/save.h"
#include "workers/fswatch/disk/fault.h"
#include <dirent.h>
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#define CONTENT_BYTES 50000

static char dir[SCRATCH_SIZE], records[SCRATCH_SIZE];
static struct project project;
static int record_dir;

/* ---- system calls that count, and at one of which the process dies ---- */

static int steps, die_at, fail_at;

static bool step(const char *name, void *real)
{
	*(void **)real = dlsym(RTLD_NEXT, name);
	return ++steps == die_at;
}

static void die(void)
{
	raise(SIGKILL);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at);
int ftruncate64(int fd, off64_t len);

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	ssize_t (*real)(int, const void *, size_t, off64_t);

	if (step("pwrite64", &real)) {
		real(fd, data, len / 2, at);
		die();
	}
	if (steps == fail_at) {
		fail_at = 0;
		real(fd, data, len / 2, at);
		errno = EIO;
		return -1;
	}
	return real(fd, data, len, at);
}

ssize_t write(int fd, const void *data, size_t len)
{
	ssize_t (*real)(int, const void *, size_t);

	if (step("write", &real)) {
		real(fd, data, len / 2);
		die();
	}
	return real(fd, data, len);
}

int ftruncate64(int fd, off64_t len)
{
	int (*real)(int, off64_t);

	if (step("ftruncate64", &real))
		die();
	return real(fd, len);
}

int fsync(int fd)
{
	int (*real)(int);

	if (step("fsync", &real))
		die();
	if (steps == fail_at) {
		fail_at = 0;
		errno = EIO;
		return -1;
	}
	return real(fd);
}

int unlinkat(int fd, const char *name, int flags)
{
	int (*real)(int, const char *, int);

	if (step("unlinkat", &real))
		die();
	return real(fd, name, flags);
}

/* ---- the place ---- */

static void setup(void)
{
	log_init("test", LOG_LEVEL_ERROR);
	scratch_make(dir);
	scratch_make(records);
	ck_assert_int_eq(project_open(&project, dir, NULL), 0);
	record_dir = open(records, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(record_dir, 0);
	steps = die_at = fail_at = 0;
}

static void teardown(void)
{
	close(record_dir);
	project_close(&project);
	scratch_remove(dir);
	scratch_remove(records);
}

static int save_as(const char *key, struct str text)
{
	struct save save = {.key = key, .text = text, .record_dir = record_dir};

	return save_file(&project, &save);
}

/* The first record whose name ends so; NULL for none. Good until the next call. */
static const char *record(const char *ending)
{
	static char name[256];
	DIR *d = opendir(records);

	name[0] = '\0';
	ck_assert_ptr_nonnull(d);
	for (struct dirent *e; (e = readdir(d));) {
		size_t len = strlen(e->d_name), tail = strlen(ending);

		if (e->d_name[0] != '.' && len > tail &&
			strcmp(e->d_name + len - tail, ending) == 0)
			snprintf(name, sizeof(name), "%s", e->d_name);
	}
	closedir(d);
	return name[0] ? name : NULL;
}

static bool holds(const char *name, struct str text)
{
	struct buf have = {.data = NULL};

	scratch_read(dir, name, &have);

	bool same = str_eq(buf_str(&have), text);

	buf_free(&have);
	return same;
}

static struct str filled(char *text, char c, size_t len)
{
	memset(text, c, len);
	return (struct str){text, len};
}

static char old_text[CONTENT_BYTES], new_text[CONTENT_BYTES];

static void two_names(struct str old)
{
	unlink(scratch_path(dir, "a.ts"));
	unlink(scratch_path(dir, "b.ts"));
	scratch_write_bytes(dir, "a.ts", old.ptr, old.len);
	ck_assert_int_eq(link(scratch_path(dir, "a.ts"), scratch_path(dir, "b.ts")), 0);
	ck_assert_int_eq(chmod(scratch_path(dir, "a.ts"), 0640), 0);
}

static bool one_file(void)
{
	struct stat a, b;

	return stat(scratch_path(dir, "a.ts"), &a) == 0 &&
	       stat(scratch_path(dir, "b.ts"), &b) == 0 && a.st_ino == b.st_ino &&
	       a.st_nlink == 2 && (a.st_mode & 07777) == 0640;
}

/* Saves in a process of its own that dies at a step. True when it came to the end. */
static bool save_and_die(struct str text, int at)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		steps = 0;
		die_at = at;
		_exit(save_as("a.ts", text) ? 1 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return false;
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	return true;
}

/* ---- tests ---- */

START_TEST(all_names_keep_one_file)
{
	struct str old = filled(old_text, 'o', 10), new = filled(new_text, 'n', 100);

	two_names(old);
	ck_assert_int_eq(save_as("a.ts", new), 0);
	ck_assert(one_file() && holds("b.ts", new));
	ck_assert_int_eq(save_as("b.ts", old), 0);
	ck_assert(one_file() && holds("a.ts", old));
	ck_assert_int_eq(save_as("b.ts", STR_LIT("")), 0);
	ck_assert(one_file() && holds("a.ts", STR_LIT("")));
	ck_assert_ptr_null(record(""));
}
END_TEST

START_TEST(killed_at_every_step)
{
	static const size_t lengths[][2] = {{CONTENT_BYTES, 20000},
		{20000, CONTENT_BYTES}, {CONTENT_BYTES, CONTENT_BYTES}, {0, 300}};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct str old = filled(old_text, 'o', lengths[i][0]);
		struct str new = filled(new_text, 'n', lengths[i][1]);
		int torn = 0;

		for (int at = 1;; at++) {
			two_names(old);

			bool whole = save_and_die(new, at);

			torn += !holds("a.ts", old) && !holds("a.ts", new);
			ck_assert_int_eq(in_place_recover(record_dir, &project), 0);
			ck_assert_msg(holds("a.ts", old) || holds("a.ts", new),
				"step %d: torn", at);
			ck_assert(one_file());
			ck_assert_ptr_null(record(""));
			if (whole) {
				ck_assert(holds("b.ts", new));
				ck_assert_int_gt(at, 8);
				break;
			}
		}
		ck_assert_int_gt(torn, 0); /* else nothing was tried */
	}
}
END_TEST

START_TEST(a_failed_write_is_put_back)
{
	struct str old = filled(old_text, 'o', 1000), new = filled(new_text, 'n', 900);

	two_names(old);
	ck_assert_int_eq(save_as("a.ts", new), 0);

	int all = steps;

	for (int at = 1; at <= all; at++) {
		two_names(old);
		steps = 0;
		fail_at = at;

		int error = save_as("a.ts", new);

		ck_assert(error == 0 || error == -EIO);
		ck_assert_msg(holds("b.ts", error ? old : new), "step %d", at);
		fail_at = 0;
		ck_assert_int_eq(in_place_recover(record_dir, &project), 0);
		ck_assert_msg(holds("b.ts", error ? old : new), "step %d", at);
		ck_assert(one_file());
	}
}
END_TEST

START_TEST(what_another_program_wrote_stays)
{
	struct str old = filled(old_text, 'o', 5000), new = filled(new_text, 'n', 5000);
	struct buf kept = {.data = NULL};
	int at = 1;

	/* Until it is half written. */
	for (two_names(old); holds("a.ts", old); at++)
		ck_assert(!save_and_die(new, at));
	ck_assert(!holds("a.ts", new));
	scratch_write(dir, "a.ts", "theirs");
	ck_assert_int_eq(in_place_recover(record_dir, &project), 0);
	ck_assert(scratch_holds(dir, "b.ts", "theirs"));
	ck_assert_ptr_null(record(".save"));
	ck_assert_ptr_nonnull(record(".aside"));
	scratch_read(records, record(".aside"), &kept);
	ck_assert_ptr_nonnull(memmem(kept.data, kept.len, new.ptr, new.len));
	buf_free(&kept);
}
END_TEST

START_TEST(records_that_are_none)
{
	scratch_write(records, "torn.save", "PAIGEIP1 and then nothing");
	scratch_write(records, "empty.save", "");
	ck_assert_int_eq(mkfifo(scratch_path(records, "fifo.save"), 0600), 0);
	ck_assert_int_eq(in_place_recover(record_dir, &project), 0);
	ck_assert_ptr_null(record(".save"));
}
END_TEST

START_TEST(mount_points)
{
	struct stat st;

	scratch_write(records, "host", "from the host\n");
	ck_assert_int_eq(chmod(scratch_path(records, "host"), 0604), 0);
	scratch_write(dir, "a.ts", "");
	if (unshare(CLONE_NEWNS) < 0 ||
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount(scratch_path(records, "host"), scratch_path(dir, "a.ts"), NULL,
			MS_BIND, NULL) < 0)
		return;		 /* not root */
	project_close(&project); /* it belongs to the mounts from before */
	ck_assert_int_eq(project_open(&project, dir, NULL), 0);
	ck_assert_int_eq(save_as("a.ts", STR_LIT("new\n")), 0);
	ck_assert(scratch_holds(records, "host", "new\n"));
	ck_assert_int_eq(stat(scratch_path(records, "host"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0604);
	ck_assert_ptr_null(record(".save"));
	umount2(scratch_path(dir, "a.ts"), MNT_DETACH);
}
END_TEST

START_TEST(directories_that_may_not_be_written)
{
	teardown();
	if (getuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		ck_abort_msg("cannot become nobody: %s", strerror(errno));
	setup();
	scratch_mkdir(dir, "closed");
	scratch_write(dir, "closed/f.ts", "old");
	scratch_write(dir, "closed/locked.ts", "old");
	ck_assert_int_eq(chmod(scratch_path(dir, "closed/locked.ts"), 0444), 0);
	ck_assert_int_eq(chmod(scratch_path(dir, "closed"), 0555), 0);
	ck_assert_int_eq(save_as("closed/f.ts", STR_LIT("new")), 0);
	ck_assert(scratch_holds(dir, "closed/f.ts", "new"));
	ck_assert_int_eq(save_as("closed/locked.ts", STR_LIT("new")), -EACCES);
	ck_assert_int_eq(save_as("closed/other.ts", STR_LIT("new")), -EACCES);
	ck_assert_int_eq(chmod(scratch_path(dir, "closed"), 0755), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("in_place");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, all_names_keep_one_file);
	tcase_add_test(tc, killed_at_every_step);
	tcase_add_test(tc, a_failed_write_is_put_back);
	tcase_add_test(tc, what_another_program_wrote_stays);
	tcase_add_test(tc, records_that_are_none);
	tcase_add_test(tc, mount_points);
	tcase_add_test(tc, directories_that_may_not_be_written);
	return check_run(tc);
}
