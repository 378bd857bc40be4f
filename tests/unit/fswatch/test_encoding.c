/* Tests of workers/fswatch/disk/encoding.h. */
#include "common/base/utf8.h"
#include "tests/check_run.h"
#include "workers/fswatch/disk/encoding.h"
#include <stdlib.h>

struct sample {
	const char *what;
	struct str bytes;
	enum encoding_kind kind;
	bool mark;
	struct str text; /* as decoded */
};

static const struct sample samples[] = {
	{"empty", STR_INIT(""), ENCODING_UTF8, false, STR_INIT("")},
	{"ASCII", STR_INIT("a\nb"), ENCODING_UTF8, false, STR_INIT("a\nb")},
	{"UTF-8", STR_INIT("\xc5\xbelu\xf0\x9f\xa6\x84"), ENCODING_UTF8, false,
		STR_INIT("\xc5\xbelu\xf0\x9f\xa6\x84")},
	{"UTF-8 with mark keeps it",
		STR_INIT("\xef\xbb\xbf"
			 "a"),
		ENCODING_UTF8, true,
		STR_INIT("\xef\xbb\xbf"
			 "a")},
	{"controls are still UTF-8", STR_INIT("a\x01\x85"), ENCODING_BINARY, false,
		STR_INIT("")},
	{"NUL in text", STR_INIT("some text that goes on and on\0and ends"),
		ENCODING_BINARY, false, STR_INIT("")},
	{"PNG", STR_INIT("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), ENCODING_BINARY, false,
		STR_INIT("")},
	{"UTF-16LE with mark",
		STR_INIT("\xff\xfe"
			 "a\0\n\0"),
		ENCODING_UTF16LE, true, STR_INIT("a\n")},
	{"UTF-16BE with mark", STR_INIT("\xfe\xff\0a\0\n"), ENCODING_UTF16BE, true,
		STR_INIT("a\n")},
	{"UTF-16LE, no mark", STR_INIT("l\0e\0t\0 \0x\0\n\0"), ENCODING_UTF16LE, false,
		STR_INIT("let x\n")},
	{"UTF-16BE, no mark", STR_INIT("\0l\0e\0t\0 \0x\0\n"), ENCODING_UTF16BE, false,
		STR_INIT("let x\n")},
	{"UTF-16LE with a surrogate pair", STR_INIT("\xff\xfe\x3e\xd8\x84\xdd"),
		ENCODING_UTF16LE, true, STR_INIT("\xf0\x9f\xa6\x84")},
	{"mark of UTF-16 and nothing", STR_INIT("\xff\xfe"), ENCODING_UTF16LE, true,
		STR_INIT("")},
	{"mark of UTF-16, odd length",
		STR_INIT("\xff\xfe"
			 "a\0b"),
		ENCODING_BINARY, false, STR_INIT("")},
	{"mark of UTF-16, lone surrogate",
		STR_INIT("\xff\xfe\x3e\xd8"
			 "a\0"),
		ENCODING_BINARY, false, STR_INIT("")},
	{"UTF-32LE with mark", STR_INIT("\xff\xfe\0\0a\0\0\0\x84\xf9\x01\0"),
		ENCODING_UTF32LE, true, STR_INIT("a\xf0\x9f\xa6\x84")},
	{"UTF-32BE with mark", STR_INIT("\0\0\xfe\xff\0\0\0a"), ENCODING_UTF32BE, true,
		STR_INIT("a")},
	{"UTF-32LE, no mark", STR_INIT("a\0\0\0b\0\0\0"), ENCODING_UTF32LE, false,
		STR_INIT("ab")},
	{"UTF-32BE, no mark", STR_INIT("\0\0\0a\0\0\0b"), ENCODING_UTF32BE, false,
		STR_INIT("ab")},
	{"UTF-32 above U+10FFFF", STR_INIT("\xff\xfe\0\0\0\0\x11\0"), ENCODING_BINARY,
		false, STR_INIT("")},
	{"Latin-1", STR_INIT("// caf\xe9 na\xefve\n"), ENCODING_LATIN1, false,
		STR_INIT("// caf\xc3\xa9 na\xc3\xafve\n")},
	{"mark of UTF-8, then Latin-1",
		STR_INIT("\xef\xbb\xbf"
			 "caf\xe9 and more plain text"),
		ENCODING_LATIN1, false,
		STR_INIT("\xc3\xaf\xc2\xbb\xc2\xbf"
			 "caf\xc3\xa9 and more plain text")},
	{"high bytes throughout", STR_INIT("\x80\x81\xfe\xff\x80"), ENCODING_BINARY,
		false, STR_INIT("")},
};

#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

START_TEST(detects_and_decodes)
{
	for (size_t i = 0; i < SAMPLES; i++) {
		const struct sample *s = &samples[i];
		struct encoding e = encoding_detect(s->bytes);
		struct buf text = {.data = NULL};

		ck_assert_msg(e.kind == s->kind, "%s: kind %d", s->what, e.kind);
		ck_assert_msg(e.mark == s->mark, "%s: mark", s->what);
		encoding_decode(e, s->bytes, &text);
		ck_assert_msg(str_eq(buf_str(&text), s->text), "%s: text", s->what);
		ck_assert_msg(utf8_valid(buf_str(&text)), "%s: invalid", s->what);
		buf_free(&text);
	}
}
END_TEST

START_TEST(encodes_back_to_the_same_bytes)
{
	for (size_t i = 0; i < SAMPLES; i++) {
		const struct sample *s = &samples[i];
		struct buf bytes = {.data = NULL};

		if (s->kind == ENCODING_BINARY)
			continue;
		encoding_encode((struct encoding){s->kind, s->mark}, s->text, &bytes);
		ck_assert_msg(str_eq(buf_str(&bytes), s->bytes), "%s", s->what);
		buf_free(&bytes);
	}
}
END_TEST

START_TEST(keeps_the_mark_of_a_client_that_dropped_it)
{
	struct buf bytes = {.data = NULL};

	encoding_encode((struct encoding){ENCODING_UTF8, true}, STR_LIT("x"), &bytes);
	ck_assert(str_is(buf_str(&bytes), "\xef\xbb\xbfx"));
	buf_free(&bytes);
}
END_TEST

START_TEST(latin1_without_a_byte_for_it_becomes_utf8)
{
	struct buf bytes = {.data = NULL};

	encoding_encode((struct encoding){ENCODING_LATIN1, false},
		STR_LIT("\xc3\xa9\xe2\x82\xac"), &bytes);
	ck_assert(str_is(buf_str(&bytes), "\xc3\xa9\xe2\x82\xac"));
	buf_free(&bytes);
}
END_TEST

START_TEST(zero_byte_far_inside)
{
	static char bytes[10000];

	memset(bytes, 'x', sizeof(bytes));
	ck_assert_int_eq(
		encoding_detect((struct str){bytes, sizeof(bytes)}).kind, ENCODING_UTF8);
	bytes[9000] = '\0';
	ck_assert_int_eq(encoding_detect((struct str){bytes, sizeof(bytes)}).kind,
		ENCODING_BINARY);
}
END_TEST

/* Whatever the bytes are, the text is valid UTF-8. */
START_TEST(never_invalid)
{
	char bytes[64];
	unsigned random = 7;

	for (int round = 0; round < 20000; round++) {
		struct buf text = {.data = NULL};
		size_t len = (random >> 16) % sizeof(bytes);

		for (size_t i = 0; i < len; i++) {
			random = random * 1103515245 + 12345;
			bytes[i] = (char)((random >> 16) & (round % 2 ? 0xff : 0x83));
		}
		random = random * 1103515245 + 12345;
		encoding_decode(encoding_detect((struct str){bytes, len}),
			(struct str){bytes, len}, &text);
		ck_assert(utf8_valid(buf_str(&text)));
		buf_free(&text);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("encoding");

	tcase_add_test(tc, detects_and_decodes);
	tcase_add_test(tc, encodes_back_to_the_same_bytes);
	tcase_add_test(tc, keeps_the_mark_of_a_client_that_dropped_it);
	tcase_add_test(tc, latin1_without_a_byte_for_it_becomes_utf8);
	tcase_add_test(tc, zero_byte_far_inside);
	tcase_add_test(tc, never_invalid);
	return check_run(tc);
}
