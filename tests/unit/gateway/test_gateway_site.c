/* Tests of the web client as it is compiled in (workers/gateway/web/site.h). */
#include "tests/check_run.h"
#include "workers/gateway/web/site.h"
#include <stdlib.h>

START_TEST(every_file_is_found_by_its_path)
{
	ck_assert_uint_gt(site_file_count, 5);
	for (size_t i = 0; i < site_file_count; i++) {
		const struct site_file *file = &site_files[i];

		ck_assert_ptr_eq(site_find(str_of(file->path)), file);
		ck_assert_uint_gt(file->plain_len, 0);
		/* The magic of gzip. */
		ck_assert_uint_gt(file->gzip_len, 2);
		ck_assert_uint_eq(file->gzip[0], 0x1f);
		ck_assert_uint_eq(file->gzip[1], 0x8b);
		ck_assert_int_eq(file->immutable, strcmp(file->path, "/") != 0);
	}
}
END_TEST

START_TEST(other_paths_are_not)
{
	static const char *const others[] = {
		"", "/page", "/page/", "/index.html", "//", "/~", "/page/main.js"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_ptr_null(site_find(str_of(others[i])));
	ck_assert_ptr_null(site_find((struct str){NULL, 0}));
}
END_TEST

START_TEST(the_page_is_whole)
{
	const struct site_file *page = site_find(STR_LIT("/"));
	struct str html;

	ck_assert_ptr_nonnull(page);
	html = (struct str){(const char *)page->plain, page->plain_len};
	ck_assert(str_starts(html, "<!doctype html>"));
	/* Every name was filled in. */
	ck_assert_ptr_null(memmem(html.ptr, html.len, "@client@", 8));
	ck_assert_ptr_null(memmem(html.ptr, html.len, "@codemirror", 11));
}
END_TEST

struct known {
	const char *header;
	bool known;
};

static const struct known knowns[] = {
	{NULL, false},
	{"", false},
	{"\"a\"", true},
	{"W/\"a\"", true},
	{"*", true},
	{"\"b\", W/\"a\"", true},
	{"\"b\"", false},
	{"a", false},
	{"W/", false},
	{"\"a\"x", false},
};

START_TEST(a_version_is_known)
{
	const struct known *k = &knowns[_i];

	ck_assert_int_eq(site_is_known(str_of(k->header), "\"a\""), k->known);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("site");

	tcase_add_test(tcase, every_file_is_found_by_its_path);
	tcase_add_test(tcase, other_paths_are_not);
	tcase_add_test(tcase, the_page_is_whole);
	check_add_table(tcase, a_version_is_known, knowns);
	return check_run(tcase);
}
