/* Tests of proto/codec.h: parsing, decoding with exact errors, encoding. */
#include "proto/messages.h"
#include <check.h>
#include <stdlib.h>

struct decoding {
	const struct type *(*type)(void);
	enum decode_mode mode;
	const char *json;
	const char *error; /* NULL: decodes */
};

static const struct decoding decodings[] = {
	{file_open_type, DECODE_LENIENT, "{\"path\":\"a\"}", NULL},
	{file_open_type, DECODE_LENIENT, "{}", "payload.path: expected a string"},
	{file_open_type, DECODE_LENIENT, "{\"path\":5}",
		"payload.path: expected a string"},
	{file_open_type, DECODE_LENIENT, "{\"path\":null}",
		"payload.path: expected a string"},
	{file_open_type, DECODE_LENIENT, "{\"path\":[]}",
		"payload.path: expected a string"},
	{file_open_type, DECODE_LENIENT, "{\"path\":\"a\",\"path\":\"b\"}",
		"payload.path: given more than once"},
	{file_open_type, DECODE_LENIENT, "{\"x\":1,\"path\":\"a\",\"y\":[{}]}", NULL},
	{file_open_type, DECODE_LENIENT, "[]", "payload: expected an object"},
	{file_open_type, DECODE_LENIENT, "7", "payload: expected an object"},
	{file_open_type, DECODE_LENIENT, "null", "payload: expected an object"},
	{file_save_type, DECODE_LENIENT, "{\"path\":\"a.ts\"}",
		"payload.content: expected a string"},
	{file_save_type, DECODE_LENIENT, "{\"content\":7}",
		"payload.path: expected a string"},
	{buffer_update_type, DECODE_LENIENT,
		"{\"path\":\"a\",\"content\":\"\",\"cursorPosition\":{\"line\":1.5,"
		"\"column\":1}}",
		"payload.cursorPosition.line: expected an integer, got 1.5"},
	{buffer_update_type, DECODE_LENIENT,
		"{\"path\":\"a\",\"content\":\"\",\"cursorPosition\":{\"line\":5.0,"
		"\"column\":1e2}}",
		NULL},
	{buffer_update_type, DECODE_LENIENT,
		"{\"path\":\"a\",\"content\":\"\",\"cursorPosition\":{\"line\":1}}",
		"payload.cursorPosition.column: expected an integer"},
	{buffer_update_type, DECODE_LENIENT,
		"{\"path\":\"a\",\"content\":\"\",\"cursorPosition\":[]}",
		"payload.cursorPosition: expected an object"},
	{hints_level_change_type, DECODE_LENIENT, "{\"level\":0}", NULL},
	{hints_level_change_type, DECODE_LENIENT,
		"{\"level\":3.0,\"previousLevel\":\"line\"}", NULL},
	{hints_level_change_type, DECODE_LENIENT, "{\"level\":4}",
		"payload.level: expected an integer from 0 to 3 or one of none, file, "
		"region or line, got 4"},
	{hints_level_change_type, DECODE_LENIENT, "{\"level\":-1}",
		"payload.level: expected an integer from 0 to 3 or one of none, file, "
		"region or line, got -1"},
	{hints_level_change_type, DECODE_LENIENT, "{\"level\":\"enormous\"}",
		"payload.level: expected an integer from 0 to 3 or one of none, file, "
		"region or line, "
		"got \"enormous\""},
	{session_start_type, DECODE_LENIENT, "{}", NULL},
	{session_start_type, DECODE_LENIENT, "{\"issueNumber\":null}", NULL},
	{session_start_type, DECODE_LENIENT, "{\"issueNumber\":\"seven\"}",
		"payload.issueNumber: expected an integer"},
	{session_start_type, DECODE_LENIENT, "{\"issueNumber\":9007199254740992}", NULL},
	{session_start_type, DECODE_LENIENT, "{\"issueNumber\":9007199254740993}",
		"payload.issueNumber: expected an integer, got 9007199254740993"},
	{session_start_type, DECODE_LENIENT, "{\"issueNumber\":1e300}",
		"payload.issueNumber: expected an integer, got 1e+300"},
	{session_start_type, DECODE_LENIENT, "{\"issueNumber\":-3}",
		"payload.issueNumber: expected an integer not below 0, got -3"},
	{session_resume_type, DECODE_LENIENT, "{\"sessionId\":\"\"}",
		"payload.sessionId: must not be empty"},
	{session_resume_type, DECODE_LENIENT,
		"{\"sessionId\":"
		"\"01234567890123456789012345678901234567890123456789012345678901234\"}",
		"payload.sessionId: expected at most 64 bytes, got 65"},
	{action_append_type, DECODE_LENIENT, "{\"actions\":[]}",
		"payload.actions: must not be empty"},
	{action_append_type, DECODE_LENIENT, "{\"actions\":[7]}",
		"payload.actions[0]: expected an object"},
	{action_append_type, DECODE_LENIENT, "{\"actions\":{}}",
		"payload.actions: expected an array of objects"},
	{tool_get_session_state_input_type, DECODE_STRICT, "{\"include\":[\"a\",5]}",
		"payload.include[1]: expected a string"},
	{tool_get_buffer_input_type, DECODE_STRICT, "{\"pth\":\"a\"}",
		"payload.pth: unknown field, did you mean \"path\"?"},
	{tool_highlight_lines_input_type, DECODE_STRICT, "{\"colour\":1}",
		"payload.colour: unknown field, known are path, start, end, style, "
		"hoverText"},
	{empty_type, DECODE_STRICT, "{\"path\":1}",
		"payload.path: unknown field, none is taken here"},
	{tool_highlight_lines_input_type, DECODE_STRICT,
		"{\"path\":\"a\",\"start\":0,\"end\":2,\"style\":\"hint\"}",
		"payload.start: expected an integer from 1 to 1000000000, got 0"},
	{tool_highlight_lines_input_type, DECODE_STRICT,
		"{\"path\":\"a\",\"start\":1,\"end\":2,\"style\":\"neon\"}",
		"payload.style: expected hint, focus, info, warning, error or success, "
		"got \"neon\""},
	{tool_highlight_lines_input_type, DECODE_STRICT,
		"{\"path\":\"a\",\"start\":\"1\",\"end\":2,\"style\":\"hint\"}",
		"payload.start: expected an integer"},
};

START_TEST(decodes)
{
	const struct decoding *d = &decodings[_i];
	const struct type *type = d->type();
	struct proto_error error = {{0}};
	yyjson_doc *doc = proto_parse(str_of(d->json), &error);
	struct arena arena = {0};
	void *out = malloc(type->size);
	int result;

	ck_assert_msg(doc != NULL, "%s: %s", d->json, error.text);
	result = proto_decode(
		type, yyjson_doc_get_root(doc), "payload", d->mode, &arena, out, &error);
	ck_assert_msg(
		result == (d->error ? -22 : 0), "%s: %d %s", d->json, result, error.text);
	if (d->error)
		ck_assert_str_eq(error.text, d->error);
	free(out);
	arena_free(&arena);
	yyjson_doc_free(doc);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("codec");
	TCase *tc = tcase_create("codec");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(
		tc, decodes, 0, (int)(sizeof(decodings) / sizeof(decodings[0])));
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
