/* Tests of the catalogues: complete, without double names, and with schemas that every
 * client takes. */
#include "proto/codec/messages.h"
#include "proto/tables/actions.h"
#include "proto/tables/errors.h"
#include "proto/tables/guard_kinds.h"
#include "proto/tables/mcp_tools.h"
#include "proto/tables/topics.h"
#include "proto/tables/ws.h"
#include "tests/check_run.h"
#include <stdlib.h>

/* No row lacks what its readers count on. How many rows there are is nobody's business
 * here. */
START_TEST(catalogues_are_complete)
{
	for (size_t i = 0; i < ws_client_count; i++)
		ck_assert_msg(
			*ws_client_infos[i].doc, "%s: no doc", ws_client_infos[i].name);
	for (size_t i = 0; i < ws_server_count; i++)
		ck_assert_msg(
			*ws_server_infos[i].doc, "%s: no doc", ws_server_infos[i].name);
	for (int i = 0; i < MCP_TOOL_COUNT; i++)
		ck_assert_msg(method_infos[mcp_tool_infos[i].method].callers & BY_GATEWAY,
			"%s: the gateway may not call %s", mcp_tool_infos[i].name,
			method_infos[mcp_tool_infos[i].method].name);
	for (int i = 0; i < ACTION_COUNT; i++)
		ck_assert_msg(action_infos[i].loggers != 0, "%s: nobody may log it",
			action_infos[i].name);
	ck_assert_uint_eq(guard_kind_count, guard_kind_enumeration()->count);
	for (size_t i = 0; i < guard_kind_count; i++)
		ck_assert(guard_kind_infos[i].config && guard_kind_infos[i].view);
}
END_TEST

START_TEST(names_are_found_and_unique)
{
	for (size_t i = 0; i < ws_client_count; i++)
		ck_assert_int_eq(
			ws_client_by_name(str_of(ws_client_infos[i].name)), (int)i);
	for (size_t i = 0; i < ws_server_count; i++)
		ck_assert_int_eq(
			ws_server_by_name(str_of(ws_server_infos[i].name)), (int)i);
	for (int i = 0; i < MCP_TOOL_COUNT; i++)
		ck_assert_int_eq(mcp_tool_by_name(str_of(mcp_tool_infos[i].name)), i);
	for (int i = 0; i < ACTION_COUNT; i++)
		ck_assert_int_eq(action_by_name(str_of(action_infos[i].name)), i);
	for (int i = 0; i < METHOD_COUNT; i++)
		ck_assert_int_eq(method_by_name(str_of(method_infos[i].name)), i);
	for (int i = 0; i < ERROR_CODE_COUNT; i++)
		ck_assert_int_eq(error_code_by_name(str_of(error_code_infos[i].name)), i);
	ck_assert_int_eq(ws_client_by_name(STR_LIT("galaxy:explode")), -1);
	ck_assert_int_eq(ws_server_by_name(STR_LIT("")), -1);
	ck_assert_int_eq(mcp_tool_by_name(STR_LIT("paige_get")), -1);
	ck_assert_int_eq(action_by_name(STR_LIT("file_opened")), -1);
	ck_assert_int_eq(method_by_name(STR_LIT("fs.")), -1);
}
END_TEST

/* Nobody asks itself over the bus, and what nobody may ask has no use. */
START_TEST(methods_name_their_callers)
{
	for (int i = 0; i < METHOD_COUNT; i++) {
		const struct method_info *method = &method_infos[i];

		ck_assert_msg(method->callers != 0, "%s", method->name);
		ck_assert_msg(
			!(method->callers & 1u << method->owner), "%s", method->name);
	}
}
END_TEST

START_TEST(topics_have_owners)
{
	ck_assert(topic_owned_by(STR_LIT("session/started"), WORKER_STORE));
	ck_assert(!topic_owned_by(STR_LIT("session/started"), WORKER_LLM));
	ck_assert(topic_owned_by(STR_LIT("ui/explain"), WORKER_LLM));
	ck_assert(!topic_owned_by(STR_LIT("ui/explain"), WORKER_GATEWAY));
	ck_assert(!topic_owned_by(STR_LIT(""), WORKER_STORE));
}
END_TEST

START_TEST(tools_fit_their_methods)
{
	for (int i = 0; i < MCP_TOOL_COUNT; i++) {
		const struct mcp_tool_info *tool = &mcp_tool_infos[i];
		const struct method_info *method = &method_infos[tool->method];

		/* One that does something travels with who calls it. */
		ck_assert_msg(
			method->request == (tool->flags & TOOL_READ ? tool->input
								    : tool_request_type),
			"%s and %s differ in their input", tool->name, method->name);
		ck_assert_ptr_eq(mcp_tool_of(tool->method), tool);
		ck_assert_msg(!tool->output || method->reply == tool->output,
			"%s and %s differ in their output", tool->name, method->name);
	}
}
END_TEST

static bool key_is_plain(const char *key, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01234567"
			    "89_.-",
			    key[i]))
			return false;
	return len >= 1 && len <= 64;
}

/* The part of JSON Schema that every client takes, at every depth of a schema. */
static void lint(const char *name, yyjson_val *schema, bool root)
{
	static const char *const forbidden[] = {
		"$ref", "$defs", "anyOf", "oneOf", "allOf"};
	yyjson_val *key, *val, *properties = yyjson_obj_get(schema, "properties");
	size_t i, max;

	ck_assert_msg(yyjson_is_obj(schema), "%s: a schema is an object", name);
	for (size_t f = 0; f < sizeof(forbidden) / sizeof(forbidden[0]); f++)
		ck_assert_msg(!yyjson_obj_get(schema, forbidden[f]), "%s: %s", name,
			forbidden[f]);
	if (root)
		ck_assert_msg(yyjson_equals_str(yyjson_obj_get(schema, "type"), "object"),
			"%s: the root is an object", name);
	if (yyjson_equals_str(yyjson_obj_get(schema, "type"), "array")) {
		yyjson_val *items = yyjson_obj_get(schema, "items");

		ck_assert_msg(items != NULL, "%s: an array without items", name);
		lint(name, items, false);
	}
	yyjson_obj_foreach(properties, i, max, key, val)
	{
		ck_assert_msg(key_is_plain(yyjson_get_str(key), yyjson_get_len(key)),
			"%s: key %s", name, yyjson_get_str(key));
		lint(name, val, false);
	}
}

static yyjson_doc *schema_of(const struct type *type, enum decode_mode mode)
{
	struct buf out = {0};
	struct proto_error error = {{0}};
	yyjson_doc *doc;

	proto_schema(type, mode, &out);
	doc = proto_parse(buf_str(&out), &error);
	ck_assert_msg(doc != NULL, "%s: %s", type->name, error.text);
	buf_free(&out);
	return doc;
}

/* FR-026, FR-081: what a model asks for never saves a file. */
START_TEST(no_tool_saves_a_file)
{
	for (int i = 0; i < MCP_TOOL_COUNT; i++)
		ck_assert_msg(mcp_tool_infos[i].method != METHOD_FS_SAVE, "%s",
			mcp_tool_infos[i].name);
}
END_TEST

START_TEST(tools_have_portable_schemas)
{
	const struct mcp_tool_info *tool = &mcp_tool_infos[_i];
	yyjson_doc *doc = schema_of(tool->input(), DECODE_STRICT);
	yyjson_val *root = yyjson_doc_get_root(doc);

	ck_assert(key_is_plain(tool->name, strlen(tool->name)));
	ck_assert_uint_gt(strlen(tool->description), 0);
	ck_assert_uint_gt(strlen(tool->title), 0);
	lint(tool->name, root, true);
	ck_assert(yyjson_is_false(yyjson_obj_get(root, "additionalProperties")));
	yyjson_doc_free(doc);
	if (!tool->output)
		return;
	doc = schema_of(tool->output(), DECODE_LENIENT);
	lint(tool->name, yyjson_doc_get_root(doc), true);
	yyjson_doc_free(doc);
}
END_TEST

static void check_schema(const struct type *type, enum decode_mode mode, const char *want)
{
	struct buf out = {0};

	proto_schema(type, mode, &out);
	buf_add_char(&out, '\0');
	ck_assert_str_eq(out.data, want);
	buf_free(&out);
}

START_TEST(schemas_say_what_the_decoder_checks)
{
	check_schema(empty_type(), DECODE_STRICT,
		"{\"type\":\"object\",\"additionalProperties\":false}");
	check_schema(empty_type(), DECODE_LENIENT, "{\"type\":\"object\"}");
	check_schema(tool_open_file_input_type(), DECODE_STRICT,
		"{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\","
		"\"minLength\":1,"
		"\"maxLength\":8192,\"description\":\"Path of the file: relative to the "
		"project, or absolute inside it.\"}},"
		"\"required\":[\"path\"],\"additionalProperties\":false}");
	check_schema(session_start_type(), DECODE_LENIENT,
		"{\"type\":\"object\",\"properties\":{\"issueNumber\":{\"type\":["
		"\"integer\",\"null\"],"
		"\"minimum\":0,\"description\":\"Number of the issue.\"}}}");
	check_schema(guard_event_type(), DECODE_LENIENT,
		"{\"type\":\"object\",\"properties\":{"
		"\"kind\":{\"type\":\"string\",\"enum\":[\"session-guard\",\"breakloop\","
		"\"interview\",\"idle\"],"
		"\"description\":\"Which of the four.\"},"
		"\"id\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":128,"
		"\"description\":\"Which instance.\"},"
		"\"event\":{\"type\":\"object\",\"description\":\"{type, clientEventId?, "
		"expectedCursor?, ...}.\"}},\"required\":[\"kind\",\"id\",\"event\"]}");
}
END_TEST

/* 36 bytes may be 9 characters: a schema must not refuse what the decoder takes. */
START_TEST(lengths_in_schemas_are_not_stricter)
{
	yyjson_doc *doc = schema_of(action_row_type(), DECODE_LENIENT);
	yyjson_val *id = yyjson_ptr_get(yyjson_doc_get_root(doc), "/properties/id");

	ck_assert_int_eq(yyjson_get_int(yyjson_obj_get(id, "minLength")), 9);
	ck_assert_int_eq(yyjson_get_int(yyjson_obj_get(id, "maxLength")), 36);
	yyjson_doc_free(doc);
}
END_TEST

/* A type within itself must not be written for ever. */
START_TEST(schemas_of_recursive_types_end)
{
	check_schema(tree_node_type(), DECODE_LENIENT,
		"{\"type\":\"object\",\"properties\":{"
		"\"name\":{\"type\":\"string\",\"maxLength\":4096,\"description\":\"Its "
		"name.\"},"
		"\"path\":{\"type\":\"string\",\"maxLength\":8192,\"description\":"
		"\"Project-relative path; "
		"\\\".\\\" for the project itself.\"},"
		"\"type\":{\"type\":\"string\",\"enum\":[\"file\",\"directory\"],"
		"\"description\":\"What it is.\"},"
		"\"children\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},"
		""
		"\"description\":\"Of a directory: directories first, each by name. "
		"Absent where they are not told, as from the 30th level of the whole "
		"tree on: fs:list asks for them.\"}},"
		"\"required\":[\"name\",\"path\",\"type\"]}");
}
END_TEST

/* What strangers send may not make the daemon reserve many times its size. */
static void check_bounded(const char *message, const struct type *type)
{
	for (size_t i = 0; i < type->count; i++) {
		const struct field *f = &type->fields[i];

		if (f->kind == FIELD_STRINGS || f->kind == FIELD_OBJECTS)
			ck_assert_msg(f->min <= f->max && f->max <= 10000,
				"%s: %s.%s has no bound", message, type->name, f->wire);
		if (f->kind == FIELD_OBJECT || f->kind == FIELD_OBJECTS)
			check_bounded(message, f->type());
	}
}

START_TEST(arrays_from_outside_are_bounded)
{
	for (size_t i = 0; i < ws_client_count; i++)
		check_bounded(ws_client_infos[i].name, ws_client_infos[i].payload());
	for (int i = 0; i < MCP_TOOL_COUNT; i++)
		check_bounded(mcp_tool_infos[i].name, mcp_tool_infos[i].input());
	for (size_t i = 0; i < guard_kind_count; i++)
		check_bounded("guard", guard_kind_infos[i].config());
}
END_TEST

START_TEST(hint_levels_are_numbers_and_names_in_a_schema)
{
	yyjson_doc *doc = schema_of(hints_level_change_type(), DECODE_LENIENT);
	yyjson_val *level = yyjson_ptr_get(yyjson_doc_get_root(doc), "/properties/level");
	char *text = yyjson_val_write(yyjson_obj_get(level, "enum"), 0, NULL);

	ck_assert_str_eq(text, "[0,1,2,3,\"none\",\"file\",\"region\",\"line\"]");
	free(text);
	yyjson_doc_free(doc);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("catalogues");

	tcase_add_test(tc, catalogues_are_complete);
	tcase_add_test(tc, names_are_found_and_unique);
	tcase_add_test(tc, methods_name_their_callers);
	tcase_add_test(tc, topics_have_owners);
	tcase_add_test(tc, tools_fit_their_methods);
	tcase_add_test(tc, no_tool_saves_a_file);
	tcase_add_loop_test(tc, tools_have_portable_schemas, 0, MCP_TOOL_COUNT);
	tcase_add_test(tc, schemas_say_what_the_decoder_checks);
	tcase_add_test(tc, lengths_in_schemas_are_not_stricter);
	tcase_add_test(tc, schemas_of_recursive_types_end);
	tcase_add_test(tc, arrays_from_outside_are_bounded);
	tcase_add_test(tc, hint_levels_are_numbers_and_names_in_a_schema);
	return check_run(tc);
}
