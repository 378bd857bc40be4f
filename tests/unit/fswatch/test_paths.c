/* Tests of workers/fswatch/disk/paths.h: which spellings mean which file, and which are
 * refused. */
#include "tests/check_run.h"
#include "workers/fswatch/disk/paths.h"
#include <errno.h>
#include <stdlib.h>

struct spelling {
	const char *what;
	struct str asked;
	enum path_verdict verdict;
	const char *key;
};

static const struct path_roots roots = {STR_INIT("/t/real/proj"), STR_INIT("/t/link")};

static const struct spelling spellings[] = {
	{"relative", STR_INIT("src/auth.ts"), PATH_OK, "src/auth.ts"},
	{"dot first", STR_INIT("./src/auth.ts"), PATH_OK, "src/auth.ts"},
	{"dot inside", STR_INIT("src/./auth.ts"), PATH_OK, "src/auth.ts"},
	{"out and in again inside", STR_INIT("src/../src/auth.ts"), PATH_OK,
		"src/auth.ts"},
	{"doubled slashes", STR_INIT("src//auth.ts"), PATH_OK, "src/auth.ts"},
	{"slash at the end", STR_INIT("src/"), PATH_OK, "src"},
	{"absolute, canonical", STR_INIT("/t/real/proj/a.ts"), PATH_OK, "a.ts"},
	{"absolute, by the link", STR_INIT("/t/link/a.ts"), PATH_OK, "a.ts"},
	{"absolute with dots", STR_INIT("/t/./x/../real//proj/a.ts"), PATH_OK, "a.ts"},
	{"out by name and in again", STR_INIT("src/../../proj/README.md"), PATH_OK,
		"README.md"},
	{"far out and in again", STR_INIT("../../../t/real/proj/a"), PATH_OK, "a"},
	{"above the root directory and in", STR_INIT("../../../../../../t/link/a"),
		PATH_OK, "a"},
	{"the project", STR_INIT("."), PATH_OK, "."},
	{"the project, absolute", STR_INIT("/t/real/proj"), PATH_OK, "."},
	{"the project, slash behind", STR_INIT("/t/link/"), PATH_OK, "."},
	{"out and in again by the name of the link", STR_INIT("src/../../link/a"),
		PATH_OK, "a"},
	{"names with dots", STR_INIT("..a/.../b."), PATH_OK, "..a/.../b."},
	{"blank inside a name", STR_INIT(" a b "), PATH_OK, " a b "},
	{"bytes are the identity", STR_INIT("e\xcc\x81.ts"), PATH_OK, "e\xcc\x81.ts"},
	{"parent", STR_INIT(".."), PATH_OUTSIDE, NULL},
	{"outside", STR_INIT("../outside.txt"), PATH_OUTSIDE, NULL},
	{"outside by a detour", STR_INIT("src/../../outside.txt"), PATH_OUTSIDE, NULL},
	{"absolute elsewhere", STR_INIT("/etc/passwd"), PATH_OUTSIDE, NULL},
	{"the root directory", STR_INIT("/"), PATH_OUTSIDE, NULL},
	{"far above", STR_INIT("../../../../../../etc/passwd"), PATH_OUTSIDE, NULL},
	{"neighbour with our name in front", STR_INIT("../proj-evil/x"), PATH_OUTSIDE,
		NULL},
	{"the same, absolute", STR_INIT("/t/real/proj-evil/x"), PATH_OUTSIDE, NULL},
	{"the same, by a detour", STR_INIT("/t/real/proj/../proj-evil/x"), PATH_OUTSIDE,
		NULL},
	{"the same for the link", STR_INIT("/t/link-evil/x"), PATH_OUTSIDE, NULL},
	{"directory above, absolute", STR_INIT("/t/real"), PATH_OUTSIDE, NULL},
	{"empty", STR_INIT(""), PATH_EMPTY, NULL},
	{"blanks", STR_INIT("   "), PATH_EMPTY, NULL},
	{"all white space", STR_INIT(" \t\r\n\v\f"), PATH_EMPTY, NULL},
	{"NUL inside", STR_INIT("src/\0/auth.ts"), PATH_NUL, NULL},
	{"NUL alone", STR_INIT("\0"), PATH_NUL, NULL},
	{"NUL behind", STR_INIT("a\0"), PATH_NUL, NULL},
};

START_TEST(knows_every_spelling)
{
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		const struct spelling *s = &spellings[i];
		char key[PATH_KEY_SIZE] = "untouched";
		enum path_verdict verdict = paths_key(&roots, s->asked, key);

		ck_assert_msg(verdict == s->verdict, "%s: %s", s->what,
			paths_verdict_text(verdict));
		ck_assert_msg(strcmp(key, s->key ? s->key : "untouched") == 0, "%s: %s",
			s->what, key);
	}
}
END_TEST

START_TEST(refuses_what_the_kernel_cannot_take)
{
	static char asked[PATH_KEY_SIZE + 10];
	char key[PATH_KEY_SIZE];
	size_t room = PATH_KEY_SIZE - 1 - roots.canonical.len - 1;

	memset(asked, 'a', sizeof(asked));
	ck_assert_int_eq(paths_key(&roots, (struct str){asked, room}, key), PATH_OK);
	ck_assert_uint_eq(strlen(key), room);
	ck_assert_int_eq(
		paths_key(&roots, (struct str){asked, room + 1}, key), PATH_TOO_LONG);
	ck_assert_int_eq(paths_key(&roots, (struct str){asked, sizeof(asked)}, key),
		PATH_TOO_LONG);
}
END_TEST

START_TEST(root_directory_as_project)
{
	const struct path_roots slash = {STR_INIT("/"), {NULL, 0}};
	char key[PATH_KEY_SIZE];

	ck_assert_int_eq(paths_key(&slash, STR_LIT("/etc/hosts"), key), PATH_OK);
	ck_assert_str_eq(key, "etc/hosts");
	ck_assert_int_eq(paths_key(&slash, STR_LIT("etc/hosts"), key), PATH_OK);
	ck_assert_str_eq(key, "etc/hosts");
	ck_assert_int_eq(paths_key(&slash, STR_LIT("/"), key), PATH_OK);
	ck_assert_str_eq(key, ".");
}
END_TEST

START_TEST(one_spelling_only)
{
	const struct path_roots one = {STR_INIT("/p"), {NULL, 0}};
	char key[PATH_KEY_SIZE];

	ck_assert_int_eq(paths_key(&one, STR_LIT("/etc/hosts"), key), PATH_OUTSIDE);
	ck_assert_int_eq(paths_key(&one, STR_LIT("/p/a"), key), PATH_OK);
	ck_assert_str_eq(key, "a");
}
END_TEST

START_TEST(cleans)
{
	char out[PATH_KEY_SIZE];

	ck_assert_int_eq(paths_clean(STR_LIT("/a//b/./c/../d/"), out), 0);
	ck_assert_str_eq(out, "/a/b/d");
	ck_assert_int_eq(paths_clean(STR_LIT("/.."), out), 0);
	ck_assert_str_eq(out, "/");
}
END_TEST

START_TEST(parts)
{
	ck_assert(str_is(paths_base(STR_LIT("a/b/c.ts")), "c.ts"));
	ck_assert(str_is(paths_base(STR_LIT("c.ts")), "c.ts"));
	ck_assert(paths_within(STR_LIT("a/b"), STR_LIT("a")));
	ck_assert(paths_within(STR_LIT("a"), STR_LIT("a")));
	ck_assert(paths_within(STR_LIT("a"), STR_LIT(".")));
	ck_assert(!paths_within(STR_LIT("ab"), STR_LIT("a")));
	ck_assert(!paths_within(STR_LIT("a"), STR_LIT("a/b")));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("paths");

	tcase_add_test(tc, knows_every_spelling);
	tcase_add_test(tc, refuses_what_the_kernel_cannot_take);
	tcase_add_test(tc, root_directory_as_project);
	tcase_add_test(tc, one_spelling_only);
	tcase_add_test(tc, cleans);
	tcase_add_test(tc, parts);
	return check_run(tc);
}
