/* The small things everything stands on: arena, buf, clock, ids, log. */
#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/file_io.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "common/base/private_file.h"
#include "tests/check_run.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(arena_gives_aligned_zeroed_memory)
{
	struct arena a = {0};

	for (size_t size = 0; size < 5000; size = size * 2 + 1) {
		unsigned char *p = arena_alloc(&a, size);

		ck_assert_uint_eq((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			ck_assert_uint_eq(p[i], 0);
		memset(p, 0xAA, size);
	}
	arena_reset(&a);
	ck_assert_str_eq(arena_printf(&a, "%d-%s", 7, "x").ptr, "7-x");
	ck_assert_ptr_null(arena_str(&a, (struct str){0}).ptr);
	arena_alloc(&a, 3u * 1024 * 1024);
	arena_reset(&a);
	arena_free(&a);
	ck_assert_ptr_null(a.blocks);
}
END_TEST

START_TEST(buf_escapes_json)
{
	static const struct {
		const char *what, *in, *out;
		size_t len;
	} cases[] = {
		{"plain", "abc", "\"abc\"", 3},
		{"empty", "", "\"\"", 0},
		{"quotes and backslash", "a\"b\\c", "\"a\\\"b\\\\c\"", 5},
		{"controls", "\n\r\t\x01\x1f", "\"\\n\\r\\t\\u0001\\u001f\"", 5},
		{"NUL inside", "a\0b", "\"a\\u0000b\"", 3},
		{"two, three, four bytes", "\xC5\xBE\xE2\x82\xAC\xF0\x9F\xA6\x84",
			"\"\xC5\xBE\xE2\x82\xAC\xF0\x9F\xA6\x84\"", 9},
		{"surrogate half", "\xED\xA0\x80",
			"\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"", 3},
		{"overlong", "\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"", 2},
		{"cut at the end", "a\xE2\x82", "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"", 3},
		{"beyond Unicode", "\xF4\x90\x80\x80",
			"\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"", 4},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = {0};

		buf_add_json_string(&b, (struct str){cases[i].in, cases[i].len});
		ck_assert_msg(str_is(buf_str(&b), cases[i].out), "%s: %.*s",
			cases[i].what, STR_ARG(buf_str(&b)));
		buf_free(&b);
	}
}
END_TEST

START_TEST(upper_and_lower_case_may_count_as_equal)
{
	static const struct {
		const char *a, *b;
		bool same, starts;
	} cases[] = {
		{"Host", "hOST", true, true},
		{"HTTPS://x", "https://", false, true},
		{"https:/", "https://", false, false},
		{"", "", true, true},
		{"", "a", false, false},
		{"a", "", false, true},
		/* Only letters of ASCII have two cases. */
		{"[", "{", false, false},
		{"\xC3\x84", "\xC3\xA4", false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str a = str_of(cases[i].a);

		ck_assert_msg(str_is_nocase(a, cases[i].b) == cases[i].same, "%zu", i);
		ck_assert_msg(
			str_eq_nocase(str_of(cases[i].b), a) == cases[i].same, "%zu", i);
		ck_assert_msg(
			str_starts_nocase(a, cases[i].b) == cases[i].starts, "%zu", i);
	}
	ck_assert(!str_is_nocase((struct str){NULL, 0}, "a"));
}
END_TEST

START_TEST(wall_time_prints_and_parses)
{
	static const struct {
		int64_t us;
		const char *text;
	} cases[] = {
		{0, "1970-01-01T00:00:00.000Z"},
		{1709164800123999, "2024-02-29T00:00:00.123Z"},
		{-1000, "1969-12-31T23:59:59.999Z"},
		{253402300799999000, "9999-12-31T23:59:59.999Z"},
	};
	static const char *const wrong[] = {"", "2024-02-30T00:00:00.000Z",
		"2024-02-29T00:00:00Z", "2024-02-29 00:00:00.000Z",
		"2024-02-29T25:00:00.000Z", "2024-02-29T00:00:00.000z",
		"2024-02-29T00:00:00.0x0Z"};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[WALL_ISO_SIZE];
		struct wall back;

		wall_iso((struct wall){cases[i].us}, text);
		ck_assert_str_eq(text, cases[i].text);
		ck_assert_int_eq(wall_parse(str_of(text), &back), 0);
		ck_assert_int_eq(
			wall_ms(back), (cases[i].us - (cases[i].us % 1000)) / 1000);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct wall out = {42};

		ck_assert_msg(wall_parse(str_of(wrong[i]), &out) < 0, "%s", wrong[i]);
		ck_assert_int_eq(out.us, 42);
	}
}
END_TEST

START_TEST(a_day_begins_at_midnight)
{
	static const struct {
		const char *of;
		int days_before;
		const char *midnight;
	} cases[] = {
		{"2024-02-29T00:00:00.000Z", 0, "2024-02-29T00:00:00.000Z"},
		{"2024-02-29T23:59:59.999Z", 0, "2024-02-29T00:00:00.000Z"},
		{"2024-03-01T12:00:00.000Z", 1, "2024-02-29T00:00:00.000Z"},
		{"1970-01-01T00:00:01.000Z", 29, "1969-12-03T00:00:00.000Z"},
		{"1969-12-31T23:59:59.999Z", 0, "1969-12-31T00:00:00.000Z"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[WALL_ISO_SIZE];
		struct wall t;

		ck_assert_int_eq(wall_parse(str_of(cases[i].of), &t), 0);
		wall_iso(wall_midnight(t, cases[i].days_before), text);
		ck_assert_str_eq(text, cases[i].midnight);
	}
}
END_TEST

START_TEST(uuid7_increases_even_within_a_millisecond)
{
	char before[UUID_SIZE], now[UUID_SIZE];

	uuid7((struct wall){1700000000000000}, before);
	for (int i = 0; i < 100000; i++) {
		/* The clock stands still, steps on and jumps back. */
		uuid7((struct wall){1700000000000000 + (i % 7) * 1000 - (i % 3) * 5000},
			now);
		ck_assert_int_lt(strcmp(before, now), 0);
		ck_assert(uuid_valid(str_of(now)));
		ck_assert_int_eq(now[14], '7');
		ck_assert_ptr_nonnull(strchr("89ab", now[19]));
		memcpy(before, now, sizeof(now));
	}
	ck_assert(!uuid_valid(str_of("not-a-uuid")));
	uuid4(now);
	ck_assert_int_eq(now[14], '4');
}
END_TEST

START_TEST(bytes_become_hexadecimal_digits)
{
	char digits[9];

	hex_print(digits, "\x00\x0f\xa5\xff", 4);
	ck_assert_str_eq(digits, "000fa5ff");
	random_hex(digits, 4);
	ck_assert_uint_eq(strspn(digits, "0123456789abcdef"), 8);
}
END_TEST

START_TEST(a_directory_is_listed_by_its_descriptor)
{
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	AUTO_DIR *dir = file_list(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));

	ck_assert_ptr_nonnull(dir);
	ck_assert_ptr_nonnull(readdir(dir));
	ck_assert_ptr_null(file_list(-1));
	ck_assert_ptr_null(file_list(file));
	ck_assert_int_eq(errno, ENOTDIR);
	ck_assert_msg(fcntl(file, F_GETFD) < 0, "it was taken, too");
}
END_TEST

START_TEST(log_lines_are_logfmt)
{
	char name[] = "/tmp/paige-log-XXXXXX", text[4096];
	int fd = mkstemp(name), saved = dup(STDERR_FILENO);
	ssize_t n;

	unlink(name);
	dup2(fd, STDERR_FILENO);
	log_init("store", LOG_LEVEL_INFO);
	log_debug("not shown", NULL);
	log_info("file \"saved\"", "path", "%s", "a b\n", "bytes", "%zu", (size_t)7,
		"share", "%.1f", 0.5, "cut", "%.*s", 2, "xyz", "big", "%" PRId64,
		(int64_t)1 << 40, "from", "%s", "\xC3\xA4\xC2\x9B\xE2\x80\xAE\xFF",
		"last", "%s", "end", NULL);
	dup2(saved, STDERR_FILENO);
	close(saved);
	n = pread(fd, text, sizeof(text) - 1, 0);
	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	ck_assert_ptr_null(strstr(text, "not shown"));
	ck_assert_ptr_nonnull(
		strstr(text, "Z level=info worker=store msg=\"file \\\"saved\\\"\" "
			     "path=\"a b\\n\" bytes=7 share=0.5 cut=xy "
			     "big=1099511627776 "
			     "from=\"\xC3\xA4\\u009b\\u202e\\xff\" last=end\n"));
	close(fd);
}
END_TEST

static void reads(int dir_fd, const char *expected)
{
	char text[64] = "";
	int fd = openat(dir_fd, "file", O_RDONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(read(fd, text, sizeof(text) - 1), 0);
	ck_assert_str_eq(text, expected);
	close(fd);
}

START_TEST(a_private_file_is_replaced_whole)
{
	char dir[] = "/tmp/paige-base-XXXXXX";
	int dir_fd, fd;
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(dir_fd, 0);
	/* What a killed process left is longer than what comes. */
	fd = openat(dir_fd, "file.new", O_WRONLY | O_CREAT, 0644);
	ck_assert_int_eq(write(fd, "left by another", 15), 15);
	close(fd);
	fd = private_file_replace_at(
		dir_fd, "file", STR_LIT("one\n"), PRIVATE_FILE_UNSYNCED);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(write(fd, "two\n", 4), 4); /* at the end all the same */
	reads(dir_fd, "one\ntwo\n");
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	close(fd);
	ck_assert_int_eq(faccessat(dir_fd, "file.new", F_OK, 0), -1);
	/* A directory is in the way of the new name: the old file stays. */
	ck_assert_int_eq(mkdirat(dir_fd, "file.new", 0700), 0);
	ck_assert_int_lt(private_file_replace_at(
				 dir_fd, "file", STR_LIT("three"), PRIVATE_FILE_SYNCED),
		0);
	reads(dir_fd, "one\ntwo\n");
	unlinkat(dir_fd, "file.new", AT_REMOVEDIR);
	unlinkat(dir_fd, "file", 0);
	close(dir_fd);
	rmdir(dir);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("base");

	tcase_add_test(tcase, arena_gives_aligned_zeroed_memory);
	tcase_add_test(tcase, a_private_file_is_replaced_whole);
	tcase_add_test(tcase, buf_escapes_json);
	tcase_add_test(tcase, upper_and_lower_case_may_count_as_equal);
	tcase_add_test(tcase, wall_time_prints_and_parses);
	tcase_add_test(tcase, a_day_begins_at_midnight);
	tcase_add_test(tcase, uuid7_increases_even_within_a_millisecond);
	tcase_add_test(tcase, bytes_become_hexadecimal_digits);
	tcase_add_test(tcase, a_directory_is_listed_by_its_descriptor);
	tcase_add_test(tcase, log_lines_are_logfmt);
	return check_run(tcase);
}
