/* Tests of MCP messages, headers, session ids and tools (workers/gateway/mcp). */
#include "common/base/ids.h"
#include "proto/tables/mcp_tools.h"
#include "tests/check_run.h"
#include "workers/gateway/mcp/message.h"
#include "workers/gateway/mcp/session.h"
#include "workers/gateway/tools/mcp_instructions.h"
#include <ctype.h>
#include <stdlib.h>

/* ---- messages ---- */

struct message_case {
	const char *text;
	int result;
	enum mcp_message_kind kind;
	const char *id; /* NULL: absent */
};

static const struct message_case message_cases[] = {
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", 0, MCP_REQUEST, "1"},
	{"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"m\"}", 0, MCP_REQUEST, "0"},
	{"{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"m\"}", 0, MCP_REQUEST, "\"\""},
	{"{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"method\":\"m\"}", 0, MCP_REQUEST,
		"\"a\\\"b\""},
	{"{\"jsonrpc\":\"2.0\",\"id\":9007199254740991,\"method\":\"m\"}", 0, MCP_REQUEST,
		"9007199254740991"},
	{"{\"jsonrpc\":\"2.0\",\"\\u0069d\":5,\"method\":\"m\"}", 0, MCP_REQUEST, "5"},
	{"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{}}", 0, MCP_NOTIFICATION,
		NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 0, MCP_RESPONSE, "1"},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", 0, MCP_RESPONSE, "1"},
	{"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", -1, 0, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"}", -1, 0, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"m\"}", -1, 0, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}", -1, 0, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -1, 0, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":1}", -1, 0, NULL},
	{"{\"jsonrpc\":\"2.0\",\"result\":{}}", -1, 0, NULL},
	{"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", -1, 0, NULL},
	{"{\"id\":1,\"method\":\"m\"}", -1, 0, NULL},
	{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", -1, 0, NULL},
	{"{\"hello\":1}", -1, 0, NULL},
	{"[]", -1, 0, NULL},
	{"7", -1, 0, NULL},
};

static int read_message(
	const char *text, yyjson_doc **doc, struct arena *arena, struct mcp_message *m)
{
	*doc = yyjson_read(text, strlen(text), 0);
	ck_assert_msg(*doc, "%s", text);
	return mcp_message_read(yyjson_doc_get_root(*doc), str_of(text), arena, m);
}

START_TEST(reads_messages)
{
	const struct message_case *c = &message_cases[_i];
	struct arena arena = {0};
	struct mcp_message m = {0};
	yyjson_doc *doc;
	int result = read_message(c->text, &doc, &arena, &m);

	ck_assert_msg((result < 0) == (c->result < 0), "%s", c->text);
	if (result == 0) {
		ck_assert_msg(m.kind == c->kind, "%s", c->text);
		ck_assert_msg(c->id ? str_is(m.id, c->id) : !m.id.ptr, "%s", c->text);
	}
	yyjson_doc_free(doc);
	arena_free(&arena);
}
END_TEST

#define META(version)                                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":{"         \
	"\"io.modelcontextprotocol/protocolVersion\":\"" version "\"}}}"
#define PLAIN "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}"

struct era {
	const char *text, *header;
	bool modern;
};

static const struct era eras[] = {
	{PLAIN, NULL, false},
	{PLAIN, "2025-11-25", false},
	{PLAIN, "2026-07-27", false},
	{PLAIN, "2026-07-28", true},
	{PLAIN, "2099-01-01", true},
	{PLAIN, "nonsense", false},
	{PLAIN, "2026-07-28 ", false},
	{META("2026-07-28"), NULL, true},
	{META("2026-07-28"), "2025-11-25", true},
	{META("2099-01-01"), NULL, true},
};

START_TEST(tells_the_era)
{
	const struct era *e = &eras[_i];
	struct arena arena = {0};
	struct mcp_message m;
	yyjson_doc *doc;

	ck_assert_int_eq(read_message(e->text, &doc, &arena, &m), 0);
	ck_assert_msg(mcp_message_is_modern(&m, str_of(e->header)) == e->modern, "%s %s",
		e->text, e->header);
	yyjson_doc_free(doc);
	arena_free(&arena);
}
END_TEST

struct header_case {
	const char *header;
	const char *value; /* NULL: malformed */
};

static const struct header_case header_cases[] = {
	{"paige_get_buffer", "paige_get_buffer"},
	{"", ""},
	{"=?base64?SGVsbG8=?=", "Hello"},
	{"=?base64?SGVsbG8h?=", "Hello!"},
	{"=?base64?SGVsbG8hIQ==?=", "Hello!!"},
	{"=?base64?"
	 "?=",
		""},
	{"=?base64?SGVsbG8?=", NULL},
	{"=?base64?!!!!?=", NULL},
	{"=?base64?SGVsbG8=", "=?base64?SGVsbG8="},
	{"=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="},
	{"=?base64?", "=?base64?"},
};

START_TEST(decodes_headers)
{
	const struct header_case *c = &header_cases[_i];
	struct arena arena = {0};
	struct str value = mcp_header_value(str_of(c->header), &arena);

	if (c->value)
		ck_assert_msg(value.ptr && str_is(value, c->value), "%s: %.*s", c->header,
			STR_ARG(value));
	else
		ck_assert_msg(!value.ptr, "%s", c->header);
	arena_free(&arena);
}
END_TEST

/* ---- sessions ---- */

static const unsigned char key[MCP_KEY_BYTES] = "a key";
static const unsigned char other_key[MCP_KEY_BYTES] = "another key";
static const uint8_t random7[7] = {1, 2, 3, 4, 5, 6, 7};

START_TEST(makes_ids_that_prove_themselves)
{
	for (int v = 0; v < MCP_VERSION_COUNT; v++) {
		struct mcp_session_id id = mcp_session_id_make(
					      key, random7, (enum mcp_version)v),
				      back;
		char text[MCP_SESSION_ID_SIZE];
		enum mcp_version version;

		mcp_session_id_print(id, text);
		ck_assert(uuid_valid(str_of(text)));
		ck_assert_int_eq(text[14], '8');
		ck_assert(strchr("89ab", text[19]));
		ck_assert_int_eq(mcp_session_id_read(str_of(text), &back), 0);
		ck_assert_mem_eq(&back, &id, sizeof(id));
		ck_assert_int_eq(mcp_session_id_check(key, back, &version), 0);
		ck_assert_int_eq(version, v);
		ck_assert_int_lt(mcp_session_id_check(other_key, back, &version), 0);
	}
}
END_TEST

/* Any single changed digit makes it a stranger's. */
START_TEST(refuses_forged_ids)
{
	uint64_t count = 0;
	struct mcp_sessions *s = mcp_sessions_new(&count);
	char text[MCP_SESSION_ID_SIZE];

	mcp_sessions_set_key(s, key);
	mcp_session_id_print(mcp_sessions_create(s, MCP_2025_06_18)->id, text);
	for (size_t i = 0; text[i]; i++) {
		char was = text[i];

		if (was == '-')
			continue;
		for (const char *c = "0123456789abcdef"; *c; c++) {
			if (*c == was)
				continue;
			text[i] = *c;
			ck_assert_ptr_null(mcp_sessions_find(s, str_of(text)));
		}
		text[i] = was;
	}
	ck_assert_ptr_null(mcp_sessions_find(s, STR_LIT("")));
	ck_assert_ptr_null(mcp_sessions_find(s, STR_LIT("x")));
	ck_assert_ptr_nonnull(mcp_sessions_find(s, str_of(text)));
	mcp_sessions_free(s);
}
END_TEST

START_TEST(keeps_few_sessions_and_loses_none)
{
	uint64_t count = 0;
	struct mcp_sessions *s = mcp_sessions_new(&count);
	char first[MCP_SESSION_ID_SIZE], text[MCP_SESSION_ID_SIZE];
	struct mcp_session *session;

	ck_assert(!mcp_sessions_have_key(s));
	mcp_sessions_set_key(s, key);
	session = mcp_sessions_create(s, MCP_2025_06_18);
	mcp_session_id_print(session->id, first);
	session->calls = 1; /* does something: stays */
	for (int i = 0; i < 3 * MCP_MAX_SESSIONS; i++)
		session = mcp_sessions_create(s, MCP_2025_11_25);
	ck_assert_uint_eq(count, MCP_MAX_SESSIONS);
	ck_assert_ptr_nonnull(mcp_sessions_find(s, str_of(first)));

	/* One that had to make room is good all the same. */
	mcp_session_id_print(mcp_sessions_first(s)->id, text);
	mcp_sessions_create(s, MCP_2025_11_25);
	session = mcp_sessions_find(s, str_of(text));
	ck_assert_ptr_nonnull(session);
	ck_assert_int_eq(session->version, MCP_2025_11_25);

	/* One that was ended is not, now or in the next process. */
	mcp_sessions_end(s, session);
	ck_assert_ptr_null(mcp_sessions_find(s, str_of(text)));
	mcp_sessions_free(s);
	s = mcp_sessions_new(&count);
	mcp_sessions_set_key(s, key);
	ck_assert_ptr_nonnull(mcp_sessions_find(s, str_of(first)));
	mcp_sessions_note_ended(s, str_of(text));
	ck_assert_ptr_null(mcp_sessions_find(s, str_of(text)));
	mcp_sessions_free(s);
}
END_TEST

/* ---- tools: what makes clients drop a tool, or all of them ---- */

static void check_keys(const char *tool, yyjson_val *schema)
{
	yyjson_val *properties = yyjson_obj_get(schema, "properties");
	yyjson_obj_iter it;
	yyjson_val *name;

	ck_assert_msg(
		yyjson_equals_str(yyjson_obj_get(schema, "type"), "object"), "%s", tool);
	ck_assert_msg(!yyjson_obj_get(schema, "anyOf") &&
			      !yyjson_obj_get(schema, "oneOf") &&
			      !yyjson_obj_get(schema, "allOf"),
		"%s", tool);
	yyjson_obj_iter_init(properties, &it);
	while ((name = yyjson_obj_iter_next(&it))) {
		yyjson_val *property = yyjson_obj_iter_get_val(name);
		const char *text = yyjson_get_str(name);

		ck_assert_msg(yyjson_get_len(name) <= 64, "%s.%s", tool, text);
		for (const char *c = text; *c; c++)
			ck_assert_msg(isalnum((unsigned char)*c) || strchr("_.-", *c),
				"%s.%s", tool, text);
		if (yyjson_equals_str(yyjson_obj_get(property, "type"), "array"))
			ck_assert_msg(
				yyjson_obj_get(property, "items"), "%s.%s", tool, text);
	}
}

START_TEST(offers_tools_that_clients_take)
{
	const struct mcp_tool_info *tool = &mcp_tool_infos[_i];
	struct buf schema = {0};
	yyjson_doc *doc;

	ck_assert(strlen(tool->name) <= 64 && strlen(tool->description) > 20);
	for (const char *c = tool->name; *c; c++)
		ck_assert_msg(islower((unsigned char)*c) || *c == '_', "%s", tool->name);
	proto_schema(tool->input(), DECODE_STRICT, &schema);
	doc = yyjson_read(schema.data, schema.len, 0);
	ck_assert_ptr_nonnull(doc);
	check_keys(tool->name, yyjson_doc_get_root(doc));
	yyjson_doc_free(doc);
	ck_assert(!memmem(schema.data, schema.len, "$ref", 4));
	if (tool->output) {
		buf_clear(&schema);
		proto_schema(tool->output(), DECODE_LENIENT, &schema);
		doc = yyjson_read(schema.data, schema.len, 0);
		check_keys(tool->name, yyjson_doc_get_root(doc));
		yyjson_doc_free(doc);
	}
	buf_free(&schema);
}
END_TEST

START_TEST(instructs_in_few_words)
{
	int named = 0;

	ck_assert_uint_lt(strlen(MCP_INSTRUCTIONS), 2000);
	/* Every tool that it names is there. */
	for (const char *at = MCP_INSTRUCTIONS; (at = strstr(at, "paige_")); named++) {
		struct str name = {at, strspn(at, "abcdefghijklmnopqrstuvwxyz_")};

		ck_assert_msg(mcp_tool_by_name(name) >= 0, "%.*s", STR_ARG(name));
		at += name.len;
	}
	ck_assert_int_gt(named, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("mcp");

	check_add_table(tc, reads_messages, message_cases);
	check_add_table(tc, tells_the_era, eras);
	check_add_table(tc, decodes_headers, header_cases);
	tcase_add_test(tc, makes_ids_that_prove_themselves);
	tcase_add_test(tc, refuses_forged_ids);
	tcase_add_test(tc, keeps_few_sessions_and_loses_none);
	tcase_add_loop_test(tc, offers_tools_that_clients_take, 0, MCP_TOOL_COUNT);
	tcase_add_test(tc, instructs_in_few_words);
	return check_run(tc);
}
