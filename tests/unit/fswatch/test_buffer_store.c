/*
 * Tests of what survives a crash: workers/fswatch/buffers/buffer_store.h and buffers.h. Files are torn
 * at every byte, and processes are killed while they write.
 */
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include "workers/fswatch/buffers/buffers.h"
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

static char dir[SCRATCH_SIZE];
static char data_dir[SCRATCH_SIZE + 16];
static struct buffer_store buffer_store;

static void setup(void)
{
	log_init("test", LOG_LEVEL_ERROR);
	scratch_make(dir);
	snprintf(data_dir, sizeof(data_dir), "%s", dir);
	ck_assert_int_eq(buffer_store_open(&buffer_store, data_dir), 0);
}

static void teardown(void)
{
	buffer_store_close(&buffer_store);
	scratch_remove(dir);
}

/* ---- buffers ---- */

static struct buffer *update(struct buffers *b, const char *path, const char *content)
{
	struct buffer *buffer = buffers_set(b, str_of(path), str_of(content));

	ck_assert_ptr_nonnull(buffer);
	buffer->dirty = true;
	buffers_changed(b, buffer);
	return buffer;
}

/* Writes all that has changed, as the loop and the thread do together. */
static int flush(struct buffers *b)
{
	struct buffer_writes beside = STAILQ_HEAD_INITIALIZER(beside);
	int error = buffers_flush(b, &beside), written;

	buffers_write(&beside);
	written = buffers_written(b, &beside);
	return error ? error : written;
}

static bool holds(const struct buffers *b, const char *path, const char *content)
{
	const struct buffer *buffer = buffers_find(b, str_of(path));

	return buffer &&
	       str_eq((struct str){buffer->content, buffer->len}, str_of(content));
}

START_TEST(buffers_come_back)
{
	struct buffers b, again;
	struct buffer *buffer;

	ck_assert_int_eq(buffers_init(&b, &buffer_store, 1), 0);
	update(&b, "src/a.ts", "one");
	buffer = update(&b, "src/a.ts", "two \xf0\x9f\xa6\x84");
	buffer->line = 7;
	buffer->column = 9;
	buffer->updated = (struct wall){1234567};
	buffers_base(buffer, "0123456789abcdef0123456789abcdef");
	buffer->log = (struct buffer_log){10, 3};
	ck_assert_int_eq(buffer->chars, 6);
	buffers_base(update(&b, "empty", ""), (char[HASH_VERSION_SIZE]){""});
	update(&b, "clean.ts", "saved")->dirty = false;
	update(&b, "gone.ts", "x");
	ck_assert_int_eq(flush(&b), 0);
	ck_assert(LIST_EMPTY(&b.unwritten));
	buffers_remove(&b, buffers_find(&b, STR_LIT("gone.ts")));
	buffers_fini(&b);

	/* The worker was started anew. */
	ck_assert_int_eq(buffers_init(&again, &buffer_store, 1), 0);
	ck_assert_uint_eq(again.by_path.count, 3);
	ck_assert(holds(&again, "src/a.ts", "two \xf0\x9f\xa6\x84"));
	ck_assert(holds(&again, "empty", ""));
	ck_assert(holds(&again, "clean.ts", "saved"));
	ck_assert(!buffers_find(&again, STR_LIT("clean.ts"))->based);
	ck_assert(buffers_find(&again, STR_LIT("empty"))->based);
	ck_assert_str_eq(buffers_find(&again, STR_LIT("empty"))->base, "");
	buffer = buffers_find(&again, STR_LIT("src/a.ts"));
	ck_assert(buffer->based);
	ck_assert_str_eq(buffer->base, "0123456789abcdef0123456789abcdef");
	ck_assert_int_eq(buffer->line, 7);
	ck_assert_int_eq(buffer->column, 9);
	ck_assert(buffer->dirty);
	ck_assert_int_eq(buffer->updated.us, 1234567);
	ck_assert_int_eq(buffer->log.logged_chars, 10);
	ck_assert_int_eq(buffer->log.edits, 3);
	ck_assert_int_eq(buffer->chars, 6);
	ck_assert(!buffers_find(&again, STR_LIT("clean.ts"))->dirty);
	buffers_fini(&again);

	/* The daemon was started anew: only what is not saved comes back. */
	ck_assert_int_eq(buffers_init(&again, &buffer_store, 2), 0);
	ck_assert_uint_eq(again.by_path.count, 2);
	ck_assert(!buffers_find(&again, STR_LIT("clean.ts")));
	while (again.first)
		buffers_remove(&again, again.first);
	buffers_fini(&again);
	ck_assert_int_eq(buffers_init(&again, &buffer_store, 2), 0);
	ck_assert_uint_eq(again.by_path.count, 0);
	buffers_fini(&again);
}
END_TEST

START_TEST(many_buffers_and_few_descriptors)
{
	struct buffers b;
	char path[32];

	ck_assert_int_eq(buffers_init(&b, &buffer_store, 1), 0);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 1000; i++) {
			snprintf(path, sizeof(path), "f%d.ts", i);
			update(&b, path, path + round);
			if (i % 10 == 0)
				ck_assert_int_eq(flush(&b), 0);
		}
	ck_assert_int_eq(flush(&b), 0);

	int fd = dup(0);

	ck_assert_int_lt(fd, BUFFER_STORE_OPEN_FILES + 20);
	close(fd);
	buffers_fini(&b);
	ck_assert_int_eq(buffers_init(&b, &buffer_store, 2), 0);
	ck_assert_uint_eq(b.by_path.count, 1000);
	ck_assert(holds(&b, "f999.ts", "99.ts"));
	while (b.first)
		buffers_remove(&b, b.first);
	buffers_fini(&b);
}
END_TEST

/* A record as versions before wrote it: without a base. */
START_TEST(old_records_are_read)
{
	struct {
		char magic[8];
		uint64_t number, epoch;
		uint32_t path_bytes, content_bytes;
		int64_t line, column, updated_us, chars, logged_chars, edits;
		uint32_t dirty, covered;
		struct hash_sum sum;
		char text[9];
	} r = {"PAIGEBF1", 1, 1, 4, 5, 3, 4, 99, 5, 0, 1, 1, 0, {{0}}, "a.ts"};
	const struct str pieces[] = {{(const char *)&r, 104}, {r.text, 9}};
	struct buffer_store_file file;
	struct buffers b;
	char name[80];

	memcpy(r.text + 4, "words", 5);
	r.sum = hash_sum(pieces, 2);
	buffer_store_file_init(&file, STR_LIT("a.ts"));
	snprintf(name, sizeof(name), "buffers/%s", file.name);
	scratch_write_bytes(dir, name, (const char *)&r, 104 + 9);
	ck_assert_int_eq(buffers_init(&b, &buffer_store, 2), 0);
	ck_assert(holds(&b, "a.ts", "words"));
	ck_assert(buffers_find(&b, STR_LIT("a.ts"))->dirty);
	ck_assert(!buffers_find(&b, STR_LIT("a.ts"))->based);
	/* The next record is one of today's. */
	buffers_base(update(&b, "a.ts", "more"), (char[HASH_VERSION_SIZE]){""});
	ck_assert_int_eq(flush(&b), 0);
	buffers_fini(&b);
	ck_assert_int_eq(buffers_init(&b, &buffer_store, 3), 0);
	ck_assert(holds(&b, "a.ts", "more"));
	ck_assert(buffers_find(&b, STR_LIT("a.ts"))->based);
	buffers_fini(&b);
}
END_TEST

/* Since no session's end clears them away, saved files must not shut out unsaved ones. */
START_TEST(clean_buffers_make_room)
{
	struct buffers b;
	char path[32];

	ck_assert_int_eq(buffers_init(&b, &buffer_store, 1), 0);
	for (int i = 0; i < BUFFERS_MAX; i++) {
		snprintf(path, sizeof(path), "f%d.ts", i);
		update(&b, path, "x")->dirty = i % 5000 != 7;
	}
	update(&b, "new.ts", "unsaved");
	ck_assert(!buffers_find(&b, STR_LIT("f7.ts")));
	ck_assert(holds(&b, "f5007.ts", "x"));
	update(&b, "newer.ts", "unsaved");
	ck_assert(!buffers_find(&b, STR_LIT("f5007.ts")));
	ck_assert_ptr_null(buffers_set(&b, STR_LIT("one-more.ts"), STR_LIT("x")));
	ck_assert(holds(&b, "new.ts", "unsaved"));
	ck_assert_uint_eq(b.by_path.count, BUFFERS_MAX);
	ck_assert_uint_eq(b.bytes, BUFFERS_MAX - 2 + 2 * strlen("unsaved"));
	buffers_fini(&b);
}
END_TEST

START_TEST(limits)
{
	struct buffers b;
	size_t half = BUFFER_STORE_MAX_CONTENT;
	char *text = malloc(half + 1);

	memset(text, 'x', half + 1);
	ck_assert_int_eq(buffers_init(&b, &buffer_store, 1), 0);
	ck_assert_ptr_null(buffers_set(&b, STR_LIT("a"), (struct str){text, half + 1}));
	ck_assert_ptr_null(buffers_find(&b, STR_LIT("a")));
	ck_assert_ptr_nonnull(buffers_set(&b, STR_LIT("a"), (struct str){text, half}));
	buffers_find(&b, STR_LIT("a"))->dirty = true;
	b.bytes = BUFFERS_MAX_BYTES - 10; /* as if others had the rest */
	ck_assert_ptr_null(buffers_set(&b, STR_LIT("b"), (struct str){text, 11}));
	ck_assert_ptr_nonnull(buffers_set(&b, STR_LIT("b"), (struct str){text, 10}));
	ck_assert_ptr_nonnull(buffers_set(&b, STR_LIT("a"), (struct str){text, 100}));
	ck_assert_uint_lt(buffers_find(&b, STR_LIT("a"))->cap, 1000);
	buffers_fini(&b);
	free(text);
}
END_TEST

/* A content that was made beside the loop is neither copied nor counted again. */
START_TEST(a_content_is_taken_over)
{
	struct buffers b;
	struct buf content = {0};
	const char *data;
	struct buffer *buffer;

	ck_assert_int_eq(buffers_init(&b, &buffer_store, 1), 0);
	buffer = buffers_set(&b, STR_LIT("a.ts"), STR_LIT("one\ntwo\nthree"));
	ck_assert_int_eq(buffers_lines(buffer), 3);
	buf_add_str(&content, STR_LIT("four\n"));
	data = content.data;
	ck_assert_ptr_eq(buffers_take(&b, STR_LIT("a.ts"), &content, 1000), buffer);
	ck_assert_ptr_eq(buffer->content, data);
	ck_assert_ptr_null(content.data);
	ck_assert_int_eq(buffer->chars, 1000);
	ck_assert_int_eq(buffers_lines(buffer), 2);
	ck_assert_uint_eq(b.bytes, 5);
	/* What does not fit stays where it is. */
	content.data = malloc(BUFFER_STORE_MAX_CONTENT + 1);
	content.len = content.cap = BUFFER_STORE_MAX_CONTENT + 1;
	ck_assert_ptr_null(buffers_take(&b, STR_LIT("a.ts"), &content, 0));
	ck_assert_ptr_nonnull(content.data);
	ck_assert_ptr_eq(buffer->content, data);
	buf_free(&content);
	buffers_fini(&b);
}
END_TEST

START_TEST(a_full_disk_loses_nothing_that_was_written)
{
	struct buffers b;

	ck_assert_int_eq(buffers_init(&b, &buffer_store, 1), 0);
	update(&b, "a", "one");
	ck_assert_int_eq(flush(&b), 0);
	update(&b, "a", "two");
	buffers_find(&b, STR_LIT("a"))->file.fd = open("/dev/full", O_RDWR);
	ck_assert_int_eq(flush(&b), -ENOSPC);
	ck_assert_msg(!LIST_EMPTY(&b.unwritten), "it is tried again");
	ck_assert(holds(&b, "a", "two"));
	buffers_fini(&b);
	ck_assert_int_eq(buffers_init(&b, &buffer_store, 1), 0);
	ck_assert(holds(&b, "a", "one"));
	buffers_fini(&b);
}
END_TEST

/* ---- torn files ---- */

static int loaded_number;

static void on_loaded(void *arg, const struct buffer_store_record *r,
	const struct buffer_store_file *file)
{
	(void)arg;
	(void)file;
	ck_assert(str_is(r->path, "src/a.ts"));
	loaded_number = atoi(r->content.ptr + 7);
	ck_assert(str_starts(r->content, "number "));
}

/* Which record comes back; 0 for none. */
static int load(void)
{
	loaded_number = 0;
	ck_assert_int_eq(buffer_store_load(&buffer_store, on_loaded, NULL), 0);
	return loaded_number;
}

static int write_record(
	struct buffer_store_file *file, const struct buffer_store_record *record)
{
	struct buffer_store_write write;
	int error = buffer_store_begin(&buffer_store, file, record, &write);

	if (!error)
		error = buffer_store_put(&write);
	if (!error)
		buffer_store_put_done(file, &write);
	return error;
}

static void write_number(struct buffer_store_file *file, int number)
{
	char content[64];

	snprintf(content, sizeof(content), "number %d of some text", number);

	const struct buffer_store_record record = {
		.path = STR_LIT("src/a.ts"), .content = str_of(content), .dirty = true};

	ck_assert_int_eq(write_record(file, &record), 0);
}

START_TEST(slots_are_taken_by_turns)
{
	struct buffer_store_file file;

	buffer_store_file_init(&file, STR_LIT("src/a.ts"));
	write_number(&file, 1);
	ck_assert_int_eq(load(), 1);

	int first = file.last, fd = buffer_store_sync_start(&buffer_store, &file);

	ck_assert_int_ge(fd, 0);
	close(fd);
	for (int i = 2; i < 10; i++) {
		int before = file.last;

		write_number(&file, i);
		ck_assert_int_ne(file.last, first);
		ck_assert_int_ne(file.last, before);
		ck_assert_int_eq(load(), i);
	}
	buffer_store_synced(&file, true);
	ck_assert_int_eq(file.synced, first);
	fd = buffer_store_sync_start(&buffer_store, &file);
	close(fd);
	for (int i = 10; i < 20; i++) {
		write_number(&file, i);
		ck_assert_int_ne(file.last, first);
		ck_assert_int_ne(file.last, file.syncing);
		ck_assert_int_eq(load(), i);
	}
	buffer_store_synced(&file, false);
	ck_assert_int_eq(file.synced, first);
	ck_assert(file.unsynced);
	buffer_store_file_fini(&buffer_store, &file);
}
END_TEST

START_TEST(torn_at_every_byte)
{
	struct buffer_store_file file;
	struct buf whole = {.data = NULL};
	char name[80];
	int seen[3] = {0, 0, 0};

	buffer_store_file_init(&file, STR_LIT("src/a.ts"));
	write_number(&file, 1);
	snprintf(name, sizeof(name), "buffers/%s", file.name);
	scratch_read(dir, name, &whole);
	ck_assert_uint_lt(whole.len, 1000);
	for (size_t len = 0; len < whole.len; len++) {
		scratch_write_bytes(dir, name, whole.data, len);
		ck_assert_msg(load() == 0, "%zu bytes", len);
	}
	for (size_t at = 0; at < whole.len; at++) {
		whole.data[at] ^= 0x10;
		scratch_write_bytes(dir, name, whole.data, whole.len);
		ck_assert_msg(load() == 0, "byte %zu", at);
		whole.data[at] ^= 0x10;
	}
	scratch_write_bytes(dir, name, whole.data, whole.len);
	ck_assert_int_eq(load(), 1);

	/* With another record before it, that one comes back. */
	buffer_store_file_fini(
		&buffer_store, &file); /* it was set aside under another name */
	write_number(&file, 2);

	off_t second = (off_t)BUFFER_STORE_SLOT_BYTES * file.last;
	int fd = open(scratch_path(dir, name), O_RDWR | O_CLOEXEC);

	for (size_t at = 0; at < whole.len; at++) {
		char byte;

		ck_assert_int_eq(pread(fd, &byte, 1, second + (off_t)at), 1);
		byte ^= 0x10;
		ck_assert_int_eq(pwrite(fd, &byte, 1, second + (off_t)at), 1);
		seen[load()]++;
		byte ^= 0x10;
		ck_assert_int_eq(pwrite(fd, &byte, 1, second + (off_t)at), 1);
	}
	ck_assert_int_eq(seen[1], (int)whole.len);
	ck_assert_int_eq(load(), 2);
	ck_assert_int_eq(ftruncate(fd, second + (off_t)whole.len - 1), 0);
	ck_assert_int_eq(load(), 1);
	close(fd);
	buf_free(&whole);
	buffer_store_file_fini(&buffer_store, &file);
}
END_TEST

static void write_numbers(int report_fd)
{
	struct buffer_store_file file;
	static char content[100000];

	buffer_store_file_init(&file, STR_LIT("src/a.ts"));
	for (int number = 1;; number++) {
		int len = snprintf(content, sizeof(content), "number %d ", number);

		memset(content + len, 'a' + number % 26, sizeof(content) - (size_t)len);

		const struct buffer_store_record record = {.path = STR_LIT("src/a.ts"),
			.content = {content, (size_t)(number % 5 + 1) * 20000},
			.dirty = true};

		if (write_record(&file, &record) ||
			write(report_fd, &number, sizeof(number)) != sizeof(number))
			_exit(1);
	}
}

START_TEST(killed_while_it_writes)
{
	for (int round = 0; round < 40; round++) {
		int pipe_fds[2], number = 0, next;
		struct buffer_store_file file;

		buffer_store_file_init(&file, STR_LIT("src/a.ts"));
		ck_assert_int_eq(buffer_store_remove(&buffer_store, &file), 0);
		ck_assert_int_eq(pipe(pipe_fds), 0);

		pid_t pid = fork();

		if (pid == 0)
			write_numbers(pipe_fds[1]);
		close(pipe_fds[1]);
		usleep(2000 + (useconds_t)round * 137);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		while (read(pipe_fds[0], &next, sizeof(next)) == sizeof(next))
			number = next;
		close(pipe_fds[0]);

		int have = load();

		ck_assert_msg(have == number || have == number + 1, "%d instead of %d",
			have, number);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("buffer_store");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, buffers_come_back);
	tcase_add_test(tc, many_buffers_and_few_descriptors);
	tcase_add_test(tc, old_records_are_read);
	tcase_add_test(tc, clean_buffers_make_room);
	tcase_add_test(tc, limits);
	tcase_add_test(tc, a_content_is_taken_over);
	tcase_add_test(tc, a_full_disk_loses_nothing_that_was_written);
	tcase_add_test(tc, slots_are_taken_by_turns);
	tcase_add_test(tc, torn_at_every_byte);
	tcase_add_test(tc, killed_while_it_writes);
	return check_run(tc);
}
