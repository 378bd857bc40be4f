/* Tests of workers/agent/session_record.h. */
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include "workers/agent/session_record.h"
#include <signal.h>
#include <sys/resource.h>

#define ID "0190b0b0-0000-7000-8000-000000000001"
#define NAME ID RECORD_ENDING
#define NOTHING ((struct str){NULL, 0})

/* ---- lines ---- */

static const struct line_case {
	const char *what, *line;
	bool right;
} line_cases[] = {
	{"a folder", "f\"/p/one\"", true},
	{"a folder with a newline in its name", "f\"/p/o\\nne\"", true},
	{"a folder without a name", "f\"\"", false},
	{"a folder that no path can be", "f\"/p\\u0000/one\"", false},
	{"a folder that is not quoted", "f/p/one", false},
	{"that it is known", "k", true},
	{"that it is known, and more", "k1", false},
	{"a count", "d12", true},
	{"no count", "d", false},
	{"a count that is none", "d-1", false},
	{"a count that is too long", "d1234567890123456789", false},
	{"a start", "s", true},
	{"a message", "m{}", true},
	{"a result", "r{\"a\":1}", true},
	{"an end", "x{\"a\":1}", true},
	{"half a message", "m{\"a\"", false},
	{"a message that is none", "m", false},
	{"nothing", "", false},
	{"an unknown line", "z", false},
};

START_TEST(takes_right_lines_only)
{
	const struct line_case *c = &line_cases[_i];
	struct record_state state = {.known = false};
	char folder[PATH_MAX] = "";

	ck_assert_msg(
		record_take(str_of(c->line), &state, folder) == c->right, "%s", c->what);
	ck_assert_msg(c->right || (!state.known && !state.running && !folder[0] &&
					  state.history.count == 0),
		"%s changes nothing", c->what);
	history_fini(&state.history);
}
END_TEST

/* What lines come to, as known, running, and how many messages. */
static const struct state_case {
	const char *what, *lines;
	bool known, running;
	size_t messages;
} state_cases[] = {
	{"nothing happened", "f\"/p\"\n", false, false, 0},
	{"it was started", "f\"/p\"\ns\n", false, true, 0},
	{"it was started and wrote", "f\"/p\"\ns\nm{}\n", false, true, 1},
	{"its first turn has ended", "f\"/p\"\ns\nm{}\nr{}\n", true, true, 2},
	{"it has ended before", "f\"/p\"\ns\nm{}\nx{}\n", false, false, 2},
	{"it was started again", "f\"/p\"\ns\nr{}\nx{}\ns\n", true, true, 2},
	{"a client said that it is known", "f\"/p\"\nk\n", true, false, 0},
};

START_TEST(says_how_it_stands)
{
	const struct state_case *c = &state_cases[_i];
	struct record_state state = {.known = false}, same = {.known = false};
	char dir[SCRATCH_SIZE], folder[PATH_MAX];
	struct record record;
	struct buf lines = {0};
	int dir_fd;

	scratch_make(dir);
	dir_fd = open(dir, O_PATH | O_DIRECTORY);
	scratch_write(dir, NAME, c->lines);
	ck_assert_int_eq(record_open(&record, dir_fd, ID, &state, folder), 0);
	ck_assert_str_eq(folder, "/p");
	ck_assert_msg(state.known == c->known, "%s: known", c->what);
	ck_assert_msg(state.running == c->running, "%s: running", c->what);
	ck_assert_msg(state.history.count == c->messages, "%s: messages", c->what);
	/* What is written anew says the same. */
	record_render(folder, &state, &lines);
	ck_assert_int_eq(record_replace(&record, dir_fd, ID, buf_str(&lines)), 0);
	record_close(&record);
	ck_assert_int_eq(record_open(&record, dir_fd, ID, &same, folder), 0);
	ck_assert_str_eq(folder, "/p");
	ck_assert_msg(same.known == c->known && same.running == c->running &&
			      same.history.count == c->messages,
		"%s: anew", c->what);
	record_close(&record);
	history_fini(&state.history);
	history_fini(&same.history);
	buf_free(&lines);
	close(dir_fd);
	scratch_remove(dir);
}
END_TEST

/* ---- the file ---- */

static const char whole[] = "f\"/p\"\ns\nm{\"n\":1}\nr{\"n\":2}\nx{\"n\":3}\n";

/* A worker can be killed after any byte: each line that was written to its end counts,
 * and the next one stands on a line of its own. */
START_TEST(holds_what_was_written_before_the_kill)
{
	char dir[SCRATCH_SIZE], folder[PATH_MAX];
	int dir_fd;

	scratch_make(dir);
	dir_fd = open(dir, O_PATH | O_DIRECTORY);
	for (size_t len = 0; len < sizeof(whole); len++) {
		struct record_state state = {.known = false}, after = {.known = false};
		struct record record;
		size_t messages = 0;
		int r;

		for (size_t i = 0; i < len; i++)
			messages += whole[i] == '\n';
		scratch_write_bytes(dir, NAME, whole, len);
		r = record_open(&record, dir_fd, ID, &state, folder);
		ck_assert_msg(r == (messages ? 0 : -EBADMSG), "%zu bytes: %d", len, r);
		if (r < 0)
			continue;
		messages = messages > 2 ? messages - 2 : 0;
		ck_assert_msg(state.history.count == messages, "%zu bytes", len);
		ck_assert_int_eq(record_add(&record, RECORD_MESSAGE, STR_LIT("{}")), 0);
		record_close(&record);
		ck_assert_int_eq(record_open(&record, dir_fd, ID, &after, folder), 0);
		ck_assert_msg(after.history.count == messages + 1, "%zu bytes", len);
		record_close(&record);
		history_fini(&state.history);
		history_fini(&after.history);
	}
	close(dir_fd);
	scratch_remove(dir);
}
END_TEST

START_TEST(begins_goes_on_and_is_removed)
{
	struct record record = {.fd = -1};
	struct record_state state = {.known = false};
	char dir[SCRATCH_SIZE], folder[PATH_MAX];
	struct stat st;
	int dir_fd;

	scratch_make(dir);
	dir_fd = open(dir, O_PATH | O_DIRECTORY);
	ck_assert_int_eq(record_replace(&record, dir_fd, ID, STR_LIT("f\"/p\"\n")), 0);
	ck_assert_int_eq(record_add(&record, RECORD_START, NOTHING), 0);
	ck_assert_int_eq(record_add(&record, RECORD_RESULT, STR_LIT("{\"n\":1}")), 0);
	ck_assert(scratch_holds(dir, NAME, "f\"/p\"\ns\nr{\"n\":1}\n"));
	ck_assert_uint_eq(record.bytes, strlen("f\"/p\"\ns\nr{\"n\":1}\n"));
	ck_assert_int_eq(stat(scratch_path(dir, NAME), &st), 0);
	ck_assert_msg((st.st_mode & 077) == 0, "it is its owner's alone");
	record_close(&record);
	ck_assert_int_eq(record_open(&record, dir_fd, ID, &state, folder), 0);
	ck_assert(str_is(history_at(&state.history, 0), "{\"n\":1}"));
	record_remove(&record, dir_fd, ID);
	ck_assert(!scratch_exists(dir, NAME));
	ck_assert_int_eq(record.fd, -1);
	ck_assert_int_eq(record_open(&record, dir_fd, ID, &state, folder), -ENOENT);
	history_fini(&state.history);
	close(dir_fd);
	scratch_remove(dir);
}
END_TEST

START_TEST(counts_what_is_not_kept)
{
	struct record_state state = {.known = false};
	char folder[PATH_MAX];
	struct buf lines = {0};

	for (int i = 0; i < HISTORY_MAX_EVENTS + 7; i++)
		ck_assert(record_take(STR_LIT("m{}"), &state, folder));
	record_render("/p", &state, &lines);
	history_fini(&state.history);
	state = (struct record_state){.known = false};
	for (struct str rest = buf_str(&lines), line; str_take_line(&rest, &line);)
		ck_assert(record_take(line, &state, folder));
	ck_assert_uint_eq(state.history.count, HISTORY_MAX_EVENTS);
	ck_assert_uint_eq(state.history.dropped, 7);
	history_fini(&state.history);
	buf_free(&lines);
}
END_TEST

/* The limit on the size of a file stands for a disk that is full. */
START_TEST(is_whole_after_a_line_that_did_not_fit)
{
	struct record record = {.fd = -1};
	char dir[SCRATCH_SIZE];
	struct rlimit limit;
	int dir_fd;

	scratch_make(dir);
	dir_fd = open(dir, O_PATH | O_DIRECTORY);
	ck_assert_int_eq(record_replace(&record, dir_fd, ID, STR_LIT("f\"/p\"\n")), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 10;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(
		record_add(&record, RECORD_MESSAGE, STR_LIT("{\"n\":1}")), -ENOSPC);
	ck_assert(record.behind);
	ck_assert(scratch_holds(dir, NAME, "f\"/p\"\n"));
	ck_assert_int_eq(
		record_replace(&record, dir_fd, ID, STR_LIT("f\"/p\"\nm{\"n\":1}\n")),
		-EFBIG);
	ck_assert_msg(scratch_holds(dir, NAME, "f\"/p\"\n"), "what was there stays");
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(record_add(&record, RECORD_START, NOTHING), -ESTALE);
	ck_assert_int_eq(
		record_replace(&record, dir_fd, ID, STR_LIT("f\"/p\"\nm{\"n\":1}\n")), 0);
	ck_assert_int_eq(record_add(&record, RECORD_START, NOTHING), 0);
	ck_assert(scratch_holds(dir, NAME, "f\"/p\"\nm{\"n\":1}\ns\n"));
	record_close(&record);
	close(dir_fd);
	scratch_remove(dir);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("agent_record");

	check_add_table(tests, takes_right_lines_only, line_cases);
	check_add_table(tests, says_how_it_stands, state_cases);
	tcase_add_test(tests, holds_what_was_written_before_the_kill);
	tcase_add_test(tests, begins_goes_on_and_is_removed);
	tcase_add_test(tests, counts_what_is_not_kept);
	tcase_add_test(tests, is_whole_after_a_line_that_did_not_fit);
	return check_run(tests);
}
