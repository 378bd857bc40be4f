/*
 * Tests of what a loss of power leaves of saved files, unsaved text and the journal:
 * workers/fswatch/buffers/save.h, in_place.h, buffer_store.h, journal.h. At every time, and in
 * every order in which the disk may have been written (power.h), what a start of the daemon does
 * is done, and done again after power was lost in the middle of that.
 */
#include "common/base/log.h"
#include "tests/check_run.h"
#include "tests/unit/fswatch/power.h"
#include "workers/fswatch/buffers/buffers.h"
#include "workers/fswatch/buffers/in_place.h"
#include "workers/fswatch/buffers/journal.h"
#include "workers/fswatch/buffers/save.h"

#define MAX_PROMISES 16

static char dir[SCRATCH_SIZE];
static char root[SCRATCH_SIZE + 8], first[SCRATCH_SIZE + 8], second[SCRATCH_SIZE + 8];
static struct power before, during; /* the loss of power; the start after the first one */
static struct project project;
static struct buffer_store buffer_store;
static struct buffers buffers;
static struct journal journal;

/* ---- what was promised ---- */

/* A text that was saved, or typed: what is there must not be older than what was promised
 * last, and not newer than what has begun. */
struct promise {
	const char *key, *text;
	mode_t mode;
	int begun, kept; /* times; INT_MAX: not promised */
};

struct promises {
	struct promise all[MAX_PROMISES];
	int count;
};

static struct promises saves, edits, rows;
static int lost_at;		  /* the time that is looked at */
static size_t states, starts_cut; /* how much was tried */

static struct promise *promise(
	struct promises *p, const char *key, const char *text, mode_t mode)
{
	ck_assert_int_lt(p->count, MAX_PROMISES);
	p->all[p->count] = (struct promise){.key = key,
		.text = text,
		.mode = mode,
		.begun = before.time,
		.kept = INT_MAX};
	return &p->all[p->count++];
}

/* The last text of a key that must be there, or NULL. */
static const struct promise *kept(const struct promises *p, const char *key)
{
	const struct promise *last = NULL;

	for (int i = 0; i < p->count; i++)
		if (strcmp(p->all[i].key, key) == 0 && p->all[i].kept <= lost_at)
			last = &p->all[i];
	return last;
}

static bool allowed(const struct promises *p, const char *key, struct str text)
{
	const struct promise *last = kept(p, key);

	for (int i = last ? (int)(last - p->all) : 0; i < p->count; i++)
		if (strcmp(p->all[i].key, key) == 0 && str_is(text, p->all[i].text) &&
			(&p->all[i] == last || p->all[i].begun < lost_at))
			return true;
	return false;
}

/* ---- what is done ---- */

static void file_there(const char *key, const char *text, mode_t mode)
{
	scratch_write(scratch_path(root, "project"), key, text);
	ck_assert_int_eq(
		chmod(scratch_path(scratch_path(root, "project"), key), mode), 0);
	promise(&saves, key, text, mode)->kept = 0;
}

static void on_record(void *arg, enum journal_type type, struct str data)
{
	(void)arg;
	(void)type;
	(void)data;
	ck_abort_msg("the journal is empty");
}

static void begin(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/project", root);
	ck_assert_int_eq(project_open(&project, path, NULL), 0);
	power_on(&before, root);
	ck_assert_int_eq(buffer_store_open(&buffer_store, root), 0);
	ck_assert_int_eq(journal_open(&journal, buffer_store.dir_fd, on_record, NULL), 0);
	ck_assert_int_eq(buffers_init(&buffers, &buffer_store, 1), 0);
}

static void save_as(const char *key, const char *text, mode_t mode)
{
	struct save save = {
		.key = key, .text = str_of(text), .record_dir = buffer_store.dir_fd};
	struct promise *p = promise(&saves, key, text, mode);

	ck_assert_int_eq(save_file(&project, &save), 0);
	p->kept = before.time;
}

static void type(const char *key, const char *text)
{
	struct buffer *buffer;

	promise(&edits, key, text, 0);
	buffer = buffers_set(&buffers, str_of(key), str_of(text));
	ck_assert_ptr_nonnull(buffer);
	buffer->dirty = true;
	buffers_changed(&buffers, buffer);
	ck_assert_int_eq(buffers_flush(&buffers, NULL), 0);
}

static void log_row(const char *text)
{
	promise(&rows, "journal", text, 0);
	journal_add(&journal, JOURNAL_ROW, str_of(text), str_of(""));
	ck_assert_int_eq(journal_commit(&journal), 0);
}

static void keep_last(struct promises *p, const char *key)
{
	for (int i = p->count; i-- > 0;)
		if (strcmp(p->all[i].key, key) == 0) {
			p->all[i].kept = before.time;
			return;
		}
}

/* As commit.c does once a second. */
static void sync_all(const char *key)
{
	struct buffer *buffer = buffers_find(&buffers, str_of(key));
	int fd = buffer_store_sync_start(&buffer_store, &buffer->file);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fdatasync(fd), 0);
	ck_assert_int_eq(fdatasync(journal.fd), 0);
	ck_assert_int_eq(fsync(buffer_store.dir_fd), 0);
	buffer_store_synced(&buffer->file, true);
	close(fd);
	keep_last(&edits, key);
	keep_last(&rows, "journal");
}

/* ---- what must be there ---- */

static const char *now_in; /* the directory that is looked at */

static const char *in_project(const char *key)
{
	return scratch_path(scratch_path(now_in, "project"), key);
}

static void look_at_file(const char *key)
{
	const struct promise *last = kept(&saves, key);
	struct buf bytes = {.data = NULL};
	struct stat st;

	if (stat(in_project(key), &st) < 0) {
		ck_assert_msg(!last, "at %d: %s is gone", lost_at, key);
		return;
	}
	scratch_read(scratch_path(now_in, "project"), key, &bytes);
	ck_assert_msg(allowed(&saves, key, buf_str(&bytes)), "at %d: %s holds \"%.*s\"",
		lost_at, key, STR_ARG(buf_str(&bytes)));
	for (int i = 0; i < saves.count; i++)
		if (str_is(buf_str(&bytes), saves.all[i].text) &&
			strcmp(saves.all[i].key, key) == 0)
			ck_assert_msg((st.st_mode & 07777) == saves.all[i].mode,
				"at %d: %s has mode %o", lost_at, key, st.st_mode);
	buf_free(&bytes);
}

static void look_at_edits(const char *key)
{
	const struct promise *last = kept(&edits, key);
	const struct buffer *buffer = buffers_find(&buffers, str_of(key));

	ck_assert_msg(buffer || !last, "at %d: unsaved text is gone", lost_at);
	if (buffer)
		ck_assert_msg(buffer->dirty &&
				      allowed(&edits, key,
					      (struct str){buffer->content, buffer->len}),
			"at %d: unsaved text is \"%.*s\"", lost_at, (int)buffer->len,
			buffer->content);
}

/* Rows are there from the first to some row, without a gap. */
static void take_row(void *arg, enum journal_type type, struct str data)
{
	int *row = arg;

	ck_assert_int_eq(type, JOURNAL_ROW);
	ck_assert_int_lt(*row, rows.count);
	ck_assert(str_is(data, rows.all[(*row)++].text));
}

static void look(void *arg);

/* A start of the daemon, in its order, with a look at what it finds. */
static void start_in(const char *place)
{
	struct power *recorded = power_recording;
	char path[256];
	int found = 0;

	snprintf(path, sizeof(path), "%s/project", place);
	ck_assert_int_eq(project_open(&project, path, NULL), 0);
	ck_assert_int_eq(buffer_store_open(&buffer_store, place), 0);
	ck_assert_int_eq(in_place_recover(buffer_store.dir_fd, &project), 0);
	power_recording = NULL;
	now_in = place;
	ck_assert_int_eq(
		journal_open(&journal, buffer_store.dir_fd, take_row, &found), 0);
	for (int i = found; i < rows.count; i++)
		ck_assert_msg(rows.all[i].kept > lost_at, "a row is gone");
	ck_assert_int_eq(buffers_init(&buffers, &buffer_store, 1), 0);
	for (int i = 0; i < saves.count; i++)
		look_at_file(saves.all[i].key);
	for (int i = 0; i < edits.count; i++)
		look_at_edits(edits.all[i].key);
	buffers_fini(&buffers);
	journal_close(&journal);
	buffer_store_close(&buffer_store);
	project_close(&project);
	power_recording = recorded;
}

static void look(void *arg)
{
	const char *place = arg;

	if (place == second) {
		starts_cut++;
		start_in(second);
		return;
	}
	states++;
	power_on(&during, first);
	start_in(first);
	power_recording = NULL;
	/* A start that changes nothing cannot be cut off. */
	for (int time = 1; time < during.time; time++)
		power_each(&during, time, second, look, second);
	power_free(&during);
}

static void lose_power(size_t at_least)
{
	power_recording = NULL;
	buffers_fini(&buffers);
	journal_close(&journal);
	buffer_store_close(&buffer_store);
	project_close(&project);
	for (lost_at = 0; lost_at <= before.time; lost_at++)
		power_each(&before, lost_at, first, look, first);
	fprintf(stderr, "%zu states, %zu of starts that were cut off\n", states,
		starts_cut);
	ck_assert_uint_ge(states, at_least);
}

/* ---- tests ---- */

static void setup(void)
{
	log_init("test", LOG_LEVEL_ERROR);
	scratch_make(dir);
	snprintf(root, sizeof(root), "%s/root", dir);
	snprintf(first, sizeof(first), "%s/first", dir);
	snprintf(second, sizeof(second), "%s/second", dir);
	scratch_mkdir(dir, "root");
	scratch_mkdir(root, "project");
	saves.count = edits.count = rows.count = 0;
	states = starts_cut = 0;
}

static void teardown(void)
{
	power_free(&before);
	scratch_remove(dir);
}

START_TEST(a_file_is_replaced)
{
	file_there("a.ts", "old text", 0750);
	begin();
	save_as("a.ts", "new text, which is longer", 0750);
	save_as("a.ts", "", 0750);
	save_as("a.ts", "third", 0750);
	lose_power(100);
}
END_TEST

START_TEST(a_new_file)
{
	begin();
	save_as("a.ts", "first text", 0644);
	save_as("b.ts", "another", 0644);
	lose_power(40);
}
END_TEST

START_TEST(a_new_file_in_new_directories)
{
	begin();
	save_as("src/deep/a.ts", "text", 0644);
	save_as("src/b.ts", "more", 0644);
	lose_power(40);
}
END_TEST

START_TEST(a_link_is_kept)
{
	file_there("a.ts", "old text", 0600);
	scratch_link(scratch_path(root, "project"), "a.ts", "link.ts");
	begin();
	save_as("link.ts", "new text", 0600);
	saves.all[1].key = "a.ts";
	lose_power(20);
}
END_TEST

START_TEST(a_file_with_two_names)
{
	file_there("a.ts", "old text", 0640);
	ck_assert_int_eq(link(scratch_path(scratch_path(root, "project"), "a.ts"),
				 scratch_path(scratch_path(root, "project"), "b.ts")),
		0);
	begin();
	save_as("a.ts", "a new text", 0640);
	if (!getenv("PAIGE_QUICK"))
		save_as("a.ts", "short", 0640);
	lose_power(100);
	ck_assert_uint_gt(starts_cut, 100);
}
END_TEST

START_TEST(unsaved_text_and_rows)
{
	file_there("a.ts", "old text", 0644);
	begin();
	type("a.ts", "one");
	log_row("first row");
	sync_all("a.ts");
	type("a.ts", "two, longer");
	type("a.ts", "three");
	log_row("second row");
	sync_all("a.ts");
	type("a.ts", "four");
	save_as("a.ts", "four", 0644);
	log_row("third row");
	lose_power(400);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("power_loss");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, a_file_is_replaced);
	tcase_add_test(tc, a_new_file);
	tcase_add_test(tc, a_new_file_in_new_directories);
	tcase_add_test(tc, a_link_is_kept);
	tcase_add_test(tc, a_file_with_two_names);
	tcase_add_test(tc, unsaved_text_and_rows);
	return check_run(tc);
}
