/* Tests of workers/gateway/tools/mcp_fit.h: no answer is longer than a client shows its model,
 * and what was left out is said. */
#include "tests/check_run.h"
#include "workers/gateway/tools/mcp_fit.h"
#include <stdlib.h>
#include <yyjson.h>

#define MAX 4000

static void add_repeated(struct buf *out, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		buf_add_str(out, str_of(text));
}

static const struct {
	const char *what;
	const char *head, *repeated, *tail;
	size_t times;
	const char *note; /* NULL: unchanged; "": cannot be cut */
} samples[] = {
	{"a short one", "{\"a\":\"", "x", "\"}", 100, NULL},
	{"exactly as long as it may be", "{\"a\":\"", "x", "\"}", MAX - 8, NULL},
	{"a long text", "{\"a\":\"", "x", "\"}", 100000, "a: 2000 of 100000 bytes"},
	{"whole characters", "{\"a\":\"", "\xC3\xA9", "\"}", 50000, "of 100000 bytes"},
	{"every byte escaped", "{\"a\":\"", "\\u0001", "\"}", 50000, "of 50000 bytes"},
	{"a text deep inside", "{\"d\":[{\"b\":{\"c\":\"", "x", "\"}}]}", 100000,
		"d[0].b.c: "},
	{"many texts", "{\"d\":[\"\"", ",\"0123456789012345678901234567890123456789\"",
		"]}", 5000, "of 5001 items"},
	{"many objects", "{\"d\":[{}", ",{\"path\":\"src/a.ts\",\"n\":12}", "]}", 9000,
		"of 9001 items"},
	{"many numbers", "{\"d\":[0", ",123456", "]}", 9000, "of 9001 items"},
	{"no object", "[0", ",123456", "]", 9000, ""},
	{"too many members", "{\"a\":0", ",\"aaaaaaaaaaaaaaaaaaaa\":1", "}", 9000, ""},
};

START_TEST(fits_or_says_so)
{
	struct buf json = {0}, out = {0};
	yyjson_doc *doc;
	bool fits;

	buf_add_str(&json, str_of(samples[_i].head));
	add_repeated(&json, samples[_i].repeated, samples[_i].times);
	buf_add_str(&json, str_of(samples[_i].tail));
	fits = mcp_fit(buf_str(&json), MAX, "Ask for less.", &out);
	ck_assert_msg(fits == (!samples[_i].note || samples[_i].note[0]), "%s",
		samples[_i].what);
	if (!fits) {
		ck_assert_uint_eq(out.len, 0);
	} else {
		ck_assert_msg(out.len <= MAX, "%s: %zu", samples[_i].what, out.len);
		doc = yyjson_read(out.data, out.len, YYJSON_READ_NOFLAG);
		ck_assert_msg(doc != NULL, "%s: JSON", samples[_i].what);
		yyjson_doc_free(doc);
		buf_add_char(&out, '\0');
		if (samples[_i].note)
			ck_assert_msg(strstr(out.data, samples[_i].note) &&
					      strstr(out.data, "\"Ask for less.\"]}"),
				"%s: %s", samples[_i].what, out.data);
		else
			ck_assert(str_eq(str_of(out.data), buf_str(&json)));
	}
	buf_free(&json);
	buf_free(&out);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("fit");

	check_add_table(tc, fits_or_says_so, samples);
	return check_run(tc);
}
