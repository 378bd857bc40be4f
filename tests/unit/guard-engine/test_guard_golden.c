/*
 * Golden streams of the guard machines: every script in tests/golden/guards is run and
 * must give, byte for byte, what stands below its lines; and every stream must replay.
 *
 * With PAIGE_GOLDEN_WRITE=1 the files are written anew. Read the difference before
 * keeping it.
 */
#include "tests/check_run.h"
#include "tests/unit/guard-engine/guard_script.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define FOLDER TEST_DATA "/../golden/guards"
#define MAX_FILES 200

static char *names[MAX_FILES];
static int name_count;

static int is_script(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 4 && strcmp(entry->d_name + len - 4, ".txt") == 0;
}

static void find_files(void)
{
	struct dirent **list;
	int n = scandir(FOLDER, &list, is_script, alphasort);

	for (int i = 0; i < n; i++) {
		if (name_count < MAX_FILES)
			names[name_count++] = strdup(list[i]->d_name);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct buf text = {0};
	size_t n;

	ck_assert_msg(f != NULL, "%s", path);
	do {
		n = fread(buf_reserve(&text, 65536), 1, 65536, f);
		text.len += n;
	} while (n);
	fclose(f);
	buf_add_char(&text, '\0');
	return text.data;
}

static void write_text(const char *path, const struct buf *text)
{
	FILE *f = fopen(path, "wb");

	ck_assert_msg(f != NULL, "%s", path);
	ck_assert_uint_eq(fwrite(text->data, 1, text->len, f), text->len);
	ck_assert_int_eq(fclose(f), 0);
}

/* Where two texts part: the line, for a message that a person can use. */
static int first_difference(const char *a, struct str b)
{
	int line = 1;

	for (size_t i = 0; i < b.len && a[i] == b.ptr[i]; i++)
		line += a[i] == '\n';
	return line;
}

START_TEST(test_golden)
{
	char path[1000];
	struct buf transcript = {0};
	struct script script = {0};
	char *text;

	snprintf(path, sizeof(path), "%s/%s", FOLDER, names[_i]);
	text = read_text(path);
	script_run(&script, text, &transcript);
	if (getenv("PAIGE_GOLDEN_WRITE"))
		write_text(path, &transcript);
	else
		ck_assert_msg(str_is(buf_str(&transcript), text),
			"%s: line %d is different", names[_i],
			first_difference(text, buf_str(&transcript)));
	script_check_replay(&script);
	script_fini(&script);
	buf_free(&transcript);
	free(text);
}
END_TEST

START_TEST(test_there_are_some)
{
	ck_assert_int_gt(name_count, 20);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	find_files();
	tcase_add_test(tcase, test_there_are_some);
	tcase_add_loop_test(tcase, test_golden, 0, name_count);
	tcase_set_timeout(tcase, 60);
	int failed = check_run(tcase);

	for (int i = 0; i < name_count; i++)
		free(names[i]);
	return failed;
}
