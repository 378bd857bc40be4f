/* Tests of workers/guard-engine/engine/guard_id.h. */
#include "tests/check_run.h"
#include "workers/guard-engine/engine/guard_id.h"
#include <stdlib.h>

#define LONGEST                                                                          \
	"0123456789012345678901234567890123456789012345678901234567890123456789"         \
	"0123456789012345678901234567890123456789012345678901234567"

#define ID(text)                                                                         \
	{                                                                                \
		text, sizeof(text) - 1                                                   \
	}

static const struct {
	struct str id;
	bool valid;
	const char *told; /* what of the problem must be there */
} cases[] = {
	{ID("a"), true, NULL},
	{ID("01889f3e-7a6b-7000-8000-000000000000"), true, NULL},
	{ID("!\"$&'()*+,-.:;<=>@[\\]^_`{|}~"), true, NULL},
	{ID(LONGEST), true, NULL},
	{ID(LONGEST "0"), false, "and more"},
	{ID(""), false, "got \"\""},
	{ID("\0"), false, "\\u0000"},
	{ID("nope\0x"), false, "\"nope\\u0000x\""},
	{ID("nope\0"), false, "\"nope\\u0000\""},
	{ID("a b"), false, "a b"},
	{ID("a\tb"), false, "\\t"},
	{ID("a\nb"), false, "\\n"},
	{ID("a/b"), false, "a/b"},
	{ID("a?b"), false, "a?b"},
	{ID("a#b"), false, "a#b"},
	{ID("a%b"), false, "a%b"},
	{ID("a\x7f"), false, "id: expected 1 to 128 printable ASCII"},
	{ID("caf\xc3\xa9"), false, "id: expected 1 to 128 printable ASCII"},
	{ID("\xff\xfe"), false, "id: expected 1 to 128 printable ASCII"},
};

START_TEST(test_ids)
{
	char problem[GUARD_ID_PROBLEM_SIZE] = "";

	ck_assert_int_eq(guard_id_valid(cases[_i].id, problem), cases[_i].valid);
	if (cases[_i].told)
		ck_assert_msg(strstr(problem, cases[_i].told), "%s", problem);
	else
		ck_assert_str_eq(problem, "");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	check_add_table(tcase, test_ids, cases);
	return check_run(tcase);
}
