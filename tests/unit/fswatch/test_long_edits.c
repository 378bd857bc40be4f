/* Tests of long edits, which are copied and counted beside the loop (workers/fswatch/serve_buffers.c). The bus
 * goes nowhere (tests/fuzz/bus_stub.h): of what the worker serves it keeps the handler, and which requests were answered. */
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include "tests/check_run.h"
#include "tests/fuzz/bus_stub.h"
#include "tests/unit/job_gate.h"
#include "tests/unit/scratch.h"
#include "workers/fswatch/reading.h"

#define LONG_BYTES 9600000

static char dir[SCRATCH_SIZE];
static struct event_base *base;
static struct worker worker;
static struct fswatch fs;
static struct job_gate gate;

/* ---- the bus, for who serves ---- */

static struct bus_request requests[8];
static bus_serve_fn *serve_update;
static char answered[16], refused[16]; /* numbers of requests, in order */

static void note(char *list, const struct bus_request *request)
{
	list[strlen(list)] = (char)('0' + (request - requests));
}

void bus_serve(struct bus *bus, enum method method, bus_serve_fn *fn, void *arg)
{
	(void)bus;
	(void)arg;
	if (method == METHOD_FS_BUFFER_UPDATE)
		serve_update = fn;
}

void bus_answer(struct bus_request *request, struct str body)
{
	(void)body;
	note(answered, request);
}

void bus_answer_taking(struct bus_request *request, struct buf *body)
{
	bus_answer(request, buf_str(body));
	buf_free(body);
}

void bus_answer_error(struct bus_request *request, const char *code, struct str context,
	const char *format, ...)
{
	(void)code;
	(void)context;
	(void)format;
	note(refused, request);
}

void bus_publish(struct bus *bus, const char *topic, struct str body)
{
	(void)bus;
	(void)topic;
	(void)body;
}

void worker_die(struct worker *w, enum worker_exit code)
{
	(void)w;
	(void)code;
	abort();
}

void fswatch_report(struct fswatch *f)
{
	(void)f;
}

/* ---- the worker ---- */

static char *long_text;

static void on_sent(void *arg)
{
	(void)arg;
}

static void on_record(void *arg, enum journal_type type, struct str data)
{
	(void)arg;
	(void)type;
	(void)data;
}

static void put_file(const char *name, size_t bytes)
{
	int fd = open(scratch_path(dir, name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, long_text, bytes), bytes);
	close(fd);
}

static void setup(void)
{
	log_init("test", LOG_LEVEL_ERROR + 1);
	scratch_make(dir);
	scratch_mkdir(dir, "project");
	scratch_mkdir(dir, "data");
	long_text = malloc(LONG_BYTES);
	memset(long_text, 'x', LONG_BYTES);
	base = event_base_new();
	worker.base = base;
	fs.worker = &worker;
	ck_assert_int_eq(project_open(&fs.project, scratch_path(dir, "project"),
				 scratch_path(dir, "project")),
		0);
	ck_assert_int_eq(
		buffer_store_open(&fs.buffer_store, scratch_path(dir, "data")), 0);
	ck_assert_int_eq(
		journal_open(&fs.journal, fs.buffer_store.dir_fd, on_record, NULL), 0);
	ck_assert_int_eq(buffers_init(&fs.buffers, &fs.buffer_store, 1), 0);
	action_queue_init(&fs.action_queue, base, NULL, &fs.journal, on_sent, NULL);
	fs.jobs = jobs_new(base);
	fs.write_jobs = jobs_new(base);
	fs.read_jobs = jobs_new(base);
	commit_init(&fs);
	serve_buffers_init(&fs);
	for (int i = 0; i < 8; i++)
		requests[i].deadline = mono_add_ms(clock_mono(), 600000);
}

static void teardown(void)
{
	jobs_free(fs.read_jobs);
	commit_finish(&fs);
	jobs_free(fs.write_jobs);
	jobs_free(fs.jobs);
	event_free(fs.turn.end);
	event_free(fs.turn.sync_timer);
	event_free(fs.turn.tidy_timer);
	action_queue_fini(&fs.action_queue);
	buffers_fini(&fs.buffers);
	journal_close(&fs.journal);
	buffer_store_close(&fs.buffer_store);
	project_close(&fs.project);
	read_content_fini(&fs.content);
	for (int i = 0; i < 8; i++)
		arena_free(&requests[i].arena);
	event_base_free(base);
	free(long_text);
	scratch_remove(dir);
}

/* ---- edits ---- */

static struct buffer_update updates[8];

static void edit(int number, const char *path, struct str content)
{
	updates[number] =
		(struct buffer_update){.path = str_of(path), .content = content};
	serve_update(&fs, &requests[number], &updates[number]);
}

static void edit_long(int number, const char *path)
{
	edit(number, path, (struct str){long_text, LONG_BYTES});
}

static const struct buffer *buffer_of(const char *path)
{
	return buffers_find(&fs.buffers, str_of(path));
}

static bool holds(const char *path, struct str text)
{
	const struct buffer *b = buffer_of(path);

	return b && b->dirty && str_eq((struct str){b->content, b->len}, text);
}

/* While the thread has not been there the loop has copied nothing, whatever is long. */
START_TEST(a_long_edit_is_copied_beside_the_loop)
{
	job_gate_close(&gate, fs.read_jobs);
	edit_long(0, "a.ts");
	edit_long(1, "b.ts");
	ck_assert_ptr_null(buffer_of("a.ts"));
	ck_assert_ptr_null(buffer_of("b.ts"));
	ck_assert_uint_eq(fs.turn.bytes, 0);
	/* A short one of another file does not wait. */
	edit(2, "c.ts", STR_LIT("short"));
	ck_assert(holds("c.ts", STR_LIT("short")));
	event_base_loop(base, EVLOOP_NONBLOCK);
	ck_assert_str_eq(answered, "2");

	job_gate_open(&gate);
	ck_assert(holds("a.ts", (struct str){long_text, LONG_BYTES}));
	ck_assert(holds("b.ts", (struct str){long_text, LONG_BYTES}));
	ck_assert_int_eq(buffer_of("a.ts")->chars, LONG_BYTES);
	commit_finish(&fs);
	ck_assert_str_eq(answered, "201");
	ck_assert_str_eq(refused, "");
}
END_TEST

/* The last edit of a file is the one that counts, however long those before it were. */
START_TEST(a_short_edit_does_not_overtake_a_long_one)
{
	job_gate_close(&gate, fs.read_jobs);
	edit_long(0, "a.ts");
	edit(1, "a.ts", STR_LIT("second"));
	edit_long(2, "a.ts");
	edit(3, "a.ts", STR_LIT("fourth"));
	ck_assert_ptr_null(buffer_of("a.ts"));
	job_gate_open(&gate);
	for (int i = 0; i < 10 && !LIST_EMPTY(&fs.readings); i++)
		jobs_drain(fs.read_jobs);
	ck_assert(LIST_EMPTY(&fs.readings));
	ck_assert(holds("a.ts", STR_LIT("fourth")));
	commit_finish(&fs);
	ck_assert_str_eq(answered, "0123");
}
END_TEST

/* An edit is based on the file as it was when the edit came, also when it is taken in later. */
START_TEST(a_long_edit_is_based_on_what_was_there)
{
	struct disk before = {0};
	bool read;

	put_file("project/a.ts", 100);
	ck_assert_int_eq(disk_look(&fs.project, "a.ts", &before, &fs.content, &read), 0);
	job_gate_close(&gate, fs.read_jobs);
	edit_long(0, "a.ts");
	put_file("project/a.ts", 200);
	job_gate_open(&gate);
	ck_assert(holds("a.ts", (struct str){long_text, LONG_BYTES}));
	ck_assert(buffer_of("a.ts")->based);
	ck_assert_str_eq(buffer_of("a.ts")->base, before.version);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("long_edits");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_long_edit_is_copied_beside_the_loop);
	tcase_add_test(tc, a_short_edit_does_not_overtake_a_long_one);
	tcase_add_test(tc, a_long_edit_is_based_on_what_was_there);
	return check_run(tc);
}
