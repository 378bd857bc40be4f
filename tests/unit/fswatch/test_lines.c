/* Tests of workers/fswatch/buffers/lines.h: lines of a text in pieces that lose nothing. */
#include "common/base/utf8.h"
#include "tests/check_run.h"
#include "workers/fswatch/buffers/lines.h"
#include <stdlib.h>

static const struct {
	const char *text;
	int64_t first, column, last;
	bool numbered;
	size_t max;
	const char *want;
	int64_t taken_last, next, next_column;
} samples[] = {
	{"a\nb\nc", 1, 1, INT64_MAX, true, 1000, "1\ta\n2\tb\n3\tc", 3, 0, 0},
	{"a\nb\nc\n", 1, 1, INT64_MAX, true, 1000, "1\ta\n2\tb\n3\tc\n4\t", 4, 0, 0},
	{"a\nb\nc", 2, 1, 2, true, 1000, "2\tb\n", 2, 0, 0},
	{"a\nb\nc", 2, 1, 9, false, 1000, "b\nc", 3, 0, 0},
	{"a\nb\nc", 4, 1, 9, true, 1000, "", 0, 0, 0},
	{"", 1, 1, INT64_MAX, true, 1000, "1\t", 1, 0, 0},
	{"a\nb\nc", 1, 1, INT64_MAX, true, 30, "1\ta\n2\tb\n", 2, 3, 1},
	{"a\nb\nc", 1, 1, INT64_MAX, false, 6, "a\nb\n", 2, 3, 1},
	/* A line that is too long is given in pieces, at whole characters. */
	{"0123456789\nb", 1, 1, INT64_MAX, false, 6, "0123", 1, 1, 5},
	{"0123456789\nb", 1, 5, INT64_MAX, false, 9, "456789\n", 1, 2, 1},
	{"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 1, 1, 1, false, 7, "\xC3\xA9\xC3\xA9", 1, 1,
		3},
	/* Quotes count twice, control characters six times. */
	{"\"\"\"\"\"\"", 1, 1, 1, false, 8, "\"\"\"", 1, 1, 4},
	{"\x01\x01", 1, 1, 1, false, 9, "\x01", 1, 1, 2},
	{"a\r\nb", 1, 1, 1, true, 1000, "1\ta\r\n", 1, 0, 0},
};

START_TEST(takes)
{
	struct lines_range range = {.first = samples[_i].first,
		.column = samples[_i].column,
		.last = samples[_i].last,
		.numbered = samples[_i].numbered};
	struct buf out = {0};
	struct lines_taken taken =
		lines_take(str_of(samples[_i].text), &range, samples[_i].max, &out);

	buf_add_char(&out, '\0');
	ck_assert_str_eq(out.data, samples[_i].want);
	ck_assert_int_eq(taken.last, samples[_i].taken_last);
	ck_assert_int_eq(taken.next, samples[_i].next);
	ck_assert_int_eq(taken.next_column, samples[_i].next_column);
	buf_free(&out);
}
END_TEST

/* Whoever goes on where an answer says, gets the whole text in the end. */
START_TEST(pieces_make_the_whole)
{
	static const char *const words[] = {"a", "\n", "\"", "\\", "\xC3\xA9",
		"\xF0\x9F\x98\x80", "\x02", "long long long long", "\n\n"};

	for (unsigned seed = 1; seed < 300; seed++) {
		struct lines_range range = {.first = 1, .column = 1, .last = INT64_MAX};
		struct buf text = {0}, whole = {0};
		struct lines_taken taken;
		size_t max = 10 + seed % 90;
		int turns = 0;

		srand(seed);
		for (int i = 0; i < 200; i++)
			buf_add_str(
				&text, str_of(words[(size_t)rand() %
						    (sizeof(words) / sizeof(words[0]))]));
		do {
			struct buf piece = {0};

			taken = lines_take(buf_str(&text), &range, max, &piece);
			ck_assert_uint_le(lines_json_size(buf_str(&piece)), max);
			buf_add_str(&whole, buf_str(&piece));
			buf_free(&piece);
			range.first = taken.next;
			range.column = taken.next_column;
			ck_assert_int_lt(++turns, 1000);
		} while (taken.next > 0);
		ck_assert(str_eq(buf_str(&whole), buf_str(&text)));
		buf_free(&text);
		buf_free(&whole);
	}
}
END_TEST

/* Lines as they are counted one by one: of texts around the size of a block, with few and with many
 * lines, at every place. */
START_TEST(counts_and_skips)
{
	for (unsigned every = 1; every < 300; every += every < 10 ? 1 : 57)
		for (size_t len = 0; len < 700; len += len % 128 < 3 ? 1 : 31) {
			char text[700];
			struct str all = {text, len};
			int64_t line = 0;

			for (size_t i = 0; i < len; i++)
				text[i] = i % every == every - 1 ? '\n' : 'x';
			ck_assert_ptr_eq(lines_behind(all, 0).ptr, text);
			for (size_t i = 0; i < len; i++) {
				if (text[i] != '\n')
					continue;
				line++;
				ck_assert_ptr_eq(
					lines_behind(all, line).ptr, text + i + 1);
				ck_assert_uint_eq(
					lines_behind(all, line).len, len - i - 1);
			}
			ck_assert_int_eq(lines_count(all), line + 1);
			ck_assert_ptr_null(lines_behind(all, line + 1).ptr);
			ck_assert_ptr_null(lines_behind(all, line + 400).ptr);
		}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("lines");

	check_add_table(tc, takes, samples);
	tcase_add_test(tc, pieces_make_the_whole);
	tcase_add_test(tc, counts_and_skips);
	return check_run(tc);
}
