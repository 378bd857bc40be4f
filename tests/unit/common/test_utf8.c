/* Tests of common/base/utf8.h. */
#include "common/base/utf8.h"
#include "tests/check_run.h"
#include <stdlib.h>

struct validity {
	const char *what;
	const char *text;
	size_t len;
	bool valid;
	size_t units; /* UTF-16 */
};

#define TEXT(literal) literal, sizeof(literal) - 1

static const struct validity validities[] = {
	{"empty", TEXT(""), true, 0},
	{"ASCII", TEXT("abc"), true, 3},
	{"NUL", TEXT("a\0b"), true, 3},
	{"exactly eight bytes", TEXT("abcdefgh"), true, 8},
	{"ASCII around a character", TEXT("abcdefghi\xC3\xA9jklmnopqr"), true, 19},
	{"two bytes, lowest", TEXT("\xC2\x80"), true, 1},
	{"two bytes, highest", TEXT("\xDF\xBF"), true, 1},
	{"three bytes, lowest", TEXT("\xE0\xA0\x80"), true, 1},
	{"before the surrogates", TEXT("\xED\x9F\xBF"), true, 1},
	{"after the surrogates", TEXT("\xEE\x80\x80"), true, 1},
	{"three bytes, highest", TEXT("\xEF\xBF\xBF"), true, 1},
	{"four bytes, lowest", TEXT("\xF0\x90\x80\x80"), true, 2},
	{"four bytes, highest", TEXT("\xF4\x8F\xBF\xBF"), true, 2},
	{"mixed beyond eight bytes",
		TEXT("\xC5\xBElu\xC5\xA5\xF0\x9F\xA6\x84 \xE4\xB8\xAD\xE6\x96\x87"), true,
		9},
	{"lone continuation", TEXT("\x80"), false, 1},
	{"continuation after eight bytes", TEXT("abcdefgh\xBF"), false, 9},
	{"overlong two bytes", TEXT("\xC0\xAF"), false, 2},
	{"overlong two bytes, C1", TEXT("\xC1\xBF"), false, 2},
	{"overlong three bytes", TEXT("\xE0\x9F\xBF"), false, 3},
	{"overlong four bytes", TEXT("\xF0\x8F\xBF\xBF"), false, 4},
	{"first surrogate", TEXT("\xED\xA0\x80"), false, 3},
	{"last surrogate", TEXT("\xED\xBF\xBF"), false, 3},
	{"above U+10FFFF", TEXT("\xF4\x90\x80\x80"), false, 4},
	{"F5", TEXT("\xF5\x80\x80\x80"), false, 4},
	{"FF", TEXT("\xFF"), false, 1},
	{"cut after one of two", TEXT("\xC3"), false, 1},
	{"cut after two of three", TEXT("\xE4\xB8"), false, 2},
	{"cut after three of four", TEXT("\xF0\x9F\xA6"), false, 3},
	{"start instead of continuation",
		TEXT("\xE4\xB8"
		     "a"),
		false, 3},
	{"second character broken", TEXT("\xC3\xA9\xC3("), false, 3},
};

START_TEST(validates_and_counts)
{
	const struct validity *v = &validities[_i];
	struct str s = {v->text, v->len};

	ck_assert_msg(utf8_valid(s) == v->valid, "%s", v->what);
	ck_assert_msg(utf8_utf16_len(s) == v->units, "%s: %zu units", v->what,
		utf8_utf16_len(s));
}
END_TEST

/* The bytes around the text must not matter: the same text at every alignment and
 * distance from the end. */
START_TEST(does_not_look_outside)
{
	const struct validity *v = &validities[_i];

	for (size_t pad = 0; pad < 17; pad++) {
		char *copy = malloc(v->len + pad + 1);
		struct str s = {copy + pad, v->len};

		memset(copy, 0xC3, pad);
		memcpy(copy + pad, v->text, v->len);
		ck_assert_msg(utf8_valid(s) == v->valid, "%s at %zu", v->what, pad);
		ck_assert_msg(utf8_utf16_len(s) == v->units, "%s at %zu", v->what, pad);
		free(copy);
	}
}
END_TEST

START_TEST(cuts_between_characters)
{
	struct str s =
		STR_LIT("a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\xA6\x84z"); /* 1 2 3 4 1 bytes */
	static const size_t bytes[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
	static const size_t units[] = {0, 1, 3, 6, 6, 10, 11, 11};

	for (size_t max = 0; max < sizeof(bytes) / sizeof(bytes[0]); max++)
		ck_assert_uint_eq(utf8_cut(s, max).len, bytes[max]);
	for (size_t max = 0; max < sizeof(units) / sizeof(units[0]); max++)
		ck_assert_uint_eq(utf8_cut_utf16(s, max).len, units[max]);
}
END_TEST

START_TEST(cuts_long_and_broken_text)
{
	struct str ascii = STR_LIT("0123456789012345678901234567890");
	struct str broken = STR_LIT("\x80\x80\x80\x80\x80\x80");

	for (size_t max = 0; max < 40; max++) {
		size_t want = max < ascii.len ? max : ascii.len;

		ck_assert_uint_eq(utf8_cut(ascii, max).len, want);
		ck_assert_uint_eq(utf8_cut_utf16(ascii, max).len, want);
	}
	for (size_t max = 0; max < 8; max++) {
		size_t want = max < broken.len ? max : broken.len;

		ck_assert_uint_eq(utf8_cut(broken, max).len, want);
		ck_assert_uint_eq(utf8_cut_utf16(broken, max).len, want);
	}
	ck_assert_uint_eq(utf8_char_len(broken), 0);
	ck_assert_uint_eq(utf8_char_len((struct str){"", 0}), 0);
}
END_TEST

struct showing {
	const char *text, *shown;
};

static const struct showing showings[] = {
	{"a", "a"},
	{"\xC3\xA4", "\xC3\xA4"},
	{"\xF0\x9D\x84\x9E", "\xF0\x9D\x84\x9E"},
	{"\n", "\\x0a"},
	{"\x1B[2J", "\\x1b[2J"},
	{"\x7F", "\\x7f"},
	{"\xC2\x9B"
	 "2J",
		"\\u009b2J"},
	{"\x9B"
	 "2J",
		"\\x9b2J"},
	{"\xC2\x80\xC2\x9F\xC2\xA0", "\\u0080\\u009f\xC2\xA0"},
	{"\xE2\x80\xAE", "\\u202e"},
	{"\xE2\x81\xA6", "\\u2066"},
	{"\xE2\x80\xA8", "\\u2028"},
	{"\xD8\x9C", "\\u061c"},
	{"\xC3", "\\xc3"},
	{"\xED\xA0\x80", "\\xed\\xa0\\x80"},
	{"\xFF", "\\xff"},
};

START_TEST(shows_what_can_be_seen)
{
	struct str rest = str_of(showings[_i].text);
	char shown[64];
	size_t n = 0;

	while (rest.len > 0)
		n += utf8_shown(&rest, shown + n);
	ck_assert_str_eq(strndupa(shown, n), showings[_i].shown);
}
END_TEST

int main(void)
{
	int count = (int)(sizeof(validities) / sizeof(validities[0]));
	TCase *tc = tcase_create("utf8");

	tcase_add_loop_test(tc, validates_and_counts, 0, count);
	tcase_add_loop_test(tc, does_not_look_outside, 0, count);
	check_add_table(tc, shows_what_can_be_seen, showings);
	tcase_add_test(tc, cuts_between_characters);
	tcase_add_test(tc, cuts_long_and_broken_text);
	return check_run(tc);
}
