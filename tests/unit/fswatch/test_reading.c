/* Tests of long files that are read beside the loop: workers/fswatch/reading.h. */
#include "common/base/log.h"
#include "tests/check_run.h"
#include "tests/unit/job_gate.h"
#include "tests/unit/scratch.h"
#include "workers/fswatch/reading.h"

static char dir[SCRATCH_SIZE];
static struct event_base *base;
static struct worker worker;
static struct fswatch fs;
static struct bus_request requests[3];

void fswatch_report(struct fswatch *f)
{
	(void)f;
}

/* `lines` lines of 16 bytes. */
static void put_file(const char *name, size_t lines)
{
	struct buf text = {0};

	for (size_t i = 0; i < lines; i++)
		buf_add_str(&text, STR_LIT("0123456789abcde\n"));

	int fd = open(scratch_path(dir, name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text.data, text.len), text.len);
	close(fd);
	buf_free(&text);
}

#define LONG_LINES (READING_AT_ONCE_BYTES / 16 + 1)

static void setup(void)
{
	log_init("test", LOG_LEVEL_ERROR + 1);
	scratch_make(dir);
	scratch_mkdir(dir, "project");
	scratch_mkdir(dir, "data");
	base = event_base_new();
	memset(&fs, 0, sizeof(fs));
	ck_assert_int_eq(project_open(&fs.project, scratch_path(dir, "project"),
				 scratch_path(dir, "project")),
		0);
	ck_assert_int_eq(
		buffer_store_open(&fs.buffer_store, scratch_path(dir, "data")), 0);
	ck_assert_int_eq(buffers_init(&fs.buffers, &fs.buffer_store, 1), 0);
	worker.base = base;
	fs.worker = &worker;
	commit_init(&fs);
	fs.read_jobs = jobs_new(base);
	ck_assert_ptr_nonnull(fs.read_jobs);
	for (int i = 0; i < 3; i++)
		requests[i].deadline = mono_add_ms(clock_mono(), 60000);
	put_file("project/short.ts", 10);
	put_file("project/long.ts", LONG_LINES);
	put_file("project/other.ts", LONG_LINES);
}

static void teardown(void)
{
	jobs_free(fs.read_jobs);
	event_free(fs.turn.end);
	event_free(fs.turn.sync_timer);
	event_free(fs.turn.tidy_timer);
	buffers_fini(&fs.buffers);
	buffer_store_close(&fs.buffer_store);
	project_close(&fs.project);
	read_content_fini(&fs.content);
	for (int i = 0; i < 3; i++)
		arena_free(&requests[i].arena);
	event_base_free(base);
	scratch_remove(dir);
}

/* ---- the thread ---- */

static int runs; /* of its jobs, but the gate */

static struct job_gate gate;

/* ---- handlers ---- */

static char served[64]; /* the messages of the requests that were served, in order */

/* Wants the text of long.ts, as fs.excerpt does. */
static void serve(void *arg, struct bus_request *request, const void *message)
{
	const struct file_content *content;

	ck_assert_ptr_eq(arg, &fs);
	if (reading_text_first(
		    &fs, "long.ts", READING_AT_ONCE_BYTES, request, message, serve))
		return;
	strcat(served, message);
	ck_assert_int_eq(reading_content(&fs, "long.ts", &content), 0);
	ck_assert_uint_eq(content->line_count, LONG_LINES + 1);
	/* The loop itself has read nothing. */
	ck_assert_uint_eq(fs.content.raw.len, 0);
}

START_TEST(a_long_file_is_read_beside_the_loop)
{
	job_gate_close(&gate, fs.read_jobs);
	serve(&fs, &requests[0], "a");
	serve(&fs, &requests[1], "b");
	ck_assert(fswatch_reading(&fs, "long.ts", &requests[2], "c", serve));
	ck_assert(!fswatch_reading(&fs, "other.ts", &requests[2], "d", serve));
	event_base_loop(base, EVLOOP_NONBLOCK);
	ck_assert_str_eq(served, "");
	job_gate_open(&gate);
	ck_assert_str_eq(served, "abc");
	ck_assert(LIST_EMPTY(&fs.readings));
	ck_assert_ptr_null(fs.read);
}
END_TEST

static void serve_short(void *arg, struct bus_request *request, const void *message)
{
	const struct file_content *content;

	ck_assert_ptr_eq(arg, &fs);
	(void)request;
	strcat(served, message);
	ck_assert_int_eq(reading_content(&fs, "short.ts", &content), 0);
	ck_assert_uint_eq(content->line_count, 11);
}

START_TEST(a_short_file_is_read_at_once)
{
	const struct file_content *content;

	ck_assert(!reading_text_first(
		&fs, "short.ts", READING_AT_ONCE_BYTES, &requests[0], "a", serve));
	ck_assert(!reading_text_first(
		&fs, "none.ts", READING_AT_ONCE_BYTES, &requests[0], "a", serve));
	ck_assert_int_eq(reading_content(&fs, "short.ts", &content), 0);
	ck_assert_uint_eq(content->line_count, 11);
	ck_assert_int_eq(reading_content(&fs, "none.ts", &content), -ENOENT);
	/* Unless too much was read already. */
	ck_assert(reading_text_first(&fs, "short.ts", 0, &requests[0], "a", serve_short));
	jobs_drain(fs.read_jobs);
	ck_assert_str_eq(served, "a");
}
END_TEST

/* What is known of a file is not read again; an edit that comes first is based on it. */
static void serve_edit(void *arg, struct bus_request *request, const void *message)
{
	struct buffer *buffer = buffers_find(&fs.buffers, STR_LIT("long.ts"));

	ck_assert_ptr_eq(arg, &fs);
	ck_assert(fswatch_edit_looks(&fs, STR_LIT("long.ts")));
	if (reading_first(&fs, "long.ts", &buffer->disk, READING_AT_ONCE_BYTES, request,
		    message, serve_edit))
		return;
	fswatch_edit_begins(&fs, buffer);
	buffer->dirty = true;
	strcat(served, message);
}

START_TEST(an_edit_begins_with_what_was_read)
{
	struct buffer *buffer =
		buffers_set(&fs.buffers, STR_LIT("long.ts"), STR_LIT("edit"));
	struct disk disk = {0};
	bool read;

	job_gate_close(&gate, fs.read_jobs);
	serve_edit(&fs, &requests[0], "e");
	ck_assert(!buffer->based);
	job_gate_open(&gate);
	ck_assert_str_eq(served, "e");
	ck_assert_uint_eq(fs.content.raw.len, 0);
	ck_assert_int_eq(disk_look(&fs.project, "long.ts", &disk, &fs.content, &read), 0);
	ck_assert_str_eq(buffer->base, disk.version);
	buffer->disk.known = true;
	ck_assert(!disk_needs_reading(&fs.project, "long.ts", &buffer->disk, 0));
	put_file("project/long.ts", LONG_LINES + 1);
	ck_assert(disk_needs_reading(&fs.project, "long.ts", &buffer->disk, 0));
}
END_TEST

/* A saved buffer over a file that others have changed. */
static void serve_saved(void *arg, struct bus_request *request, const void *message)
{
	struct buffer *buffer = buffers_find(&fs.buffers, STR_LIT("long.ts"));

	if (reading_buffer_first(
		    arg, "long.ts", READING_AT_ONCE_BYTES, request, message, serve_saved))
		return;
	strcat(served, message);
	ck_assert_ptr_eq(fswatch_current(&fs, buffer), buffer);
}

START_TEST(a_saved_buffer_takes_over_what_was_read)
{
	const struct buffer *buffer =
		buffers_set(&fs.buffers, STR_LIT("long.ts"), STR_LIT("saved"));

	job_gate_close(&gate, fs.read_jobs);
	serve_saved(&fs, &requests[0], "s");
	ck_assert_uint_eq(buffer->len, 5);
	job_gate_open(&gate);
	ck_assert_str_eq(served, "s");
	ck_assert_uint_eq(fs.content.raw.len, 0);
	ck_assert_uint_eq(buffer->len, LONG_LINES * 16);
	ck_assert_int_eq(buffer->chars, LONG_LINES * 16);
	/* What is on disk already is not written down. */
	ck_assert(!buffer->unwritten);
	ck_assert_uint_eq(fs.turn.bytes, 0);
}
END_TEST

/* The file went while it waited to be read. */
static void serve_gone(void *arg, struct bus_request *request, const void *message)
{
	const struct file_content *content;
	struct disk disk;
	bool read;

	if (reading_text_first(
		    arg, "long.ts", READING_AT_ONCE_BYTES, request, message, serve_gone))
		return;
	strcat(served, message);
	ck_assert_int_eq(reading_content(&fs, "long.ts", &content), -ENOENT);
	ck_assert_int_eq(reading_look(&fs, "long.ts", &disk, &content, &read), 0);
	ck_assert(!read);
	ck_assert_str_eq(disk.version, "");
}

START_TEST(a_file_that_goes_meanwhile_is_gone)
{
	job_gate_close(&gate, fs.read_jobs);
	serve_gone(&fs, &requests[0], "g");
	ck_assert_int_eq(unlink(scratch_path(dir, "project/long.ts")), 0);
	job_gate_open(&gate);
	ck_assert_str_eq(served, "g");
}
END_TEST

/* A reading of a maker's own: `run` on the thread, `done` before those who wait. */
struct own {
	struct reading reading;
	int ran;
};

static void run_own(struct reading *reading)
{
	struct own *own = (struct own *)reading;

	own->ran = ++runs;
	ck_assert_int_eq(reading->content.chars, (int64_t)reading->content.text.len);
}

static void done_own(struct reading *reading)
{
	strcat(served, ((struct own *)reading)->ran ? "o" : "?");
}

START_TEST(who_waits_comes_after_the_one_who_reads)
{
	static const char *const names[] = {"long.ts", "short.ts"};

	job_gate_close(&gate, fs.read_jobs);
	for (int i = 0; i < 2; i++) {
		struct own *own = calloc(1, sizeof(*own));

		ck_assert_ptr_nonnull(own);
		own->reading.run = run_own;
		own->reading.done = done_own;
		reading_begin(&fs, &own->reading, names[i]);
	}
	ck_assert_str_eq(served, "o"); /* the short one */
	serve(&fs, &requests[0], "a");
	job_gate_open(&gate);
	ck_assert_str_eq(served, "ooa");
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("reading");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_long_file_is_read_beside_the_loop);
	tcase_add_test(tc, a_short_file_is_read_at_once);
	tcase_add_test(tc, an_edit_begins_with_what_was_read);
	tcase_add_test(tc, a_saved_buffer_takes_over_what_was_read);
	tcase_add_test(tc, a_file_that_goes_meanwhile_is_gone);
	tcase_add_test(tc, who_waits_comes_after_the_one_who_reads);
	return check_run(tc);
}
