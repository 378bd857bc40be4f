/* Tests of proto_parse: well-formed text, UTF-8, depth. */
#include "proto/codec/codec.h"
#include "tests/check_run.h"
#include <stdlib.h>

struct parsing {
	const char *what, *text;
	size_t len;
	bool valid;
};

#define TEXT(literal) literal, sizeof(literal) - 1

static const struct parsing parsings[] = {
	{"nothing", TEXT(""), false},
	{"blanks", TEXT(" \n\t"), false},
	{"blanks around", TEXT(" \n{\t}\r "), true},
	{"a scalar", TEXT("5"), true},
	{"half a word", TEXT("nul"), false},
	{"not JSON", TEXT("not json"), false},
	{"cut object", TEXT("{\"type\":"), false},
	{"cut array", TEXT("[1,2"), false},
	{"cut string", TEXT("\"abc"), false},
	{"trailing text", TEXT("{} x"), false},
	{"two documents", TEXT("{}{}"), false},
	{"trailing comma", TEXT("[1,]"), false},
	{"comment", TEXT("{/* */}"), false},
	{"single quotes", TEXT("{'a':1}"), false},
	{"bare key", TEXT("{a:1}"), false},
	{"key without value", TEXT("{\"a\"}"), false},
	{"NaN", TEXT("[NaN]"), false},
	{"Infinity", TEXT("[-Infinity]"), false},
	{"leading zero", TEXT("[01]"), false},
	{"leading plus", TEXT("[+1]"), false},
	{"no digits behind the point", TEXT("[1.]"), false},
	{"no digits before the point", TEXT("[.5]"), false},
	{"no exponent", TEXT("[1e]"), false},
	{"hexadecimal", TEXT("[0x10]"), false},
	{"lone minus", TEXT("[-]"), false},
	{"beyond double", TEXT("[1e400]"), false},
	{"beyond double, negative", TEXT("[-1e400]"), false},
	{"beneath double", TEXT("[1e-400]"), true},
	{"beyond 64 bits", TEXT("[18446744073709551616]"), true},
	{"hundreds of digits",
		TEXT("[1000000000000000000000000000000000000000000000000000000000000000"
		     "]"),
		true},
	{"raw control character",
		TEXT("\"a\x01"
		     "b\""),
		false},
	{"raw line end", TEXT("\"a\nb\""), false},
	{"raw NUL in a string", TEXT("\"a\0b\""), false},
	{"raw NUL behind", TEXT("{}\0"), false},
	{"unknown escape", TEXT("\"\\x41\""), false},
	{"short escape", TEXT("\"\\u12\""), false},
	{"escaped NUL", TEXT("\"\\u0000\""), true},
	{"surrogate pair", TEXT("\"\\ud83e\\udd84\""), true},
	{"lone high surrogate", TEXT("\"\\ud83e\""), false},
	{"high surrogate and a letter", TEXT("\"\\ud83ea\""), false},
	{"high surrogate and no low one", TEXT("\"\\ud83e\\u0041\""), false},
	{"lone low surrogate", TEXT("\"\\udd84\""), false},
	{"pair the wrong way round", TEXT("\"\\udd84\\ud83e\""), false},
	{"byte order mark", TEXT("\xEF\xBB\xBF{}"), false},
	{"characters", TEXT("\"\xC5\xBE\xE4\xB8\xAD\xF0\x9F\xA6\x84\""), true},
	{"lone continuation", TEXT("\"\x80\""), false},
	{"overlong slash", TEXT("\"\xC0\xAF\""), false},
	{"overlong in three", TEXT("\"\xE0\x80\xAF\""), false},
	{"overlong in four", TEXT("\"\xF0\x80\x80\xAF\""), false},
	{"surrogate in UTF-8", TEXT("\"\xED\xA0\x80\""), false},
	{"above U+10FFFF", TEXT("\"\xF4\x90\x80\x80\""), false},
	{"FE and FF", TEXT("\"\xFE\xFF\""), false},
	{"cut character", TEXT("\"\xE4\xB8\""), false},
	{"cut character at the end", TEXT("\"\xE4\xB8"), false},
	{"broken key", TEXT("{\"\xFF\":1}"), false},
	{"broken outside strings", TEXT("\xFF\xFE\x00"), false},
	{"UTF-16", TEXT("{\0}\0"), false},
};

START_TEST(parses)
{
	const struct parsing *p = &parsings[_i];
	struct proto_error error = {{0}};
	/* A copy of its own, so that reading beyond it is seen by the sanitizers. */
	char *copy = malloc(p->len ? p->len : 1);
	yyjson_doc *doc;

	memcpy(copy, p->text, p->len);
	doc = proto_parse((struct str){copy, p->len}, &error);
	free(copy);
	ck_assert_msg((doc != NULL) == p->valid, "%s: %s", p->what, error.text);
	if (!p->valid)
		ck_assert_msg(strncmp(error.text, "not valid JSON: ", 16) == 0, "%s: %s",
			p->what, error.text);
	yyjson_doc_free(doc);
}
END_TEST

static void add_times(struct buf *out, size_t n, const char *text)
{
	while (n-- > 0)
		buf_add_str(out, str_of(text));
}

static void check_depth(struct buf *text, bool valid)
{
	struct proto_error error = {{0}};
	yyjson_doc *doc = proto_parse(buf_str(text), &error);

	ck_assert_msg((doc != NULL) == valid, "%s", error.text);
	if (!valid)
		ck_assert_str_eq(error.text, "nested deeper than 64 levels");
	yyjson_doc_free(doc);
	buf_free(text);
}

static struct buf nested(
	size_t n, const char *open, const char *inside, const char *close)
{
	struct buf out = {0};

	add_times(&out, n, open);
	buf_add_str(&out, str_of(inside));
	add_times(&out, n, close);
	return out;
}

/* 64 levels, neither more nor less. */
START_TEST(nests_to_the_limit)
{
	static const struct {
		const char *open, *inside, *close;
	} forms[] = {{"[", "", "]"}, {"[1,", "2", ",3]"}, {"{\"a\":", "1", "}"},
		{"[[],", "\"[[\"", ",{}]"}};

	for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++)
		for (size_t n = 60; n <= 70; n++) {
			/* The last form has one level more inside. */
			struct buf text =
				nested(n, forms[f].open, forms[f].inside, forms[f].close);

			check_depth(&text, n + (f == 3) <= 64);
		}
}
END_TEST

START_TEST(nests_far_beyond_the_limit)
{
	struct buf text = nested(100000, "[", "", "]");
	struct proto_error error;

	check_depth(&text, false);
	text = nested(100000, "{\"a\":", "1", "}");
	check_depth(&text, false);
	add_times(&text, 1000000, "[");
	ck_assert_ptr_null(proto_parse(buf_str(&text), &error));
	buf_free(&text);
}
END_TEST

START_TEST(brackets_in_strings_do_not_nest)
{
	struct buf text = {0};

	add_times(&text, 63, "[");
	buf_add_str(&text, STR_LIT("\"\\\""));
	add_times(&text, 1000, "[{");
	buf_add_str(&text, STR_LIT("\",{\"[[[[\":\"]]]]\"}"));
	add_times(&text, 63, "]");
	check_depth(&text, true);
}
END_TEST

/* Many containers beside each other at the last level: leaving them must count too. */
START_TEST(siblings_do_not_add_up)
{
	struct buf text = {0};

	add_times(&text, 63, "[");
	add_times(&text, 10000, "[],{},");
	buf_add_char(&text, '0');
	add_times(&text, 63, "]");
	check_depth(&text, true);
	buf_add_char(&text, '[');
	for (int i = 0; i < 100; i++) {
		struct buf deep = nested(63, "[", "", "]");

		buf_add_str(&text, buf_str(&deep));
		buf_add_char(&text, ',');
		buf_free(&deep);
	}
	buf_add_str(&text, STR_LIT("0]"));
	check_depth(&text, true);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("codec_parse");

	check_add_table(tc, parses, parsings);
	tcase_add_test(tc, nests_to_the_limit);
	tcase_add_test(tc, nests_far_beyond_the_limit);
	tcase_add_test(tc, brackets_in_strings_do_not_nest);
	tcase_add_test(tc, siblings_do_not_add_up);
	return check_run(tc);
}
