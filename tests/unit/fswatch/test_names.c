/* Tests of what names say: language.h, names.h, and the table of pathmap.h. */
#include "tests/check_run.h"
#include "workers/fswatch/disk/language.h"
#include "workers/fswatch/disk/names.h"
#include "workers/fswatch/disk/pathmap.h"
#include <stdio.h>
#include <stdlib.h>

START_TEST(languages)
{
	static const char *const cases[][2] = {
		{"a.ts", "typescript"},
		{"a.tsx", "typescript"},
		{"a.mjs", "javascript"},
		{"src/x/a.py", "python"},
		{"a.C", "c"},
		{"a.TS", "typescript"},
		{"a.test.ts", "typescript"},
		{"Dockerfile", "dockerfile"},
		{"x/dockerfile", "dockerfile"},
		{"a.dockerfile", "dockerfile"},
		{".env", "ini"},
		{"a.toml", "ini"},
		{"LICENSE", "plaintext"},
		{"a.txt", "plaintext"},
		{"go", "plaintext"},
		{"x.d/go", "plaintext"},
		{"a.", "plaintext"},
		{"a.gql", "graphql"},
		{"a.zsh", "shell"},
		{"a.t", "plaintext"},
		{"a.tsxx", "plaintext"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(strcmp(language_of(str_of(cases[i][0])), cases[i][1]) == 0,
			"%s: %s", cases[i][0], language_of(str_of(cases[i][0])));
}
END_TEST

START_TEST(binaries)
{
	static const char *const yes[] = {
		"a.png", "x/logo.PNG", "a.tar.gz", "a.sqlite", "a.o"};
	static const char *const no[] = {
		"a.ts", "png", "o", "a.svg", "a.png.txt", "x.png/a"};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ck_assert_msg(language_is_binary(str_of(yes[i])), "%s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_msg(!language_is_binary(str_of(no[i])), "%s", no[i]);
}
END_TEST

START_TEST(noise)
{
	static const char *const yes[] = {
		"node_modules", ".git", "dist", "build", "coverage", ".next", ".cache"};
	static const char *const no[] = {"Dist", "builds", ".gitignore", "src", ""};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ck_assert_msg(names_noise_dir(str_of(yes[i])), "%s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_msg(!names_noise_dir(str_of(no[i])), "%s", no[i]);
}
END_TEST

START_TEST(temporary_names)
{
	static const char *const no[] = {".paige-save.", ".paige-save.1",
		".paige-save.1.", ".paige-save.1.x", ".paige-save.x.1",
		".paige-save.99999999999.1", "a", ""};
	char name[NAMES_TEMP_SIZE];

	names_temp(1234, UINT64_MAX, name);
	ck_assert_int_eq(names_temp_owner(str_of(name)), 1234);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_msg(names_temp_owner(str_of(no[i])) == 0, "%s", no[i]);
}
END_TEST

START_TEST(short_lived_names)
{
	static const char *const yes[] = {"a.ts~", "a.ts.tmp", ".a.ts.swp", "4913",
		"#a.ts#", ".#a.ts", "a.ts.tmp.1234", "a___jb_tmp___",
		".goutputstream-ABC", "tmpab12", "a.bak"};
	static const char *const no[] = {"a.ts", "README.md", "123", "watch-probe-1.txt",
		"written-5.txt", "f1.txt", "template.html", ".env"};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ck_assert_msg(names_short_lived(str_of(yes[i])), "%s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_msg(!names_short_lived(str_of(no[i])), "%s", no[i]);
}
END_TEST

#define KEYS 5000

START_TEST(table)
{
	static char keys[KEYS][16];
	static char present[KEYS];
	struct pathmap map = {.slots = NULL};
	size_t count = 0, at = 0, seen = 0;
	unsigned random = 12345;

	for (size_t i = 0; i < KEYS; i++)
		snprintf(keys[i], sizeof(keys[i]), "src/f%zu.ts", i);
	ck_assert_ptr_null(pathmap_get(&map, STR_LIT("a")));
	ck_assert_ptr_null(pathmap_remove(&map, STR_LIT("a")));
	for (size_t round = 0; round < 20 * KEYS; round++) {
		random = random * 1103515245 + 12345;

		size_t i = random / 65536 % KEYS;

		if (present[i]) {
			ck_assert_ptr_eq(pathmap_remove(&map, str_of(keys[i])), keys[i]);
			count--;
		} else {
			pathmap_put(&map, str_of(keys[i]), keys[i]);
			count++;
		}
		present[i] = !present[i];
		ck_assert_uint_eq(map.count, count);
	}
	for (size_t i = 0; i < KEYS; i++)
		ck_assert_ptr_eq(
			pathmap_get(&map, str_of(keys[i])), present[i] ? keys[i] : NULL);
	while (pathmap_next(&map, &at))
		seen++;
	ck_assert_uint_eq(seen, count);
	pathmap_fini(&map);
	ck_assert_uint_eq(map.count, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("names");

	tcase_add_test(tc, languages);
	tcase_add_test(tc, binaries);
	tcase_add_test(tc, noise);
	tcase_add_test(tc, temporary_names);
	tcase_add_test(tc, short_lived_names);
	tcase_add_test(tc, table);
	return check_run(tc);
}
