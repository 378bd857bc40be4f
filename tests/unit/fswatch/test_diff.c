/* Tests of workers/fswatch/buffers/diff.h: exact texts, and that patch(1) and git take them. */
#include "tests/check_run.h"
#include "tests/unit/scratch.h"
#include "workers/fswatch/buffers/diff.h"
#include <time.h>

#define HEAD                                                                             \
	"Index: "                                                                        \
	"a.ts\n===================================================================\n"    \
	"--- a.ts\n+++ a.ts\n"
#define NO_NEWLINE "\\ No newline at end of file\n"

struct sample {
	const char *what;
	const char *disk, *buffer, *hunks;
};

static const struct sample samples[] = {
	{"one line of three", "a\nb\nc\n", "a\nB\nc\n",
		"@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
	{"four lines of context", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
		"1\n2\n3\n4\n5\n6\nVII\n8\n9\n10\n11\n12\n",
		"@@ -3,9 +3,9 @@\n 3\n 4\n 5\n 6\n-7\n+VII\n 8\n 9\n 10\n 11\n"},
	{"two hunks", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n",
		"I\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\nXII\n",
		"@@ -1,5 +1,5 @@\n-1\n+I\n 2\n 3\n 4\n 5\n"
		"@@ -8,5 +8,5 @@\n 8\n 9\n 10\n 11\n-12\n+XII\n"},
	{"nothing on disk", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
	{"nothing on disk, no newline", "", "a", "@@ -0,0 +1,1 @@\n+a\n" NO_NEWLINE},
	{"emptied", "a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"},
	{"newline removed", "a\n", "a", "@@ -1,1 +1,1 @@\n-a\n+a\n" NO_NEWLINE},
	{"newline added", "a", "a\n", "@@ -1,1 +1,1 @@\n-a\n" NO_NEWLINE "+a\n"},
	{"no newline on either side, last line changed", "a\nb", "a\nc",
		"@@ -1,2 +1,2 @@\n a\n-b\n" NO_NEWLINE "+c\n" NO_NEWLINE},
	{"no newline on either side, last line kept", "a\nb", "A\nb",
		"@@ -1,2 +1,2 @@\n-a\n+A\n b\n" NO_NEWLINE},
	{"newline on both sides, last line kept", "a\nb\n", "A\nb\n",
		"@@ -1,2 +1,2 @@\n-a\n+A\n b\n"},
	{"newline removed, last line changed", "a\nb\n", "a\nc",
		"@@ -1,2 +1,2 @@\n a\n-b\n+c\n" NO_NEWLINE},
	{"newline added, last line changed", "a\nb", "a\nc\n",
		"@@ -1,2 +1,2 @@\n a\n-b\n" NO_NEWLINE "+c\n"},
	{"CRLF to LF", "a\r\nb\r\n", "a\nb\n", "@@ -1,2 +1,2 @@\n-a\r\n-b\r\n+a\n+b\n"},
	{"one CRLF among LF", "a\nb\n", "a\r\nb\n", "@@ -1,2 +1,2 @@\n-a\n+a\r\n b\n"},
	{"a lone CR is part of its line", "a\rb\n", "a\rc\n",
		"@@ -1,1 +1,1 @@\n-a\rb\n+a\rc\n"},
	{"other line ends too", "a\xc2\x85\xe2\x80\xa8z\n", "a\xc2\x85\xe2\x80\xa8y\n",
		"@@ -1,1 +1,1 @@\n-a\xc2\x85\xe2\x80\xa8z\n+a\xc2\x85\xe2\x80\xa8y\n"},
	{"white space counts", "a \n", "a\n", "@@ -1,1 +1,1 @@\n-a \n+a\n"},
};

static struct buf diff;

static void diff_of(const char *disk, const char *buffer)
{
	buf_clear(&diff);
	ck_assert_int_eq(
		diff_unified(STR_LIT("a.ts"), str_of(disk), str_of(buffer), &diff), 0);
}

/* Applies the diff to `disk` with a program and compares what comes out. */
static bool applies(const char *what, const char *disk, const char *buffer)
{
	char dir[SCRATCH_SIZE], command[512];

	scratch_make(dir);
	scratch_write(dir, "a.ts", disk);
	scratch_write_bytes(dir, "p", diff.data, diff.len);
	snprintf(command, sizeof(command), "cd %s && %s >log 2>&1", dir, what);

	bool ok = system(command) == 0;
	struct stat st;

	/* patch(1) removes a file that becomes empty. */
	ok = ok && ((stat(scratch_path(dir, "a.ts"), &st) < 0 && buffer[0] == '\0') ||
			   scratch_holds(dir, "a.ts", buffer));
	scratch_remove(dir);
	return ok;
}

START_TEST(exact_texts)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *s = &samples[i];
		struct buf want = {.data = NULL};

		buf_printf(&want, HEAD "%s", s->hunks);
		diff_of(s->disk, s->buffer);
		ck_assert_msg(str_eq(buf_str(&diff), buf_str(&want)), "%s:\n%.*s",
			s->what, (int)diff.len, diff.data);
		buf_free(&want);
	}
}
END_TEST

START_TEST(programs_take_them)
{
	bool patch = system("patch --version >/dev/null 2>&1") == 0;
	bool git = system("git --version >/dev/null 2>&1") == 0;

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample *s = &samples[i];

		diff_of(s->disk, s->buffer);
		ck_assert_msg(
			!patch || applies("patch --binary -p0 <p", s->disk, s->buffer),
			"patch: %s", s->what);
		ck_assert_msg(!git || applies("git apply -p0 p", s->disk, s->buffer),
			"git apply: %s", s->what);
	}
}
END_TEST

START_TEST(equal_texts)
{
	diff_of("", "");
	ck_assert_uint_eq(diff.len, 0);
	diff_of("a\nb", "a\nb");
	ck_assert_uint_eq(diff.len, 0);
}
END_TEST

/* Texts beyond the limits: one hunk, still a patch that applies. */
START_TEST(big_texts)
{
	static const char *const tails[][2] = {{"x\ny\n", "x\nz\n"}, {"x\ny\n", "x\ny"},
		{"x", "x\n"}, {"", "new\n"}, {"old\n", ""}};
	size_t lines = DIFF_MAX_LINES + 10;

	for (size_t t = 0; t < sizeof(tails) / sizeof(tails[0]); t++) {
		struct buf a = {.data = NULL}, b = {.data = NULL};

		for (size_t i = 0; i < lines; i++) {
			buf_printf(&a, "line %zu\n", i);
			buf_printf(&b, i == 50 ? "LINE %zu\n" : "line %zu\n", i);
		}
		buf_printf(&a, "%s", tails[t][0]);
		buf_printf(&b, "%s", tails[t][1]);
		buf_add_char(&a, '\0');
		buf_add_char(&b, '\0');
		diff_of(a.data, b.data);
		ck_assert_uint_eq(memcmp(diff.data + sizeof(HEAD) - 1, "@@ -47,", 7), 0);
		ck_assert(applies("git apply -p0 p", a.data, b.data));
		buf_free(&a);
		buf_free(&b);
	}
}
END_TEST

/* No text of the size allowed keeps the loop for long. */
START_TEST(bounded_time)
{
	struct buf a = {.data = NULL}, b = {.data = NULL};
	unsigned random = 1;
	struct timespec start, end;

	for (int i = 0; i < DIFF_MAX_LINES; i++) {
		random = random * 1103515245 + 12345;
		buf_printf(&a, "%u\n", random >> 16 & 15);
		random = random * 1103515245 + 12345;
		buf_printf(&b, "%u\n", random >> 16 & 15);
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	buf_clear(&diff);
	ck_assert_int_eq(
		diff_unified(STR_LIT("a.ts"), buf_str(&a), buf_str(&b), &diff), 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ck_assert_msg(end.tv_sec - start.tv_sec < 2, "it took %.0f ms",
		(double)(end.tv_sec - start.tv_sec) * 1e3 +
			(double)(end.tv_nsec - start.tv_nsec) / 1e6);
	buf_free(&a);
	buf_free(&b);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("diff");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, exact_texts);
	tcase_add_test(tc, programs_take_them);
	tcase_add_test(tc, equal_texts);
	tcase_add_test(tc, big_texts);
	tcase_add_test(tc, bounded_time);
	int failed = check_run(tc);

	buf_free(&diff);
	return failed;
}
