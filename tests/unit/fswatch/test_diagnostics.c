/* Tests of workers/fswatch/buffers/diagnostics.h: what is kept, in which order it is told, and
 * what becomes of too much. */
#include "tests/check_run.h"
#include "workers/fswatch/buffers/diagnostics.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MANY 1000

static struct diagnostics d;
static struct arena arena;
static struct editor_diagnostic items[MANY];

static void setup(void)
{
	d = (struct diagnostics){0};
	arena = (struct arena){0};
	memset(items, 0, sizeof(items));
}

static void teardown(void)
{
	diagnostics_fini(&d);
	ck_assert_uint_eq(d.files, 0);
	ck_assert_uint_eq(d.bytes, 0);
	arena_free(&arena);
}

static struct editor_diagnostic at(int severity, int line, int column, const char *text)
{
	return (struct editor_diagnostic){
		.range = {.start = {.line = line, .column = column},
			.end = {.line = line, .column = column}},
		.severity = severity,
		.message = str_of(text)};
}

/* The first `count` of items. */
static int set(const char *path, size_t count)
{
	return diagnostics_set(&d, str_of(path),
		&(struct editor_diagnostics){
			.path = str_of(path), .diagnostics = {items, count}});
}

static void set_one(const char *path, int severity, const char *text)
{
	items[0] = at(severity, 1, 1, text);
	ck_assert_int_eq(set(path, 1), 0);
}

/* "path:line severity message" of each, and what is left out. */
static const char *shown(void)
{
	struct str text = STR_LIT("");
	struct state_diagnostics out;

	diagnostics_show(&d, &arena, &out);
	for (size_t i = 0; i < out.items.count; i++) {
		const struct state_diagnostic *item = &out.items.items[i];

		text = arena_printf(&arena, "%.*s%.*s:%lld %s %.*s\n", STR_ARG(text),
			STR_ARG(item->path), (long long)item->range.start.line,
			diagnostic_severity_enumeration()->names[item->severity],
			STR_ARG(item->message));
	}
	if (out.has_left_out)
		text = arena_printf(&arena, "%.*sleft out %lld\n", STR_ARG(text),
			(long long)out.left_out);
	return text.ptr;
}

START_TEST(errors_come_first_then_paths_then_lines)
{
	ck_assert_str_eq(shown(), "");
	items[0] = at(DIAGNOSTIC_HINT, 1, 1, "h");
	items[1] = at(DIAGNOSTIC_WARNING, 9, 1, "w9");
	items[2] = at(DIAGNOSTIC_ERROR, 7, 4, "later");
	items[3] = at(DIAGNOSTIC_ERROR, 7, 2, "e7");
	items[4] = at(DIAGNOSTIC_ERROR, 7, 2, "of the same place");
	ck_assert_int_eq(set("b.ts", 5), 0);
	items[0] = at(DIAGNOSTIC_INFORMATION, 2, 1, "i");
	items[1] = at(DIAGNOSTIC_ERROR, 3, 1, "e3");
	ck_assert_int_eq(set("a.ts", 2), 0);
	ck_assert_str_eq(shown(), "a.ts:3 error e3\n"
				  "b.ts:7 error e7\n"
				  "b.ts:7 error of the same place\n"
				  "b.ts:7 error later\n"
				  "b.ts:9 warning w9\n"
				  "a.ts:2 information i\n"
				  "b.ts:1 hint h\n");
}
END_TEST

START_TEST(a_message_replaces_all_of_its_file)
{
	set_one("a", DIAGNOSTIC_ERROR, "old");
	set_one("b", DIAGNOSTIC_ERROR, "other");
	set_one("a", DIAGNOSTIC_WARNING, "new");
	ck_assert_str_eq(shown(), "b:1 error other\na:1 warning new\n");
	ck_assert_int_eq(set("a", 0), 0);
	ck_assert_int_eq(set("never told", 0), 0);
	ck_assert_str_eq(shown(), "b:1 error other\n");
	ck_assert_uint_eq(d.files, 1);
}
END_TEST

START_TEST(a_directory_goes_with_what_is_in_it)
{
	static const char *const paths[] = {"src", "src/a", "src/a/b", "src.c", "srcs/a"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		set_one(paths[i], DIAGNOSTIC_ERROR, "e");
	diagnostics_forget(&d, STR_LIT("src/a"));
	diagnostics_forget(&d, STR_LIT("nothing"));
	ck_assert_str_eq(shown(), "src:1 error e\nsrc.c:1 error e\nsrcs/a:1 error e\n");
	diagnostics_forget(&d, STR_LIT("src"));
	ck_assert_str_eq(shown(), "src.c:1 error e\nsrcs/a:1 error e\n");
}
END_TEST

static bool is_short(void *arg, struct str path)
{
	(void)arg;
	return path.len == 1;
}

START_TEST(files_that_are_gone_are_forgotten)
{
	set_one("a", DIAGNOSTIC_ERROR, "e");
	set_one("ab", DIAGNOSTIC_ERROR, "e");
	set_one("b", DIAGNOSTIC_ERROR, "e");
	diagnostics_forget_unless(&d, is_short, NULL);
	ck_assert_str_eq(shown(), "a:1 error e\nb:1 error e\n");
}
END_TEST

START_TEST(of_one_file_the_most_severe_are_kept_and_the_others_counted)
{
	struct state_diagnostics out;

	for (int i = 0; i < MANY; i++)
		items[i] = at(i == MANY - 1 ? DIAGNOSTIC_ERROR : DIAGNOSTIC_HINT,
			MANY - i, 1, "m");
	ck_assert_int_eq(set("a", MANY), 0);
	diagnostics_show(&d, &arena, &out);
	ck_assert_uint_eq(out.items.count, DIAGNOSTICS_MAX_OF_FILE);
	ck_assert_int_eq(out.items.items[0].severity, DIAGNOSTIC_ERROR);
	ck_assert_int_eq(out.items.items[1].range.start.line, 2);
	ck_assert_int_eq(out.left_out, MANY - DIAGNOSTICS_MAX_OF_FILE);
}
END_TEST

START_TEST(no_more_files_than_are_allowed)
{
	char path[16];

	for (int i = 0; i < DIAGNOSTICS_MAX_FILES; i++) {
		snprintf(path, sizeof(path), "%03d", i);
		set_one(path, DIAGNOSTIC_HINT, "h");
	}
	items[0] = at(DIAGNOSTIC_ERROR, 1, 1, "e");
	ck_assert_int_eq(set("one more", 1), -ENFILE);
	ck_assert_uint_eq(d.files, DIAGNOSTICS_MAX_FILES);
	/* Those that are there can still change, and make room. */
	ck_assert_int_eq(set("000", 1), 0);
	ck_assert_int_eq(set("001", 0), 0);
	ck_assert_int_eq(set("one more", 1), 0);
}
END_TEST

START_TEST(no_more_bytes_than_are_allowed)
{
	char text[DIAGNOSTICS_MAX_TEXT + 1];
	int result = 0;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < DIAGNOSTICS_MAX_OF_FILE; i++)
		items[i] = at(DIAGNOSTIC_ERROR, i + 1, 1, text);
	for (int i = 0; result == 0; i++) {
		char path[16];

		ck_assert_int_lt(i, DIAGNOSTICS_MAX_FILES);
		snprintf(path, sizeof(path), "%03d", i);
		result = set(path, DIAGNOSTICS_MAX_OF_FILE);
		ck_assert_uint_le(d.bytes, DIAGNOSTICS_MAX_BYTES);
	}
	ck_assert_int_eq(result, -ENOSPC);
	ck_assert_uint_gt(d.bytes, DIAGNOSTICS_MAX_BYTES / 2);
}
END_TEST

/* What was kept of a file is out of date when the new message cannot be kept. */
START_TEST(a_refused_message_leaves_nothing_of_its_file)
{
	set_one("a", DIAGNOSTIC_ERROR, "old");
	d.bytes += DIAGNOSTICS_MAX_BYTES;
	items[0] = at(DIAGNOSTIC_ERROR, 1, 1, "new");
	ck_assert_int_eq(set("a", 1), -ENOSPC);
	d.bytes -= DIAGNOSTICS_MAX_BYTES;
	ck_assert_str_eq(shown(), "");
}
END_TEST

START_TEST(what_is_told_is_bounded_and_says_so)
{
	struct state_diagnostics out;
	char text[DIAGNOSTICS_MAX_TEXT + 1];
	size_t bytes = 0;

	for (int i = 0; i < 60; i++)
		items[i] = at(DIAGNOSTIC_WARNING, i + 1, 1, "w");
	ck_assert_int_eq(set("a", 60), 0);
	ck_assert_int_eq(set("b", 60), 0);
	diagnostics_show(&d, &arena, &out);
	ck_assert_uint_eq(out.items.count, DIAGNOSTICS_SHOWN);
	ck_assert_int_eq(out.left_out, 120 - DIAGNOSTICS_SHOWN);

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 60; i++)
		items[i] = at(DIAGNOSTIC_ERROR, i + 1, 1, text);
	ck_assert_int_eq(set("c", 60), 0);
	diagnostics_show(&d, &arena, &out);
	ck_assert_int_eq((int64_t)out.items.count + out.left_out, 180);
	ck_assert_int_eq(out.items.items[0].severity, DIAGNOSTIC_ERROR);
	for (size_t i = 0; i < out.items.count; i++)
		bytes += out.items.items[i].path.len + out.items.items[i].message.len;
	ck_assert_uint_le(bytes, DIAGNOSTICS_SHOWN_BYTES);
}
END_TEST

START_TEST(long_texts_are_cut_at_a_character)
{
	char text[2 * DIAGNOSTICS_MAX_TEXT + 1] = "x";
	struct state_diagnostics out;

	for (size_t i = 1; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "\xC3\xA9", 3);
	items[0] = at(DIAGNOSTIC_ERROR, 1, 1, text);
	items[0].source = str_of(text);
	ck_assert_int_eq(set("a", 1), 0);
	diagnostics_show(&d, &arena, &out);
	ck_assert_uint_eq(out.items.items[0].message.len, DIAGNOSTICS_MAX_TEXT - 1 + 3);
	ck_assert(memcmp(out.items.items[0].message.ptr + DIAGNOSTICS_MAX_TEXT - 3,
			  "\xC3\xA9...", 5) == 0);
	ck_assert_uint_eq(out.items.items[0].source.len, DIAGNOSTICS_MAX_TEXT - 1 + 3);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("diagnostics");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, errors_come_first_then_paths_then_lines);
	tcase_add_test(tc, a_message_replaces_all_of_its_file);
	tcase_add_test(tc, a_directory_goes_with_what_is_in_it);
	tcase_add_test(tc, files_that_are_gone_are_forgotten);
	tcase_add_test(tc, of_one_file_the_most_severe_are_kept_and_the_others_counted);
	tcase_add_test(tc, no_more_files_than_are_allowed);
	tcase_add_test(tc, no_more_bytes_than_are_allowed);
	tcase_add_test(tc, a_refused_message_leaves_nothing_of_its_file);
	tcase_add_test(tc, what_is_told_is_bounded_and_says_so);
	tcase_add_test(tc, long_texts_are_cut_at_a_character);
	return check_run(tc);
}
