/*
 * Tests of what is written down at the end of a turn when the disk fails:
 * workers/fswatch/commit.h. A sync that fails loses what was written since the last good
 * one, and the next one says that all is well, as Linux does it.
 */
#include "common/base/log.h"
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include "workers/fswatch/fswatch.h"
#include <dlfcn.h>
#include <sys/uio.h>

static char dir[SCRATCH_SIZE];
static struct worker worker;
static struct fswatch fs;

/* ---- a disk that loses what it cannot sync ---- */

static volatile int syncs, fail_until; /* counted on the thread of jobs.h */

/* The last piece that was written to a buffer's file. */
static struct {
	ino_t ino;
	off_t at;
	size_t len;
} last;

static ino_t ino_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? 0 : st.st_ino;
}

/* Written on the loop, and anywhere. */
static pthread_t loop;
static size_t loop_bytes, all_bytes;
static pthread_mutex_t gate =
	PTHREAD_MUTEX_INITIALIZER; /* shut: the threads do not write */

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at);

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at)
{
	ssize_t (*real)(int, const struct iovec *, int, off64_t);

	*(void **)&real = dlsym(RTLD_NEXT, "pwritev64");

	const bool beside = !pthread_equal(pthread_self(), loop);

	if (beside)
		pthread_mutex_lock(&gate);

	ssize_t n = real(fd, parts, count, at);

	all_bytes += n > 0 ? (size_t)n : 0;
	loop_bytes += n > 0 && !beside ? (size_t)n : 0;
	if (beside)
		pthread_mutex_unlock(&gate);
	last.ino = ino_of(fd);
	last.at = at;
	last.len = n > 0 ? (size_t)n : 0;
	return n;
}

int fdatasync(int fd)
{
	static char nothing[65536];

	syncs++;
	if (syncs > fail_until)
		return 0;
	if (ino_of(fd) == last.ino) {
		ck_assert_uint_le(last.len, sizeof(nothing));
		ck_assert_int_eq(pwrite(fd, nothing, last.len, last.at), last.len);
	} else { /* the journal */
		ck_assert_int_eq(ftruncate(fd, 0), 0);
	}
	errno = EIO;
	return -1;
}

/* ---- as much of the worker as a turn needs ---- */

static int reports;
void fswatch_report(struct fswatch *f)
{
	(void)f;
	reports++;
}

static void on_record(void *arg, enum journal_type type, struct str data)
{
	open_files_restore(arg, type, data);
}

static void begin(void)
{
	memset(&fs, 0, sizeof(fs));
	fs.worker = &worker;
	snprintf(fs.buffers_dir, sizeof(fs.buffers_dir), "%s/buffers", dir);
	ck_assert_int_eq(buffer_store_open(&fs.buffer_store, dir), 0);
	fs.open_files.journal = &fs.journal;
	ck_assert_int_eq(journal_open(&fs.journal, fs.buffer_store.dir_fd, on_record,
				 &fs.open_files),
		0);
	ck_assert_int_eq(buffers_init(&fs.buffers, &fs.buffer_store, 1), 0);
	fs.jobs = jobs_new(worker.base);
	fs.write_jobs = jobs_new(worker.base);
	ck_assert_ptr_nonnull(fs.jobs);
	ck_assert_ptr_nonnull(fs.write_jobs);
	commit_init(&fs);
}

/* As a kill would: nothing more is written. */
static void end(void)
{
	jobs_free(fs.jobs);
	jobs_free(fs.write_jobs);
	event_free(fs.turn.end);
	event_free(fs.turn.sync_timer);
	event_free(fs.turn.tidy_timer);
	buffers_fini(&fs.buffers);
	open_files_fini(&fs.open_files);
	journal_close(&fs.journal);
	buffer_store_close(&fs.buffer_store);
}

static void setup(void)
{
	log_init("test", LOG_LEVEL_ERROR + 1);
	scratch_make(dir);
	worker.base = event_base_new();
	syncs = fail_until = 0;
	loop = pthread_self();
	loop_bytes = all_bytes = 0;
	reports = 0;
	begin();
}

static void teardown(void)
{
	end();
	event_base_free(worker.base);
	scratch_remove(dir);
}

static void run_until_synced(int count)
{
	while (syncs < count || fs.turn.syncing) {
		const struct timeval tv = {.tv_usec = 20000};

		event_base_loopexit(worker.base, &tv);
		event_base_loop(worker.base, EVLOOP_NO_EXIT_ON_EMPTY);
	}
}

static void edit(const char *path, const char *text)
{
	struct buffer *buffer = buffers_set(&fs.buffers, str_of(path), str_of(text));

	ck_assert_ptr_nonnull(buffer);
	buffer->dirty = true;
	buffers_changed(&fs.buffers, buffer);
	commit_work(&fs);
}

static bool holds(const char *path, const char *text)
{
	const struct buffer *b = buffers_find(&fs.buffers, str_of(path));

	return b && str_eq((struct str){b->content, b->len}, str_of(text));
}

START_TEST(a_buffer_is_written_again)
{
	edit("a.ts", "first");
	run_until_synced(1);
	ck_assert(!buffers_find(&fs.buffers, STR_LIT("a.ts"))->file.unsynced);
	ck_assert_int_eq(reports, 0);

	fail_until = syncs + 1;
	edit("a.ts", "second");
	run_until_synced(fail_until);
	ck_assert_int_eq(fs.turn.sync_error, EIO);
	ck_assert_int_eq(reports, 1);
	run_until_synced(fail_until + 1);
	ck_assert_int_eq(fs.turn.sync_error, 0);
	ck_assert_int_eq(reports, 2);
	end();
	begin();
	ck_assert(holds("a.ts", "second"));
}
END_TEST

/* What is looked at later in the same turn. */
static bool unwritten_later;
static struct event *later;

static void on_later(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	unwritten_later = !LIST_EMPTY(&fs.buffers.unwritten);
}

static void on_edit(evutil_socket_t fd, short what, void *arg)
{
	const char *text = arg;

	(void)fd;
	(void)what;
	fs.turn.bytes += strlen(text);
	edit("a.ts", text);
	event_active(later, EV_TIMEOUT, 0);
}

/* A large edit is not taken in and written down in one turn. */
START_TEST(a_large_edit_is_two_turns)
{
	char *text = malloc(1100000);

	later = event_new(worker.base, -1, 0, on_later, NULL);
	memset(text, 'x', 1100000);
	for (int large = 0; large < 2; large++) {
		struct event *now;

		text[large ? 1099999 : 1000] = '\0';
		if (large)
			text[1000] = 'x';
		now = event_new(worker.base, -1, 0, on_edit, text);
		event_active(now, EV_TIMEOUT, 0);
		event_base_loop(worker.base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
		ck_assert_int_eq(unwritten_later, large);
		event_base_loop(worker.base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
		ck_assert(LIST_EMPTY(&fs.buffers.unwritten));
		event_free(now);
	}
	event_free(later);
	free(text);
}
END_TEST

/* As edit, with so many bytes. */
static void edit_large(const char *path, char what, size_t len)
{
	char *text = malloc(len + 1);

	memset(text, what, len);
	text[len] = '\0';
	edit(path, text);
	free(text);
}

static bool holds_large(const char *path, char what, size_t len)
{
	const struct buffer *b = buffers_find(&fs.buffers, str_of(path));

	return b && b->len == len && b->content[0] == what && b->content[len - 1] == what;
}

/* However much has changed, the loop writes little of it. */
START_TEST(a_turn_writes_little_on_the_loop)
{
	char path[16];

	for (int i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "%d.ts", i);
		edit_large(path, 'x', 250000);
	}
	edit_large("large.ts", 'y', 9000000);
	edit("small.ts", "z");
	commit_finish(&fs);
	ck_assert_uint_gt(all_bytes, 14000000);
	ck_assert_uint_gt(loop_bytes, 0);
	ck_assert_uint_lt(loop_bytes, BUFFERS_AT_ONCE_BYTES + 8192);
	end();
	begin();
	ck_assert_uint_eq(fs.buffers.by_path.count, 22);
	ck_assert(holds_large("19.ts", 'x', 250000));
	ck_assert(holds_large("large.ts", 'y', 9000000));
	ck_assert(holds("small.ts", "z"));
}
END_TEST

/* Nothing that is given to be told leaves before the buffers of its turn are there. */
START_TEST(answers_wait_for_what_is_written_beside)
{
	struct buf none = {0};

	pthread_mutex_lock(&gate);
	edit_large("large.ts", 'y', 9000000);
	event_base_loop(worker.base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
	ck_assert(fs.turn.writing);
	commit_publish(&fs, "", &none); /* no topic: the bus leaves it at that */
	for (int i = 0; i < 3; i++)
		event_base_loop(worker.base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
	ck_assert(fs.turn.writing);
	ck_assert_ptr_nonnull(fs.turn.first);
	pthread_mutex_unlock(&gate);
	commit_finish(&fs);
	ck_assert_ptr_null(fs.turn.first);
}
END_TEST

/* What happens to a buffer while it is written: it changes, it goes, it is there anew. */
START_TEST(buffers_change_while_they_are_written)
{
	pthread_mutex_lock(&gate);
	edit_large("changed.ts", 'a', 700000);
	edit_large("gone.ts", 'a', 700000);
	edit_large("anew.ts", 'a', 700000);
	edit_large("same.ts", 'a', 700000);
	event_base_loop(worker.base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
	ck_assert(fs.turn.writing);
	edit_large("changed.ts", 'b', 700000);
	edit("changed.ts", "c");
	buffers_remove(&fs.buffers, buffers_find(&fs.buffers, STR_LIT("gone.ts")));
	buffers_remove(&fs.buffers, buffers_find(&fs.buffers, STR_LIT("anew.ts")));
	edit("anew.ts", "new");
	pthread_mutex_unlock(&gate);
	commit_finish(&fs);
	end();
	begin();
	ck_assert_uint_eq(fs.buffers.by_path.count, 3);
	ck_assert(holds("changed.ts", "c"));
	ck_assert(holds("anew.ts", "new"));
	ck_assert(holds_large("same.ts", 'a', 700000));
}
END_TEST

START_TEST(the_journal_is_written_again)
{
	ck_assert(open_files_add(&fs.open_files, STR_LIT("a.ts"), 1));
	commit_work(&fs);
	run_until_synced(1);
	fail_until = syncs + 1;
	ck_assert(open_files_add(&fs.open_files, STR_LIT("b.ts"), 1));
	commit_work(&fs);
	run_until_synced(fail_until + 1);
	ck_assert(open_files_add(&fs.open_files, STR_LIT("c.ts"), 1));
	commit_work(&fs);
	run_until_synced(syncs + 1);
	ck_assert_int_eq(fs.turn.sync_error, 0);
	end();
	begin();
	ck_assert_uint_eq(fs.open_files.by_path.count, 3);
	ck_assert(open_files_find(&fs.open_files, STR_LIT("b.ts")));
}
END_TEST

START_TEST(a_disk_that_fails_for_long)
{
	edit("a.ts", "first");
	run_until_synced(1);
	fail_until = syncs + 3;
	edit("a.ts", "second");
	run_until_synced(fail_until - 1);
	ck_assert_int_eq(reports, 1);
	edit("a.ts", "third");
	run_until_synced(fail_until + 1);
	end();
	begin();
	ck_assert(holds("a.ts", "third"));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("commit");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_buffer_is_written_again);
	tcase_add_test(tc, a_large_edit_is_two_turns);
	tcase_add_test(tc, a_turn_writes_little_on_the_loop);
	tcase_add_test(tc, answers_wait_for_what_is_written_beside);
	tcase_add_test(tc, buffers_change_while_they_are_written);
	tcase_add_test(tc, the_journal_is_written_again);
	tcase_add_test(tc, a_disk_that_fails_for_long);
	return check_run(tc);
}
