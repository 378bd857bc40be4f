/* Tests of proto/codec.h: parsing, decoding with exact errors, encoding. */
#include "common/utf8.h"
#include "proto/messages.h"
#include <check.h>
#include <stdio.h>
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

/* ---- parsing ---- */

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

/* Contract section 4: 64 levels, neither more nor less. */
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

/* ---- decoding by hand ---- */

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

/* ---- encoding by hand ---- */

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
	Suite *suite = suite_create("codec");
	TCase *tc = tcase_create("codec");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(
		tc, decodes, 0, (int)(sizeof(decodings) / sizeof(decodings[0])));
	tcase_add_loop_test(tc, parses, 0, (int)(sizeof(parsings) / sizeof(parsings[0])));
	tcase_add_test(tc, nests_to_the_limit);
	tcase_add_test(tc, nests_far_beyond_the_limit);
	tcase_add_test(tc, brackets_in_strings_do_not_nest);
	tcase_add_test(tc, siblings_do_not_add_up);
	tcase_add_test(tc, decodes_into_members);
	tcase_add_test(tc, tells_absent_empty_and_null_apart);
	tcase_add_test(tc, a_key_with_nul_is_another_key);
	tcase_add_test(tc, errors_are_short_and_valid);
	tcase_add_test(tc, ten_mebibytes);
	tcase_add_test(tc, encodes_what_is_there);
	tcase_add_test(tc, encodes_values_handed_on);
	tcase_add_test(tc, encodes_numbers);
	tcase_add_test(tc, encodes_extreme_integers);
	tcase_add_test(tc, encoding_mends_broken_text);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
