/* Tests of buf_add_json_string: against a plain implementation, and read back by yyjson.
 */
#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "tests/check_run.h"
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

struct example {
	const char *what, *text;
	size_t len;
	const char *json;
};

#define TEXT(literal) literal, sizeof(literal) - 1

static const struct example examples[] = {
	{"empty", TEXT(""), "\"\""},
	{"plain", TEXT("hello, world"), "\"hello, world\""},
	{"quote and backslash", TEXT("say \"a\\b\""), "\"say \\\"a\\\\b\\\"\""},
	{"short escapes", TEXT("\b\t\n\f\r"), "\"\\b\\t\\n\\f\\r\""},
	{"control", TEXT("\x01\x1f\x7f"), "\"\\u0001\\u001f\x7f\""},
	{"NUL", TEXT("a\0b"), "\"a\\u0000b\""},
	{"slash stays", TEXT("</script>"), "\"</script>\""},
	{"characters", TEXT("\xC3\xA9\xE4\xB8\xAD\xF0\x9F\xA6\x84"),
		"\"\xC3\xA9\xE4\xB8\xAD\xF0\x9F\xA6\x84\""},
	{"line separator", TEXT("\xE2\x80\xA8"), "\"\xE2\x80\xA8\""},
	{"broken",
		TEXT("a\xFF"
		     "b"),
		"\"a\xEF\xBF\xBD"
		"b\""},
	{"cut character", TEXT("abcdefgh\xE4\xB8"),
		"\"abcdefgh\xEF\xBF\xBD\xEF\xBF\xBD\""},
	{"surrogate", TEXT("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
};

START_TEST(escapes)
{
	const struct example *e = &examples[_i];
	struct buf out = {0};

	buf_add_str(&out, STR_LIT("x"));
	buf_add_json_string(&out, (struct str){e->text, e->len});
	ck_assert_msg(out.len == strlen(e->json) + 1 &&
			      memcmp(out.data + 1, e->json, out.len - 1) == 0,
		"%s: %.*s", e->what, STR_ARG(buf_str(&out)));
	buf_free(&out);
}
END_TEST

/* As buf_add_json_string, one character at a time. */
static void add_plainly(struct buf *out, struct str s)
{
	static const char letters[] = "btnvfr"; /* 8 to 13; there is no \v in JSON */

	buf_add_char(out, '"');
	while (s.len > 0) {
		unsigned char c = (unsigned char)s.ptr[0];
		size_t n = utf8_char_len(s);

		if (n == 0)
			buf_add_str(out, STR_LIT("\xEF\xBF\xBD"));
		else if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c >= 8 && c <= 13 && c != 11)
			buf_printf(out, "\\%c", letters[c - 8]);
		else if (c < 0x20)
			buf_printf(out, "\\u%04x", c);
		else
			buf_add(out, s.ptr, n);
		s.ptr += n ? n : 1;
		s.len -= n ? n : 1;
	}
	buf_add_char(out, '"');
}

static void check_against_plain(struct str s)
{
	struct buf fast = {0}, plain = {0};
	yyjson_doc *doc;

	buf_add_json_string(&fast, s);
	add_plainly(&plain, s);
	ck_assert_uint_eq(fast.len, plain.len);
	ck_assert_int_eq(memcmp(fast.data, plain.data, fast.len), 0);
	doc = yyjson_read(fast.data, fast.len, 0);
	ck_assert_ptr_nonnull(doc);
	if (utf8_valid(s)) {
		ck_assert_uint_eq(yyjson_get_len(yyjson_doc_get_root(doc)), s.len);
		ck_assert(s.len == 0 || memcmp(yyjson_get_str(yyjson_doc_get_root(doc)),
						s.ptr, s.len) == 0);
	}
	yyjson_doc_free(doc);
	buf_free(&fast);
	buf_free(&plain);
}

/* Each byte alone and at every place within and around a word. */
START_TEST(every_byte_at_every_place)
{
	char text[24];

	for (int c = 0; c < 256; c++)
		for (size_t at = 0; at < sizeof(text); at++) {
			memset(text, 'x', sizeof(text));
			text[at] = (char)c;
			check_against_plain((struct str){text, sizeof(text)});
			check_against_plain((struct str){text, at + 1});
		}
}
END_TEST

/* Characters of all lengths across the borders of pieces, whole and broken. */
START_TEST(borders_of_pieces)
{
	static const char *const endings[] = {"\xC3\xA9", "\xE4\xB8\xAD",
		"\xF0\x9F\xA6\x84", "\xE4\xB8", "\x80\x80\x80\x80", "\n"};
	char *text = malloc(3 * 4096 + 16);

	for (size_t e = 0; e < sizeof(endings) / sizeof(endings[0]); e++)
		for (size_t len = 4090; len < 4100; len++) {
			size_t n = strlen(endings[e]);

			memset(text, 'a', 3 * 4096);
			memcpy(text + len, endings[e], n);
			memcpy(text + 4096 + len, endings[e], n);
			check_against_plain((struct str){text, len + n});
			check_against_plain((struct str){text, 2 * 4096 + len});
		}
	free(text);
}
END_TEST

START_TEST(random_bytes_and_texts)
{
	static const char *const parts[] = {"a", "bcdefgh", "\n", "\"", "\\", "\x01",
		"\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\xA6\x84", "\xFF", "\xC3",
		"\t\t\treturn x;\n", "0123456789abcdef"};
	char text[700];

	srandom(20261127);
	for (int round = 0; round < 3000; round++) {
		size_t len = 0;

		while (len < 600) {
			const char *part = parts[(size_t)random() %
						 (sizeof(parts) / sizeof(parts[0]))];
			size_t n = strlen(part);

			if (round % 3 == 0)
				text[len++] = (char)random();
			else
				len = (size_t)(stpcpy(text + len, part) - text);
			if (n > 0 && random() % 200 == 0)
				break;
		}
		check_against_plain((struct str){text, len});
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("json_string");

	check_add_table(tc, escapes, examples);
	tcase_add_test(tc, every_byte_at_every_place);
	tcase_add_test(tc, borders_of_pieces);
	tcase_add_test(tc, random_bytes_and_texts);
	return check_run(tc);
}
