/* Tests of reading and saving: workers/fswatch/disk/read.h, disk.h, save.h, jobs.h, hash.h. */
#include "common/base/utf8.h"
#include "common/loop/jobs.h"
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include "workers/fswatch/buffers/buffer_store.h"
#include "workers/fswatch/buffers/save.h"
#include "workers/fswatch/disk/disk.h"
#include "workers/fswatch/disk/fault.h"
#include "workers/fswatch/disk/language.h"
#include "workers/fswatch/disk/names.h"
#include "workers/fswatch/disk/read.h"
#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>

static char dir[SCRATCH_SIZE];
static struct project project;
static struct file_content content;

static void make_project(void)
{
	scratch_make(dir);
	ck_assert_int_eq(project_open(&project, dir, NULL), 0);
}

static void drop_project(void)
{
	read_content_fini(&content);
	project_close(&project);
	scratch_remove(dir);
}

static int save_as(const char *key, const char *text, const char *base)
{
	struct save save = {.key = key, .text = str_of(text), .base = str_of(base)};

	return save_file(&project, &save);
}

/* How many names are in the directory, temporary ones included. */
static int entries(const char *name)
{
	DIR *d = opendir(scratch_path(dir, name));
	int n = 0;

	ck_assert_ptr_nonnull(d);
	for (struct dirent *e; (e = readdir(d));)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

START_TEST(reads_text)
{
	scratch_write(dir, "a.ts", "a\nb\n");
	ck_assert_int_eq(read_file(&project, "a.ts", &content), 0);
	ck_assert(str_is(content.text, "a\nb\n"));
	ck_assert_uint_eq(content.line_count, 3);
	ck_assert(!content.binary);
	ck_assert_uint_eq(strlen(content.version), 32);
	scratch_write(dir, "b.ts", "a\nb\n");

	char version[HASH_VERSION_SIZE];

	memcpy(version, content.version, sizeof(version));
	ck_assert_int_eq(read_file(&project, "b.ts", &content), 0);
	ck_assert_str_eq(content.version, version);
	scratch_write(dir, "empty.ts", "");
	ck_assert_int_eq(read_file(&project, "empty.ts", &content), 0);
	ck_assert(content.text.ptr && content.text.len == 0);
	ck_assert_uint_eq(content.line_count, 1);
	ck_assert_str_ne(content.version, version);
}
END_TEST

START_TEST(reads_binaries_without_content)
{
	static const char png[] = "\x89PNG\0\1\2";

	scratch_write_bytes(dir, "logo.png", png, sizeof(png));
	scratch_write(dir, "text.png", "text");
	scratch_write_bytes(dir, "zero.ts", "a\0b", 3);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"logo.png", "text.png", "zero.ts"};

		ck_assert_int_eq(read_file(&project, names[i], &content), 0);
		ck_assert_msg(content.binary, "%s", names[i]);
		ck_assert_uint_eq(content.text.len, 0);
		ck_assert_uint_eq(content.line_count, 0);
	}
}
END_TEST

START_TEST(refuses_what_is_no_file)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	scratch_mkdir(dir, "src");
	ck_assert_int_eq(mkfifo(scratch_path(dir, "fifo"), 0644), 0);
	ck_assert_int_lt(
		snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/socket", dir),
		(int)sizeof(address.sun_path));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(read_file(&project, "src", &content), -EISDIR);
	ck_assert_int_eq(read_file(&project, "none", &content), -ENOENT);
	ck_assert_int_eq(read_file(&project, "fifo", &content), -FAULT_NOT_REGULAR);
	ck_assert_int_eq(read_file(&project, "socket", &content), -FAULT_NOT_REGULAR);
	ck_assert_int_eq(save_as("src", "x", NULL), -EISDIR);
	ck_assert_int_eq(save_as("fifo", "x", NULL), -FAULT_NOT_REGULAR);
	ck_assert_int_eq(save_as("socket", "x", NULL), -FAULT_NOT_REGULAR);
	close(fd);
}
END_TEST

START_TEST(leaves_binaries_alone)
{
	static const char *const names[] = {"logo.png", "zero.ts", "big.ts", "empty.png"};
	char *big = calloc(1, BUFFER_STORE_MAX_CONTENT + 1);

	scratch_write_bytes(dir, "logo.png", "\x89PNG\0\1\2", 7);
	scratch_write_bytes(dir, "zero.ts", "a\0b", 3);
	scratch_write_bytes(dir, "big.ts", big, BUFFER_STORE_MAX_CONTENT + 1);
	scratch_write(dir, "empty.png", "");
	for (int i = 0; i < 4; i++) {
		struct buf before = {.data = NULL}, after = {.data = NULL};

		scratch_read(dir, names[i], &before);
		ck_assert_int_eq(save_as(names[i], "", NULL), -FAULT_BINARY);
		ck_assert_int_eq(save_as(names[i], "text", NULL), -FAULT_BINARY);
		scratch_read(dir, names[i], &after);
		ck_assert_msg(str_eq(buf_str(&before), buf_str(&after)), "%s", names[i]);
		buf_free(&before);
		buf_free(&after);
	}
	/* What is not there yet hurts nobody; big text may be replaced. */
	ck_assert_int_eq(save_as("new.png", "text", NULL), 0);
	memset(big, 'x', BUFFER_STORE_MAX_CONTENT + 1);
	scratch_write_bytes(dir, "big.txt", big, BUFFER_STORE_MAX_CONTENT + 1);
	ck_assert_int_eq(save_as("big.txt", "small", NULL), 0);
	ck_assert_int_eq(entries("."), 6);
	free(big);
}
END_TEST

START_TEST(refuses_too_much)
{
	char *big = calloc(1, READ_MAX_BYTES + 1);

	memset(big, 'x', READ_MAX_BYTES + 1);
	scratch_write_bytes(dir, "big.txt", big, READ_MAX_BYTES + 1);
	scratch_write_bytes(dir, "fits.txt", big, READ_MAX_BYTES);
	scratch_write_bytes(dir, "big.png", big, READ_MAX_BYTES + 1);
	ck_assert_int_eq(read_file(&project, "big.txt", &content), -FAULT_TOO_BIG);
	ck_assert_int_eq(read_file(&project, "fits.txt", &content), 0);
	ck_assert_uint_eq(content.text.len, READ_MAX_BYTES);
	ck_assert_int_eq(read_file(&project, "big.png", &content), 0);
	ck_assert(content.binary);
	ck_assert_uint_eq(strlen(content.version), 32);
	free(big);
}
END_TEST

START_TEST(saves)
{
	scratch_mkdir(dir, "src");
	ck_assert_int_eq(save_as("src/new.ts", "one", NULL), 0);
	ck_assert(scratch_holds(dir, "src/new.ts", "one"));
	ck_assert_int_eq(save_as("src/new.ts", "two", NULL), 0);
	ck_assert(scratch_holds(dir, "src/new.ts", "two"));
	ck_assert_int_eq(save_as("src/new.ts", "", NULL), 0);
	ck_assert(scratch_holds(dir, "src/new.ts", ""));
	ck_assert_int_eq(entries("src"), 1);
	ck_assert_int_eq(save_as("a/b/c.ts", "deep", NULL), 0);
	ck_assert(scratch_holds(dir, "a/b/c.ts", "deep"));
}
END_TEST

START_TEST(keeps_what_the_file_was)
{
	struct stat st;
	char value[16] = "";

	scratch_write(dir, "run.sh", "one");
	ck_assert_int_eq(chmod(scratch_path(dir, "run.sh"), 0751), 0);
	if (getuid() == 0)
		ck_assert_int_eq(chown(scratch_path(dir, "run.sh"), 65534, 65533), 0);

	bool has_xattr =
		setxattr(scratch_path(dir, "run.sh"), "user.note", "keep", 4, 0) == 0;

	scratch_link(dir, "run.sh", "alias.sh");
	ck_assert_int_eq(save_as("alias.sh", "two", NULL), 0);
	ck_assert_int_eq(lstat(scratch_path(dir, "alias.sh"), &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert(scratch_holds(dir, "run.sh", "two"));
	ck_assert_int_eq(stat(scratch_path(dir, "run.sh"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0751);
	if (getuid() == 0) {
		ck_assert_uint_eq(st.st_uid, 65534);
		ck_assert_uint_eq(st.st_gid, 65533);
	}
	if (has_xattr) {
		ck_assert_int_eq(
			getxattr(scratch_path(dir, "run.sh"), "user.note", value, 16), 4);
		ck_assert_str_eq(value, "keep");
	}
	ck_assert_int_eq(entries("."), 2);
}
END_TEST

START_TEST(keeps_the_encoding)
{
	static const char utf16[] = "\xff\xfe"
				    "a\0\n";

	scratch_write_bytes(dir, "wide.ts", utf16, sizeof(utf16));
	scratch_write(dir, "mark.ts", "\xef\xbb\xbfx");
	scratch_write(dir, "latin.ts", "// caf\xe9 and some more plain text\n");
	ck_assert_int_eq(read_file(&project, "wide.ts", &content), 0);
	ck_assert(str_is(content.text, "a\n"));
	ck_assert_int_eq(save_as("wide.ts", "a\n", content.version), 0);
	ck_assert_int_eq(save_as("mark.ts", "y", NULL), 0);
	ck_assert(scratch_holds(dir, "mark.ts", "\xef\xbb\xbfy"));
	ck_assert_int_eq(save_as("latin.ts", "\xc3\xa9", NULL), 0);
	ck_assert(scratch_holds(dir, "latin.ts", "\xe9"));

	struct buf bytes = {.data = NULL};

	scratch_read(dir, "wide.ts", &bytes);
	ck_assert(str_eq(buf_str(&bytes), (struct str){utf16, sizeof(utf16)}));
	buf_free(&bytes);
}
END_TEST

static void make_older(const char *name)
{
	const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	ck_assert_int_eq(utimensat(AT_FDCWD, scratch_path(dir, name), times, 0), 0);
}

START_TEST(looks_at_the_disk)
{
	struct disk disk = {.known = false};
	bool read;

	ck_assert_int_eq(disk_look(&project, "a.ts", &disk, &content, &read), 0);
	ck_assert(!read && !disk.known);
	ck_assert_str_eq(disk.version, "");
	scratch_write(dir, "a.ts", "one");
	for (int i = 0; i < 2; i++) { /* it was changed a moment ago */
		ck_assert_int_eq(disk_look(&project, "a.ts", &disk, &content, &read), 0);
		ck_assert(read && str_is(content.text, "one"));
		ck_assert_str_eq(disk.version, content.version);
	}
	usleep(1100000);
	ck_assert_int_eq(disk_look(&project, "a.ts", &disk, &content, &read), 0);
	ck_assert(read && disk.known);
	ck_assert_int_eq(disk_look(&project, "a.ts", &disk, &content, &read), 0);
	ck_assert(!read && disk.known);
	/* The same size and time of change of the content, as some programs make it. */
	make_older("a.ts");
	ck_assert_int_eq(disk_look(&project, "a.ts", &disk, &content, &read), 0);
	scratch_write(dir, "a.ts", "two");
	make_older("a.ts");
	ck_assert_int_eq(disk_look(&project, "a.ts", &disk, &content, &read), 0);
	ck_assert(read && str_is(content.text, "two"));
	ck_assert_int_eq(unlink(scratch_path(dir, "a.ts")), 0);
	ck_assert_int_eq(disk_look(&project, "a.ts", &disk, &content, &read), 0);
	ck_assert(!read && !disk.known);
	ck_assert_str_eq(disk.version, "");
	scratch_mkdir(dir, "a.ts");
	ck_assert_int_eq(disk_look(&project, "a.ts", &disk, &content, &read), -EISDIR);
}
END_TEST

START_TEST(sees_conflicts)
{
	struct save save = {.key = "a.ts", .text = STR_INIT("mine")};
	char first[HASH_VERSION_SIZE];

	scratch_write(dir, "a.ts", "one");
	ck_assert_int_eq(read_file(&project, "a.ts", &content), 0);
	memcpy(first, content.version, sizeof(first));
	scratch_write(dir, "a.ts", "theirs");
	save.base = str_of(first);
	ck_assert_int_eq(save_file(&project, &save), -FAULT_CONFLICT);
	ck_assert(scratch_holds(dir, "a.ts", "theirs"));
	ck_assert_str_ne(save.version, first);
	ck_assert_int_eq(read_file(&project, "a.ts", &content), 0);
	ck_assert_str_eq(save.version, content.version);
	/* Based on what is there now it goes through. */
	save.base = str_of(content.version);
	ck_assert_int_eq(save_file(&project, &save), 0);
	ck_assert(scratch_holds(dir, "a.ts", "mine"));
	/* A repeat of a save that got through is no conflict with itself. */
	ck_assert_int_eq(save_file(&project, &save), 0);
	/* The file was removed meanwhile. */
	ck_assert_int_eq(unlink(scratch_path(dir, "a.ts")), 0);
	ck_assert_int_eq(save_file(&project, &save), -FAULT_CONFLICT);
	ck_assert_str_eq(save.version, "");
	ck_assert(!scratch_exists(dir, "a.ts"));
}
END_TEST

START_TEST(leaves_the_old_file_when_it_fails)
{
	scratch_write(dir, "file", "old");
	scratch_mkdir(dir, "full");
	ck_assert_int_eq(save_as("file/inside.txt", "x", NULL), -ENOTDIR);
	ck_assert(scratch_holds(dir, "file", "old"));
	if (unshare(CLONE_NEWNS) < 0 ||
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("tmpfs", scratch_path(dir, "full"), "tmpfs", 0, "size=64k") < 0)
		return;		 /* not root */
	project_close(&project); /* it belongs to the mounts from before */
	ck_assert_int_eq(project_open(&project, dir, NULL), 0);

	char *big = calloc(1, 100001);

	memset(big, 'x', 100000);
	ck_assert_int_eq(save_as("full/a.txt", "small", NULL), 0);
	ck_assert_int_eq(save_as("full/a.txt", big, NULL), -ENOSPC);
	ck_assert(scratch_holds(dir, "full/a.txt", "small"));
	ck_assert_int_eq(save_as("full/b.txt", big, NULL), -ENOSPC);
	ck_assert(!scratch_exists(dir, "full/b.txt"));
	ck_assert_int_eq(entries("full"), 1);
	ck_assert_int_eq(mount(NULL, scratch_path(dir, "full"), NULL,
				 MS_REMOUNT | MS_RDONLY, NULL),
		0);
	ck_assert_int_eq(save_as("full/a.txt", "x", NULL), -EROFS);
	ck_assert(scratch_holds(dir, "full/a.txt", "small"));
	umount(scratch_path(dir, "full"));
	free(big);
}
END_TEST

/* Another directory, or a link, has the name of the project by now. */
START_TEST(saves_nothing_elsewhere)
{
	char moved[SCRATCH_SIZE + 8];

	scratch_write(dir, "a.ts", "old");
	snprintf(moved, sizeof(moved), "%s.moved", dir);
	ck_assert_int_eq(rename(dir, moved), 0);
	ck_assert_int_eq(save_as("a.ts", "new", NULL), -FAULT_PROJECT_GONE);
	ck_assert_int_eq(symlink(moved, dir), 0);
	ck_assert_int_eq(save_as("a.ts", "new", NULL), -FAULT_PROJECT_GONE);
	ck_assert_int_eq(unlink(dir), 0);
	ck_assert_int_eq(mkdir(dir, 0755), 0);
	ck_assert_int_eq(save_as("a.ts", "new", NULL), -FAULT_PROJECT_GONE);
	ck_assert_int_eq(entries("."), 0);
	ck_assert(scratch_holds(moved, "a.ts", "old"));
	ck_assert_int_eq(rmdir(dir), 0);
	ck_assert_int_eq(rename(moved, dir), 0);
	ck_assert_int_eq(save_as("a.ts", "new", NULL), 0);
}
END_TEST

START_TEST(respects_protection)
{
	scratch_remove(dir);
	if (getuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		ck_abort_msg("cannot become nobody: %s", strerror(errno));
	scratch_make(dir);
	project_close(&project);
	ck_assert_int_eq(project_open(&project, dir, NULL), 0);
	scratch_write(dir, "locked.ts", "old");
	ck_assert_int_eq(chmod(scratch_path(dir, "locked.ts"), 0444), 0);
	ck_assert_int_eq(save_as("locked.ts", "new", NULL), -EACCES);
	ck_assert(scratch_holds(dir, "locked.ts", "old"));
	ck_assert_int_eq(entries("."), 1);
	ck_assert_int_eq(chmod(scratch_path(dir, "locked.ts"), 0000), 0);
	ck_assert_int_eq(read_file(&project, "locked.ts", &content), -EACCES);
}
END_TEST

START_TEST(says_why)
{
	ck_assert_str_eq(fault_text(-ENOENT), "does not exist");
	ck_assert_str_eq(fault_text(EXDEV), "leads outside the project");
	ck_assert_ptr_nonnull(strstr(fault_text(-FAULT_CONFLICT), "changed on disk"));
	ck_assert_str_eq(fault_text(-EBUSY), "failed: Device or resource busy");
}
END_TEST

START_TEST(sums)
{
	const struct str whole = STR_LIT("abcdef");
	const struct str parts[] = {STR_INIT("abc"), STR_INIT(""), STR_INIT("def")};
	const struct str other = STR_LIT("abcdeg");
	struct hash_sum a = hash_sum(&whole, 1), b = hash_sum(parts, 3),
			c = hash_sum(&other, 1);

	ck_assert_mem_eq(a.bytes, b.bytes, sizeof(a.bytes));
	ck_assert_mem_ne(a.bytes, c.bytes, sizeof(a.bytes));
}
END_TEST

struct counting_job {
	struct job job;
	int number;
	bool ran;
};

static int next_number, done_count;

static void run_counting(struct job *job)
{
	struct counting_job *c = (struct counting_job *)job;

	c->ran = c->number == next_number++; /* only this thread touches it */
}

static void done_counting(struct job *job)
{
	struct counting_job *c = (struct counting_job *)job;

	ck_assert(c->ran);
	ck_assert_int_eq(c->number, done_count++);
}

START_TEST(jobs_run_in_order)
{
	static struct counting_job all[1000];
	struct event_base *base = event_base_new();
	struct jobs *jobs = jobs_new(base);

	ck_assert_ptr_nonnull(jobs);
	jobs_drain(jobs);
	for (int i = 0; i < 1000; i++) {
		all[i] = (struct counting_job){
			{.run = run_counting, .done = done_counting}, i, false};
		jobs_add(jobs, &all[i].job);
		if (i == 500)
			while (done_count <= 500)
				event_base_loop(base, EVLOOP_ONCE);
	}
	jobs_free(jobs);
	ck_assert_int_eq(done_count, 1000);
	event_base_free(base);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("save");

	tcase_add_checked_fixture(tc, make_project, drop_project);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, reads_text);
	tcase_add_test(tc, reads_binaries_without_content);
	tcase_add_test(tc, refuses_what_is_no_file);
	tcase_add_test(tc, leaves_binaries_alone);
	tcase_add_test(tc, refuses_too_much);
	tcase_add_test(tc, saves);
	tcase_add_test(tc, keeps_what_the_file_was);
	tcase_add_test(tc, keeps_the_encoding);
	tcase_add_test(tc, looks_at_the_disk);
	tcase_add_test(tc, sees_conflicts);
	tcase_add_test(tc, leaves_the_old_file_when_it_fails);
	tcase_add_test(tc, saves_nothing_elsewhere);
	tcase_add_test(tc, respects_protection);
	tcase_add_test(tc, says_why);
	tcase_add_test(tc, sums);
	tcase_add_test(tc, jobs_run_in_order);
	return check_run(tc);
}
