/*
 * Tests of workers/fswatch/buffers/journal.h and open_files.h: what comes back after a crash that
 * tore the file at any byte.
 */
#include "common/base/log.h"
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include "workers/fswatch/buffers/buffers.h"
#include "workers/fswatch/buffers/open_files.h"

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

/* ---- the journal ---- */

static struct buf records;

static void on_record(void *arg, enum journal_type type, struct str data)
{
	(void)arg;
	buf_printf(&records, "%d:%.*s ", (int)type, STR_ARG(data));
}

static const char *read_journal(void)
{
	struct journal j;

	buf_clear(&records);
	ck_assert_int_eq(journal_open(&j, buffer_store.dir_fd, on_record, NULL), 0);
	journal_close(&j);
	buf_add_char(&records, '\0');
	return records.data;
}

static void add(struct journal *j, enum journal_type type, const char *text)
{
	journal_add(j, type, str_of(text), STR_LIT(""));
}

START_TEST(journal_keeps_frames)
{
	struct journal j;

	ck_assert_str_eq(read_journal(), "");
	ck_assert_int_eq(journal_open(&j, buffer_store.dir_fd, on_record, NULL), 0);
	ck_assert_int_eq(journal_commit(&j), 0);
	add(&j, JOURNAL_ROW, "one");
	journal_add(&j, JOURNAL_ROW, STR_LIT("tw"), STR_LIT("o"));
	add(&j, JOURNAL_CLEAR, "");
	ck_assert_int_eq(journal_commit(&j), 0);
	add(&j, JOURNAL_CLOSE, "lost, not committed");
	ck_assert_str_eq(read_journal(), "4:one 4:two 3: ");
	ck_assert_int_eq(journal_commit(&j), 0);
	ck_assert_str_eq(read_journal(), "4:one 4:two 3: 2:lost, not committed ");
	journal_restart(&j);
	add(&j, JOURNAL_ROW, "all that counts");
	ck_assert_int_eq(journal_replace(&j), 0);
	add(&j, JOURNAL_ROW, "and more");
	ck_assert_int_eq(journal_commit(&j), 0);
	journal_close(&j);
	ck_assert_str_eq(read_journal(), "4:all that counts 4:and more ");
}
END_TEST

START_TEST(journal_torn_at_every_byte)
{
	struct journal j;
	struct buf whole = {.data = NULL};
	size_t first;

	ck_assert_int_eq(journal_open(&j, buffer_store.dir_fd, on_record, NULL), 0);
	add(&j, JOURNAL_ROW, "one");
	add(&j, JOURNAL_ROW, "two");
	ck_assert_int_eq(journal_commit(&j), 0);
	first = (size_t)j.bytes;
	add(&j, JOURNAL_ROW, "three");
	ck_assert_int_eq(journal_commit(&j), 0);
	journal_close(&j);
	scratch_read(dir, "buffers/journal", &whole);
	for (size_t len = 0; len < whole.len; len++) {
		scratch_write_bytes(dir, "buffers/journal", whole.data, len);
		ck_assert_str_eq(read_journal(), len < first ? "" : "4:one 4:two ");
		/* What was torn is gone, so that what is added now is found. */
		ck_assert_int_eq(
			journal_open(&j, buffer_store.dir_fd, on_record, NULL), 0);
		add(&j, JOURNAL_ROW, "new");
		ck_assert_int_eq(journal_commit(&j), 0);
		journal_close(&j);
		ck_assert_str_eq(
			read_journal(), len < first ? "4:new " : "4:one 4:two 4:new ");
	}
	for (size_t at = 0; at < whole.len; at++) {
		whole.data[at] ^= 1;
		scratch_write_bytes(dir, "buffers/journal", whole.data, whole.len);
		ck_assert_str_eq(read_journal(), at < first ? "" : "4:one 4:two ");
		whole.data[at] ^= 1;
	}
	buf_free(&whole);
}
END_TEST

START_TEST(journal_on_a_full_disk)
{
	struct journal j;

	ck_assert_int_eq(journal_open(&j, buffer_store.dir_fd, on_record, NULL), 0);
	add(&j, JOURNAL_ROW, "one");
	ck_assert_int_eq(journal_commit(&j), 0);

	int good = j.fd;

	j.fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	add(&j, JOURNAL_ROW, "two");
	ck_assert_int_eq(
		journal_commit(&j), -ENOSPC); /* and logs that it cannot truncate */
	close(j.fd);
	j.fd = good;
	add(&j, JOURNAL_ROW, "three");
	ck_assert_int_eq(journal_commit(&j), 0);
	journal_close(&j);
	ck_assert_str_eq(read_journal(), "4:one 4:two 4:three ");
}
END_TEST

/* ---- open files ---- */

static void on_open_record(void *arg, enum journal_type type, struct str data)
{
	open_files_restore(arg, type, data);
}

static const char *names_of(const struct open_files *files)
{
	buf_clear(&records);
	for (const struct open_file *f = files->first; f; f = f->next)
		buf_printf(&records, "%s:%lld ", f->text, (long long)f->chars);
	buf_add_char(&records, '\0');
	return records.data;
}

START_TEST(open_files_come_back)
{
	struct journal j;
	struct open_files files = {.journal = &j};

	ck_assert_int_eq(
		journal_open(&j, buffer_store.dir_fd, on_open_record, &files), 0);
	ck_assert(open_files_add(&files, STR_LIT("a"), 1));
	ck_assert(open_files_add(&files, STR_LIT("b"), 2));
	ck_assert(open_files_add(&files, STR_LIT("c"), 3));
	ck_assert(open_files_add(&files, STR_LIT("a"), 9));
	ck_assert_str_eq(names_of(&files), "a:1 b:2 c:3 ");
	ck_assert(open_files_remove(&files, STR_LIT("b")));
	ck_assert(!open_files_remove(&files, STR_LIT("b")));
	ck_assert_int_eq(journal_commit(&j), 0);
	for (int i = 0; i < 2; i++) {
		open_files_fini(&files);
		journal_close(&j);
		files = (struct open_files){.journal = &j};
		ck_assert_int_eq(
			journal_open(&j, buffer_store.dir_fd, on_open_record, &files), 0);
		ck_assert_str_eq(names_of(&files), "a:1 c:3 ");
		journal_restart(&j);
		open_files_record(&files);
		ck_assert_int_eq(journal_replace(&j), 0);
	}
	/* As earlier versions wrote it. */
	journal_add(&j, JOURNAL_CLEAR, STR_LIT(""), STR_LIT(""));
	open_files_fini(&files);
	files = (struct open_files){.journal = &j};
	ck_assert(open_files_add(&files, STR_LIT("d"), 4));
	ck_assert_int_eq(journal_commit(&j), 0);
	open_files_fini(&files);
	journal_close(&j);
	files = (struct open_files){.journal = &j};
	ck_assert_int_eq(
		journal_open(&j, buffer_store.dir_fd, on_open_record, &files), 0);
	ck_assert_str_eq(names_of(&files), "d:4 ");
	open_files_fini(&files);
	journal_close(&j);
}
END_TEST

/* Nothing that is no file keeps a start waiting, or is thrown away. */
START_TEST(what_is_no_file_is_set_aside)
{
	struct journal j;
	struct open_files files = {.journal = &j};
	struct buffers buffers;
	struct buffer_store_file file;
	char name[80];

	buffer_store_file_init(&file, STR_LIT("a.ts"));
	snprintf(name, sizeof(name), "buffers/%s", file.name);
	ck_assert_int_eq(mkfifo(scratch_path(dir, name), 0600), 0);
	ck_assert_int_eq(mkfifo(scratch_path(dir, "buffers/journal"), 0600), 0);
	ck_assert_int_eq(
		journal_open(&j, buffer_store.dir_fd, on_open_record, &files), 0);
	ck_assert(scratch_exists(dir, "buffers/journal.broken"));
	ck_assert(open_files_add(&files, STR_LIT("a"), 1));
	ck_assert_int_eq(journal_commit(&j), 0);
	ck_assert_int_eq(buffers_init(&buffers, &buffer_store, 1), 0);
	/* One that comes later. */
	for (int i = 0; i < 2; i++) {
		struct buffer *b = buffers_set(&buffers, STR_LIT("a.ts"), STR_LIT("x"));

		ck_assert_ptr_nonnull(b);
		b->dirty = true;
		buffers_changed(&buffers, b);
		ck_assert_int_eq(buffers_flush(&buffers, NULL), 0); /* it is short */
		buffers_fini(&buffers);
		ck_assert_int_eq(buffers_init(&buffers, &buffer_store, 1), 0);
		ck_assert_uint_eq(buffers.by_path.count, 1);
		buffers_remove(&buffers, buffers.first);
		ck_assert_int_eq(mkfifo(scratch_path(dir, name), 0600), 0);
	}
	strncat(name, ".broken", sizeof(name) - strlen(name) - 1);
	ck_assert(scratch_exists(dir, name));
	buffers_fini(&buffers);
	open_files_fini(&files);
	journal_close(&j);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("journal");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, journal_keeps_frames);
	tcase_add_test(tc, journal_torn_at_every_byte);
	tcase_add_test(tc, journal_on_a_full_disk);
	tcase_add_test(tc, open_files_come_back);
	tcase_add_test(tc, what_is_no_file_is_set_aside);
	return check_run(tc);
}
