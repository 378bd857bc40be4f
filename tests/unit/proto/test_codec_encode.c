/* Tests of proto_encode. */
#include "proto/codec/messages.h"
#include "tests/check_run.h"
#include <stdio.h>
#include <stdlib.h>

static void check_encoded(const struct type *type, const void *message, const char *want)
{
	struct buf out = {0};

	proto_encode(type, message, &out);
	buf_add_char(&out, '\0');
	ck_assert_str_eq(out.data, want);
	buf_free(&out);
}

START_TEST(encodes_what_is_there)
{
	struct fs_content c = {.path = STR_LIT("a"),
		.content = STR_LIT(""),
		.language = STR_LIT("x"),
		.line_count = 1,
		.version = STR_LIT("v")};
	struct session_start s = {0};
	struct explain_response e = {
		.path = STR_LIT("a"), .explanation = STR_LIT("\"\n")};
	struct dashboard_stats stats = {
		.total_coaching_minutes = 30, .api_cost_total = 0.875};
	struct empty nothing = {0};

	check_encoded(empty_type(), &nothing, "{}");
	/* An optional boolean that was not set is left out, required ones need no has_.
	 */
	check_encoded(fs_content_type(), &c,
		"{\"path\":\"a\",\"content\":\"\",\"language\":\"x\",\"lineCount\":1,"
		"\"version\":\"v\"}");
	c.has_binary = true;
	check_encoded(fs_content_type(), &c,
		"{\"path\":\"a\",\"content\":\"\",\"language\":\"x\",\"lineCount\":1,"
		"\"version\":\"v\","
		"\"binary\":false}");
	check_encoded(session_start_type(), &s, "{\"issueNumber\":null}");
	s.has_issue_number = true;
	s.issue_number = -5;
	check_encoded(session_start_type(), &s, "{\"issueNumber\":-5}");
	/* Required and not set: an empty array; nullable: null. */
	check_encoded(explain_response_type(), &e,
		"{\"path\":\"a\",\"explanation\":\"\\\"\\n\",\"keyConcepts\":[],"
		"\"analogy\":null,"
		"\"relatedFiles\":null,\"phaseConnection\":null}");
	check_encoded(dashboard_stats_type(), &stats,
		"{\"period\":\"7d\",\"sessionsCompleted\":0,\"totalCoachingMinutes\":30,"
		"\"issuesWorkedOn\":0,"
		"\"knowledgeGapsIdentified\":0,\"knowledgeGapsAddressed\":0,"
		"\"hintsUsed\":0,"
		"\"apiCostTotal\":0.875}");
}
END_TEST

START_TEST(encodes_values_handed_on)
{
	yyjson_doc *doc = yyjson_read("{\"a\":[1,2.5,\"\\u0000\"]}", 22, 0);
	struct fs_tree tree = {.root = {.raw = STR_LIT("{\"name\":\"x\"}")}};
	struct connection_error error = {.code = STR_LIT("C"), .message = STR_LIT("m")};

	check_encoded(fs_tree_type(), &tree, "{\"root\":{\"name\":\"x\"}}");
	tree.root = (struct json){.val = yyjson_doc_get_root(doc)};
	check_encoded(fs_tree_type(), &tree, "{\"root\":{\"a\":[1,2.5,\"\\u0000\"]}}");
	check_encoded(connection_error_type(), &error,
		"{\"code\":\"C\",\"message\":\"m\",\"context\":null}");
	yyjson_doc_free(doc);
}
END_TEST

START_TEST(encodes_numbers)
{
	static const struct {
		double value;
		const char *json;
	} cases[] = {{0, "0"}, {-0.0, "-0.0"}, {1, "1"}, {-1, "-1"}, {0.1, "0.1"},
		{0.85, "0.85"}, {1e15, "1000000000000000"},
		{9007199254740991.0, "9007199254740991"}, {1.5e300, "1.5e300"},
		{0.0 / 0.0, "null"}, {1e308 * 10, "null"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct window_size m = {.width = cases[i].value, .height = 1};
		char want[100];

		snprintf(
			want, sizeof(want), "{\"width\":%s,\"height\":1}", cases[i].json);
		check_encoded(window_size_type(), &m, want);
	}
}
END_TEST

START_TEST(encodes_extreme_integers)
{
	static const struct {
		int64_t value;
		const char *json;
	} cases[] = {{INT64_MIN, "-9223372036854775808"},
		{INT64_MAX, "9223372036854775807"}, {0, "0"}, {-1, "-1"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct written m = {.count = cases[i].value};
		char want[100];

		snprintf(want, sizeof(want), "{\"count\":%s}", cases[i].json);
		check_encoded(written_type(), &m, want);
	}
}
END_TEST

START_TEST(encoding_mends_broken_text)
{
	struct file_open m = {.path = STR_LIT("a\xFF"
					      "b\xE4\xB8")};

	check_encoded(file_open_type(), &m,
		"{\"path\":\"a\xEF\xBF\xBD"
		"b\xEF\xBF\xBD\xEF\xBF\xBD\"}");
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("codec_encode");

	tcase_add_test(tc, encodes_what_is_there);
	tcase_add_test(tc, encodes_values_handed_on);
	tcase_add_test(tc, encodes_numbers);
	tcase_add_test(tc, encodes_extreme_integers);
	tcase_add_test(tc, encoding_mends_broken_text);
	return check_run(tc);
}
