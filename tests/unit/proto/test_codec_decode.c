/* Tests of proto_decode: exact errors, and what arrives in the
 * members. */
#include "common/base/utf8.h"
#include "proto/codec/messages.h"
#include "tests/check_run.h"
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
	{hints_level_change_type, DECODE_LENIENT, "{\"level\":-4294967296}",
		"payload.level: expected an integer from 0 to 3 or one of none, file, "
		"region "
		"or line, got -4294967296"},
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
	{tool_get_session_state_input_type, DECODE_STRICT, "{\"include\":[]}", NULL},
	{tool_get_session_state_input_type, DECODE_STRICT,
		"{\"include\":[\"phase\",\"weather\"]}",
		"payload.include[1]: expected open_files, buffers, diffs, phase, plan, "
		"progress, "
		"hints, session, dreyfus, active_tab, selection, phase_text, "
		"recent_actions or diagnostics, got \"weather\""},
	{tree_node_type, DECODE_LENIENT,
		"{\"name\":\"p\",\"path\":\".\",\"type\":\"directory\",\"children\":[{"
		"\"name\":\"d\","
		"\"path\":\"d\",\"type\":\"directory\",\"children\":[{\"name\":7}]}]}",
		"payload.children[0].children[0].name: expected a string"},
	{tool_get_session_state_input_type, DECODE_STRICT, "{\"include\":[\"phase\",5]}",
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
	{observer_nudge_type, DECODE_LENIENT, "{\"signal\":\"idle\",\"confidence\":1.5}",
		"payload.confidence: expected a number from 0 to 1, got 1.5"},
	{observer_nudge_type, DECODE_LENIENT,
		"{\"signal\":\"idle\",\"confidence\":\"x\"}",
		"payload.confidence: expected a number"},
	{observer_nudge_type, DECODE_LENIENT,
		"{\"signal\":\"idle\",\"confidence\":1,\"context\":{\"current_file\":"
		"null,"
		"\"expected_file\":null,\"time_in_file\":null}}",
		"payload.context.phase_description: expected a string"},
	{observer_mute_type, DECODE_LENIENT, "{\"muted\":\"yes\"}",
		"payload.muted: expected a boolean"},
	{observer_mute_type, DECODE_LENIENT, "{\"muted\":1}",
		"payload.muted: expected a boolean"},
	{dashboard_request_type, DECODE_LENIENT, "{\"statsPeriod\":\"1y\"}",
		"payload.statsPeriod: expected 7d, 30d or all, got \"1y\""},
	{dashboard_request_type, DECODE_LENIENT, "{\"statsPeriod\":7}",
		"payload.statsPeriod: expected 7d, 30d or all, got 7"},
	{dashboard_request_type, DECODE_LENIENT, "{\"statsPeriod\":null}",
		"payload.statsPeriod: expected 7d, 30d or all, got null"},
	{practice_submit_solution_type, DECODE_LENIENT,
		"{\"code\":\"x\",\"activeConstraints\":[]}",
		"payload.kataId: expected a string"},
	{user_review_type, DECODE_LENIENT, "{}", NULL},
	{user_explain_type, DECODE_LENIENT, "{\"selectedText\":\"x\"}",
		"payload.path: expected a string"},
	{user_explain_type, DECODE_LENIENT,
		"{\"path\":\"a\",\"selectedText\":\"x\",\"selection\":{\"startLine\":1,"
		"\"endLine\":true}}",
		"payload.selection.endLine: expected an integer"},
	{session_start_type, DECODE_LENIENT, "{\"issueNumber\":-9007199254740993}",
		"payload.issueNumber: expected an integer, got -9007199254740993"},
	{session_start_type, DECODE_LENIENT, "{\"issueNumber\":18446744073709551615}",
		"payload.issueNumber: expected an integer, got 18446744073709551615"},
	{session_start_type, DECODE_LENIENT, "{\"issueNumber\":9007199254740992.0}",
		NULL},
	{session_start_type, DECODE_LENIENT, "{\"issueNumber\":-0.0}", NULL},
	{session_start_type, DECODE_LENIENT, "{\"issueNumber\":1e-300}",
		"payload.issueNumber: expected an integer, got 1e-300"},
	{session_start_type, DECODE_LENIENT, "{\"issueNumber\":true}",
		"payload.issueNumber: expected an integer"},
	{guard_event_type, DECODE_LENIENT,
		"{\"kind\":\"idle\",\"id\":\"x\",\"event\":[]}",
		"payload.event: expected an object"},
	{guard_event_type, DECODE_LENIENT, "{\"kind\":\"idle\",\"id\":\"x\"}",
		"payload.event: expected an object"},
	{guard_ref_type, DECODE_LENIENT, "{\"kind\":\"lazy\",\"id\":\"x\"}",
		"payload.kind: expected session-guard, breakloop, interview or idle, got "
		"\"lazy\""},
	{coaching_issue_context_type, DECODE_LENIENT,
		"{\"title\":\"t\",\"summary\":\"s\",\"labels\":\"bug\"}",
		"payload.labels: expected an array"},
	{tool_hint_files_input_type, DECODE_STRICT,
		"{\"hints\":[{\"path\":\"a\",\"style\":\"subtle\"},{\"path\":\"b\","
		"\"style\":\"glowing\"}]}",
		"payload.hints[1].style: expected suggested, important, critical, "
		"subtle, obvious, unmissable, "
		"required, warning or error, got \"glowing\""},
	{tool_hint_files_input_type, DECODE_STRICT,
		"{\"hints\":[{\"path\":\"a\",\"style\":\"subtle\",\"directories\":[\"x\","
		"1]}]}",
		"payload.hints[0].directories[1]: expected a string"},
	{tool_hint_files_input_type, DECODE_STRICT,
		"{\"hints\":[{\"path\":\"a\",\"style\":\"subtle\",\"colour\":1}]}",
		"payload.hints[0].colour: unknown field, known are path, style, "
		"directories"},
	{tool_update_phase_input_type, DECODE_STRICT,
		"{\"phase\":1,\"status\":\"pending\"}",
		"payload.status: expected active or complete, got \"pending\""},
	{tool_highlight_lines_input_type, DECODE_STRICT, "{\"PATH\":1}",
		"payload.PATH: unknown field, did you mean \"path\"?"},
	{tool_highlight_lines_input_type, DECODE_STRICT, "{\"\":1}",
		"payload.: unknown field, known are path, start, end, style, hoverText"},
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

static yyjson_doc *decode(
	const struct type *type, const char *json, struct arena *arena, void *out)
{
	struct proto_error error = {{0}};
	yyjson_doc *doc = proto_parse(str_of(json), &error);

	ck_assert_msg(doc != NULL, "%s: %s", json, error.text);
	ck_assert_msg(proto_decode(type, yyjson_doc_get_root(doc), "payload",
			      DECODE_LENIENT, arena, out, &error) == 0,
		"%s: %s", json, error.text);
	return doc;
}

START_TEST(decodes_into_members)
{
	struct arena arena = {0};
	struct buffer_update m;
	yyjson_doc *doc = decode(buffer_update_type(),
		"{\"content\":\"a\\u0000b\",\"cursorPosition\":{\"column\":2,\"line\":"
		"1e2},\"path\":\"\","
		"\"selections\":null}",
		&arena, &m);

	ck_assert_uint_eq(m.content.len, 3);
	ck_assert_int_eq(memcmp(m.content.ptr, "a\0b", 3), 0);
	ck_assert(m.path.ptr != NULL && m.path.len == 0);
	ck_assert(m.has_cursor_position);
	ck_assert_int_eq(m.cursor_position.line, 100);
	ck_assert_int_eq(m.cursor_position.column, 2);
	ck_assert(m.cursor_position.has_line);
	ck_assert(yyjson_is_null(m.selections.val));
	yyjson_doc_free(doc);

	doc = decode(
		buffer_update_type(), "{\"path\":\"a\",\"content\":\"\"}", &arena, &m);
	ck_assert(!m.has_cursor_position && !m.selections.val && !m.selections.raw.ptr);
	yyjson_doc_free(doc);
	arena_free(&arena);
}
END_TEST

START_TEST(tells_absent_empty_and_null_apart)
{
	struct arena arena = {0};
	struct user_review m;
	yyjson_doc *doc = decode(user_review_type(), "{}", &arena, &m);

	ck_assert_ptr_null(m.kata_id.ptr);
	ck_assert_ptr_null(m.active_constraint_titles.items);
	yyjson_doc_free(doc);
	doc = decode(user_review_type(),
		"{\"kataId\":null,\"activeConstraintTitles\":[]}", &arena, &m);
	ck_assert_ptr_null(m.kata_id.ptr);
	ck_assert_ptr_nonnull(m.active_constraint_titles.items);
	ck_assert_uint_eq(m.active_constraint_titles.count, 0);
	yyjson_doc_free(doc);
	doc = decode(user_review_type(),
		"{\"kataId\":\"\",\"activeConstraintTitles\":[\"\",\"x\"]}", &arena, &m);
	ck_assert_ptr_nonnull(m.kata_id.ptr);
	ck_assert_uint_eq(m.active_constraint_titles.count, 2);
	ck_assert_uint_eq(m.active_constraint_titles.items[0].len, 0);
	ck_assert(str_is(m.active_constraint_titles.items[1], "x"));
	yyjson_doc_free(doc);
	arena_free(&arena);
}
END_TEST

START_TEST(a_key_with_nul_is_another_key)
{
	struct proto_error error = {{0}};
	yyjson_doc *doc = proto_parse(STR_LIT("{\"path\\u0000\":\"a\"}"), &error);
	struct arena arena = {0};
	struct file_open m;

	ck_assert_int_eq(proto_decode(file_open_type(), yyjson_doc_get_root(doc), "p",
				 DECODE_LENIENT, &arena, &m, &error),
		-22);
	ck_assert_str_eq(error.text, "p.path: expected a string");
	ck_assert_int_eq(proto_decode(file_open_type(), yyjson_doc_get_root(doc), "p",
				 DECODE_STRICT, &arena, &m, &error),
		-22);
	ck_assert_str_eq(error.text, "p.path : unknown field, did you mean \"path\"?");
	yyjson_doc_free(doc);
}
END_TEST

static void add_times(struct buf *out, size_t n, const char *text)
{
	while (n-- > 0)
		buf_add_str(out, str_of(text));
}

/* What a stranger sends must not break or bloat the text of an error. */
START_TEST(errors_are_short_and_valid)
{
	struct proto_error error = {{0}};
	struct buf text = {0};
	struct arena arena = {0};
	struct hints_level_change m;
	yyjson_doc *doc;

	for (size_t n = 0; n < 400; n++) {
		buf_clear(&text);
		buf_add_str(&text, STR_LIT("{\""));
		add_times(&text, n, "\xC5\xBE");
		buf_add_str(&text, STR_LIT("\":1}"));
		doc = proto_parse(buf_str(&text), &error);
		ck_assert_int_eq(
			proto_decode(hints_level_change_type(), yyjson_doc_get_root(doc),
				"p", DECODE_STRICT, &arena, &m, &error),
			-22);
		ck_assert(utf8_valid(str_of(error.text)));
		ck_assert_uint_lt(strlen(error.text), sizeof(error.text));
		yyjson_doc_free(doc);
		buf_clear(&text);
		buf_add_str(&text, STR_LIT("{\"level\":\""));
		add_times(&text, n, "\xF0\x9F\xA6\x84");
		buf_add_str(&text, STR_LIT("\"}"));
		doc = proto_parse(buf_str(&text), &error);
		ck_assert_int_eq(
			proto_decode(hints_level_change_type(), yyjson_doc_get_root(doc),
				"p", DECODE_STRICT, &arena, &m, &error),
			-22);
		ck_assert(utf8_valid(str_of(error.text)));
		ck_assert(n <= 10 || !strstr(error.text, "got"));
		yyjson_doc_free(doc);
	}
	buf_free(&text);
}
END_TEST

/* Wherever the end of the text falls, no character is cut. */
START_TEST(errors_are_cut_between_characters)
{
	struct arena arena = {0};
	struct file_open m;
	char at[400];

	for (size_t n = 0; n < 260; n++) {
		struct proto_error error = {{0}};

		strcpy(at, n % 2 ? "a" : "");
		for (size_t i = 0; i < n / 2; i++)
			strcat(at, "\xC5\xBE");
		ck_assert_int_eq(proto_decode(file_open_type(), NULL, at, DECODE_LENIENT,
					 &arena, &m, &error),
			-22);
		ck_assert(utf8_valid(str_of(error.text)));
		ck_assert(strncmp(error.text, at, strlen(at) < 254 ? strlen(at) : 254) ==
			  0);
	}
}
END_TEST

START_TEST(ten_mebibytes)
{
	const size_t size = 10u * 1024 * 1024;
	char *content = malloc(size);
	struct buffer_update m = {.path = STR_LIT("a"), .content = {content, size}}, back;
	struct proto_error error = {{0}};
	struct arena arena = {0};
	struct buf out = {0};
	yyjson_doc *doc;

	for (size_t i = 0; i < size; i++)
		content[i] = (char)(i % 61 == 0 ? '\n' : 'a' + (int)(i % 26));
	proto_encode(buffer_update_type(), &m, &out);
	doc = proto_parse(buf_str(&out), &error);
	ck_assert_ptr_nonnull(doc);
	ck_assert_int_eq(proto_decode(buffer_update_type(), yyjson_doc_get_root(doc), "p",
				 DECODE_LENIENT, &arena, &back, &error),
		0);
	ck_assert(str_eq(back.content, m.content));
	ck_assert(back.content.ptr != m.content.ptr);
	yyjson_doc_free(doc);
	buf_free(&out);
	free(content);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("codec_decode");

	check_add_table(tc, decodes, decodings);
	tcase_add_test(tc, decodes_into_members);
	tcase_add_test(tc, tells_absent_empty_and_null_apart);
	tcase_add_test(tc, a_key_with_nul_is_another_key);
	tcase_add_test(tc, errors_are_short_and_valid);
	tcase_add_test(tc, errors_are_cut_between_characters);
	tcase_add_test(tc, ten_mebibytes);
	return check_run(tc);
}
