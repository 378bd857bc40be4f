/* Lines, the last of them, and the files they end in. */
#include "common/base/log.h"
#include "supervisor/paiged/logs/lines.h"
#include "supervisor/paiged/logs/log_file.h"
#include "supervisor/paiged/logs/recent.h"
#include "supervisor/paiged/logs/tail.h"
#include "supervisor/shared/places.h"
#include "tests/check_run.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- lines ---- */

static void collect(void *arg, const char *line, size_t len)
{
	buf_add(arg, line, len);
	buf_add_char(arg, '|');
}

static const struct {
	const char *what;
	const char *pieces[6]; /* as they come */
	const char *expect;
} streams[] = {
	{"one line", {"a\n"}, "a|"},
	{"several at once", {"a\nbb\n\nccc\n"}, "a|bb||ccc|"},
	{"in pieces", {"a", "b", "\nc", "\n"}, "ab|c|"},
	{"no newline at the end", {"a\nb"}, "a|b|"},
	{"nothing", {""}, ""},
	{"newline alone in a piece", {"a", "\n", "\n"}, "a||"},
};

START_TEST(cuts_lines)
{
	struct lines l = {0};
	struct buf seen = {0};

	for (int i = 0; i < 6 && streams[_i].pieces[i]; i++)
		lines_feed(&l, streams[_i].pieces[i], strlen(streams[_i].pieces[i]),
			collect, &seen);
	lines_flush(&l, collect, &seen);
	buf_add_char(&seen, '\0');
	ck_assert_msg(strcmp(seen.data, streams[_i].expect) == 0, "%s: %s",
		streams[_i].what, seen.data);
	buf_free(&seen);
}
END_TEST

/* Whatever the size of the pieces, a long line becomes one line of LINES_MAX that says
 * so. */
START_TEST(cuts_long_lines)
{
	static const size_t sizes[] = {1, 7, 4096, LINES_MAX, LINES_MAX + 1, 100000};
	static char data[100000];
	struct lines l = {0};
	struct buf seen = {0};

	memset(data, 'x', sizeof(data));
	for (size_t at = 0; at < sizeof(data);) {
		size_t n = sizes[_i] < sizeof(data) - at ? sizes[_i] : sizeof(data) - at;

		lines_feed(&l, data + at, n, collect, &seen);
		at += n;
	}
	lines_feed(&l, "\nnext\n", 6, collect, &seen);
	ck_assert_uint_eq(seen.len, LINES_MAX + 1 + 5);
	ck_assert(memcmp(seen.data + LINES_MAX - strlen(LINES_CUT_MARK),
			  LINES_CUT_MARK "|next|", strlen(LINES_CUT_MARK) + 6) == 0);
	buf_free(&seen);
}
END_TEST

START_TEST(a_line_of_the_greatest_length_is_whole)
{
	static char data[LINES_MAX + 1];
	struct lines l = {0};
	struct buf seen = {0};

	memset(data, 'x', LINES_MAX);
	data[LINES_MAX] = '\n';
	lines_feed(&l, data, _i ? 100 : sizeof(data), collect, &seen);
	if (_i)
		lines_feed(&l, data + 100, sizeof(data) - 100, collect, &seen);
	ck_assert_uint_eq(seen.len, LINES_MAX + 1);
	ck_assert_ptr_null(memmem(seen.data, seen.len, "cut", 3));
	buf_free(&seen);
}
END_TEST

/* ---- tail ---- */

START_TEST(keeps_the_last_lines)
{
	static struct tail t;
	struct buf seen = {0};
	char line[32];

	tail_read(&t, 5, &seen);
	ck_assert_uint_eq(seen.len, 0);
	tail_add(&t, "a", 1);
	tail_add(&t, "bb", 2);
	tail_read(&t, 5, &seen);
	ck_assert(str_is(buf_str(&seen), "a\nbb\n"));
	buf_clear(&seen);
	tail_read(&t, 1, &seen);
	ck_assert(str_is(buf_str(&seen), "bb\n"));
	buf_clear(&seen);
	tail_read(&t, 0, &seen);
	ck_assert_uint_eq(seen.len, 0);
	for (int i = 0; i < 10000; i++) {
		snprintf(line, sizeof(line), "line %d", i);
		tail_add(&t, line, strlen(line));
	}
	tail_read(&t, 2, &seen);
	ck_assert(str_is(buf_str(&seen), "line 9998\nline 9999\n"));
	buf_free(&seen);
}
END_TEST

START_TEST(a_line_that_is_half_overwritten_is_left_out)
{
	static struct tail t;
	static char line[TAIL_BYTES];
	struct buf seen = {0};

	memset(line, 'x', sizeof(line));
	for (int i = 0; i < 20; i++)
		tail_add(&t, line, 1500);
	tail_read(&t, TAIL_LINES, &seen);
	ck_assert_uint_eq(seen.len % 1501, 0);
	ck_assert_uint_eq(seen.len / 1501, TAIL_BYTES / 1501);
	buf_free(&seen);
}
END_TEST

/* ---- wrapping ---- */

START_TEST(wraps_what_is_no_line_of_ours)
{
	static char out[LOG_LINE_MAX], big[3 * LOG_LINE_MAX];
	size_t n = log_wrap(out, "store", LOG_LEVEL_WARN, "*** \"smash\"\t***");

	ck_assert_int_eq(out[n - 1], '\n');
	out[n - 1] = '\0';
	ck_assert_ptr_nonnull(strstr(
		out, "Z level=warn worker=store msg=\"*** \\\"smash\\\"\\x09***\""));
	memset(big, '\\', sizeof(big) - 1);
	n = log_wrap(out, "store", LOG_LEVEL_WARN, big);
	ck_assert_uint_eq(n, LOG_LINE_MAX);
	ck_assert_int_eq(out[n - 1], '\n');
}
END_TEST

static const struct {
	const char *line;
	enum log_level level;
} levels[] = {
	{"ts=x level=error worker=a msg=b\n", LOG_LEVEL_ERROR},
	{"ts=x level=warn worker=a msg=\" level=error\"\n", LOG_LEVEL_WARN},
	{"ts=x level=info", LOG_LEVEL_INFO},
	{"ts=x level=debug\n", LOG_LEVEL_DEBUG},
	{"ts=x level=", LOG_LEVEL_INFO},
	{"ts=x level=errors worker=a\n", LOG_LEVEL_INFO},
	{"level=error\n", LOG_LEVEL_INFO},
	{"", LOG_LEVEL_INFO},
};

START_TEST(finds_the_level_of_a_line)
{
	ck_assert_int_eq(log_level_of_line(levels[_i].line, strlen(levels[_i].line)),
		levels[_i].level);
}
END_TEST

/* ---- files ---- */

static char scratch[64];

static void set_up(void)
{
	strcpy(scratch, "/tmp/paige-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(scratch));
	ck_assert_int_eq(chdir(scratch), 0);
	ck_assert_int_eq(mkdir("logs", 0700), 0);
}

static void tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", scratch);
	ck_assert_int_eq(system(command), 0);
}

static struct mono at(int64_t ms)
{
	return (struct mono){ms * 1000};
}

static void expect(const char *path, const char *content)
{
	char text[4096] = "";
	FILE *file = fopen(path, "r");

	if (!content) {
		ck_assert_msg(file == NULL, "%s is there", path);
		return;
	}
	ck_assert_msg(file != NULL, "%s is not there", path);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	ck_assert_msg(strcmp(text, content) == 0, "%s: \"%s\", expected \"%s\"", path,
		text, content);
}

static void put(struct log_file *s, const char *text, int64_t ms)
{
	log_file_write(s, text, strlen(text), 1, at(ms));
}

START_TEST(rotates_by_renaming)
{
	struct log_file s;

	log_file_open(&s, "logs", "a", at(1));
	s.max_bytes = 8;
	for (char c = '1'; c <= '7'; c++) {
		char line[] = {c, c, c, c, c, '\n', '\0'};

		put(&s, line, 1);
	}
	expect("logs/a.log", "77777\n");
	expect("logs/a.log.1", "66666\n");
	expect("logs/a.log.4", "33333\n");
	expect("logs/a.log.5", NULL);
	put(&s, "x\n", 1);
	expect("logs/a.log", "77777\nx\n");
	log_file_close(&s);
	/* A restart goes on where it was. */
	log_file_open(&s, "logs", "a", at(1));
	s.max_bytes = 8;
	put(&s, "y\n", 1);
	expect("logs/a.log", "y\n");
	expect("logs/a.log.1", "77777\nx\n");
	log_file_close(&s);
}
END_TEST

START_TEST(one_batch_larger_than_the_limit_is_written_whole)
{
	struct log_file s;

	log_file_open(&s, "logs", "a", at(1));
	s.max_bytes = 4;
	put(&s, "a long line\n", 1);
	expect("logs/a.log", "a long line\n");
	expect("logs/a.log.1", NULL);
	log_file_close(&s);
}
END_TEST

START_TEST(a_deleted_file_is_made_again)
{
	struct log_file s;

	log_file_open(&s, "logs", "a", at(1));
	put(&s, "one\n", 1);
	ck_assert_int_eq(system("rm -r logs"), 0);
	put(&s, "two\n", 1);
	expect("logs/a.log", "two\n");
	log_file_close(&s);
}
END_TEST

/* A directory in place of the file stands for a disk that does not take it: it works for
 * root too. */
START_TEST(what_cannot_be_written_is_dropped_counted_and_told)
{
	struct log_file s;
	char text[4096];
	FILE *file;

	ck_assert_int_eq(mkdir("logs/a.log", 0700), 0);
	log_file_open(&s, "logs", "a", at(1));
	put(&s, "one\n", 1);
	put(&s, "two\n", 2);
	ck_assert_uint_eq(s.dropped_total, 2);
	ck_assert_int_eq(rmdir("logs/a.log"), 0);
	put(&s, "three\n", LOG_FILE_RETRY_MS);
	ck_assert_uint_eq(s.dropped_total, 3);
	put(&s, "four\n", LOG_FILE_RETRY_MS + 1);
	ck_assert_uint_eq(s.dropped_total, 3);
	file = fopen("logs/a.log", "r");
	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	ck_assert_ptr_nonnull(strstr(text, "3 lines are missing here"));
	ck_assert_str_eq(text + strlen(text) - 5, "four\n");
	log_file_close(&s);
}
END_TEST

START_TEST(a_link_is_not_followed)
{
	struct log_file s;

	ck_assert_int_eq(symlink("../elsewhere", "logs/a.log"), 0);
	log_file_open(&s, "logs", "a", at(1));
	put(&s, "one\n", 1);
	ck_assert_uint_eq(s.dropped_total, 1);
	expect("elsewhere", NULL);
	log_file_close(&s);
}
END_TEST

/* ---- what is shown of the files ---- */

static const struct {
	const char *raw, *shown;
} safe_lines[] = {
	{"", ""},
	{"plain\ttext", "plain\ttext"},
	{"\x1b[31mred\x07", "?[31mred?"},
	{"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
	{"\xff\xfe.", "??."},
	{"cut \xe2\x82", "cut ??"},
	{"\xe2\x80\xaeturned", "?turned"},
	{"\xc2\x9b", "?"},
	{"\x7f", "?"},
};

START_TEST(a_line_is_made_safe_to_show)
{
	struct arena arena = {0};
	struct str shown = recent_safe(str_of(safe_lines[_i].raw), &arena);

	ck_assert_msg(str_is(shown, safe_lines[_i].shown), "%.*s", STR_ARG(shown));
	arena_free(&arena);
}
END_TEST

#define PAGE_LINE "ts=x level=%s worker=a msg=\"%d\"\n"

/* Lines from..to of a.log, each tenth an error. */
static void put_lines(struct log_file *s, int from, int to)
{
	char line[64];

	for (int i = from; i < to; i++) {
		snprintf(line, sizeof(line), PAGE_LINE, i % 10 ? "info" : "error", i);
		put(s, line, 1);
	}
}

/* "3 4 5" of the page that answers; its first and next into *page. */
static const char *page_of(
	const struct log_file *s, struct recent_query query, struct recent_page *page)
{
	static char text[8192];
	struct arena arena = {0};
	size_t used = 0;
	int n;

	recent_read(s->path, s->base, &query, page, &arena);
	text[0] = '\0';
	for (size_t i = 0; i < page->lines.count; i++) {
		const char *msg =
			strstr(arena_cstr(&arena, page->lines.items[i]), "msg=");

		ck_assert_ptr_nonnull(msg);
		ck_assert_int_eq(sscanf(msg, "msg=\"%d\"", &n), 1);
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%d", i ? " " : "", n);
		ck_assert_uint_lt(used, sizeof(text));
	}
	arena_free(&arena);
	return text;
}

START_TEST(a_page_has_the_last_lines_by_level)
{
	struct recent_query query = {.lines = 3, .after = -1, .before = -1};
	struct recent_page page;
	struct log_file s;

	log_file_open(&s, "logs", "a", at(1));
	ck_assert_str_eq(page_of(&s, query, &page), "");
	ck_assert_int_eq(page.first, -1);
	ck_assert_int_eq(page.next, 0);
	put_lines(&s, 0, 40);
	ck_assert_str_eq(page_of(&s, query, &page), "37 38 39");
	ck_assert_int_eq(page.next, s.size);
	ck_assert(!page.missed);
	query.level = LOG_LEVEL_ERROR;
	ck_assert_str_eq(page_of(&s, query, &page), "10 20 30");
	query.before = page.first;
	ck_assert_str_eq(page_of(&s, query, &page), "0");
	ck_assert_int_eq(page.first, -1);
	query.lines = 0;
	ck_assert_str_eq(page_of(&s, query, &page), "");
	log_file_close(&s);
}
END_TEST

/* Each line comes once, however often the file is rotated between two questions. */
START_TEST(a_follower_gets_every_line_of_rotated_files)
{
	struct recent_query query = {.lines = 500, .after = 0, .before = -1};
	struct recent_page page;
	struct log_file s;
	char expected[64];

	log_file_open(&s, "logs", "a", at(1));
	s.max_bytes = 200; /* five lines */
	for (int i = 0; i < 60; i += 3) {
		put_lines(&s, i, i + 3);
		snprintf(expected, sizeof(expected), "%d %d %d", i, i + 1, i + 2);
		ck_assert_str_eq(page_of(&s, query, &page), expected);
		ck_assert(!page.missed);
		query.after = page.next;
		ck_assert_str_eq(page_of(&s, query, &page), "");
		ck_assert_int_eq(page.next, query.after);
	}
	put_lines(&s, 60, 100);
	page_of(&s, query, &page);
	ck_assert(page.missed);
	log_file_close(&s);
}
END_TEST

/* And those that are still there can be gone through backwards, also after a new start. */
START_TEST(older_pages_reach_into_rotated_files)
{
	struct recent_query query = {.lines = 4, .after = -1, .before = -1};
	struct recent_page page;
	struct log_file s;
	int least = 40, n, got;

	log_file_open(&s, "logs", "a", at(1));
	s.max_bytes = 200;
	put_lines(&s, 0, 40);
	log_file_close(&s);
	log_file_open(&s, "logs", "a", at(1));
	for (int pages = 0; least > 0 && pages < 20; pages++) {
		const char *text = page_of(&s, query, &page);
		int want = least - 1;

		for (got = 0; sscanf(text, "%d", &n) == 1; got++) {
			least = got == 0 ? n : least;
			want = n;
			text = strchr(text, ' ') ? strchr(text, ' ') + 1 : "";
		}
		ck_assert_int_ge(got, 1);
		ck_assert_int_eq(want - least, got - 1);
		if (page.first < 0)
			break;
		query.before = page.first;
	}
	/* Five files of at most five lines are kept. */
	ck_assert_int_ge(least, 40 - LOG_FILES * 5);
	ck_assert_int_le(least, 40 - (LOG_FILES - 1) * 5);
	log_file_close(&s);
}
END_TEST

START_TEST(a_page_is_bounded_and_says_what_it_leaves_out)
{
	struct recent_query query = {.lines = 1000000, .after = 0, .before = -1};
	struct recent_page page;
	struct arena arena = {0};
	struct log_file s;

	log_file_open(&s, "logs", "a", at(1));
	put_lines(&s, 0, 20000);
	ck_assert_int_gt(s.size, RECENT_BYTES_MAX);
	recent_read(s.path, s.base, &query, &page, &arena);
	ck_assert_uint_eq(page.lines.count, RECENT_LINES_MAX);
	ck_assert(page.missed);
	ck_assert_int_eq(page.next, s.size);
	/* Cut by somebody: a position behind the end is told. */
	ck_assert_int_eq(truncate(s.path, 0), 0);
	query.after = page.next;
	recent_read(s.path, s.base, &query, &page, &arena);
	ck_assert(page.missed);
	ck_assert_int_eq(page.next, 0);
	/* A line that is not whole yet waits. */
	ck_assert_int_eq(write(s.fd, "half", 4), 4);
	query.after = 0;
	recent_read(s.path, s.base, &query, &page, &arena);
	ck_assert_uint_eq(page.lines.count, 0);
	ck_assert_int_eq(page.next, 0);
	arena_free(&arena);
	log_file_close(&s);
}
END_TEST

int main(void)
{
	TCase *pure = tcase_create("lines");
	TCase *files = tcase_create("files");

	check_add_table(pure, cuts_lines, streams);
	tcase_add_loop_test(pure, cuts_long_lines, 0, 6);
	tcase_add_loop_test(pure, a_line_of_the_greatest_length_is_whole, 0, 2);
	tcase_add_test(pure, keeps_the_last_lines);
	tcase_add_test(pure, a_line_that_is_half_overwritten_is_left_out);
	tcase_add_test(pure, wraps_what_is_no_line_of_ours);
	check_add_table(pure, finds_the_level_of_a_line, levels);
	tcase_add_checked_fixture(files, set_up, tear_down);
	tcase_add_test(files, rotates_by_renaming);
	tcase_add_test(files, one_batch_larger_than_the_limit_is_written_whole);
	tcase_add_test(files, a_deleted_file_is_made_again);
	tcase_add_test(files, what_cannot_be_written_is_dropped_counted_and_told);
	tcase_add_test(files, a_link_is_not_followed);
	check_add_table(pure, a_line_is_made_safe_to_show, safe_lines);
	tcase_add_test(files, a_page_has_the_last_lines_by_level);
	tcase_add_test(files, a_follower_gets_every_line_of_rotated_files);
	tcase_add_test(files, older_pages_reach_into_rotated_files);
	tcase_add_test(files, a_page_is_bounded_and_says_what_it_leaves_out);
	return check_run(pure, files);
}
