/* dts.c - TypeScript declarations of the protocol (reference.h). */
#include "proto/codec/messages.h"
#include "proto/generate/reference.h"
#include "proto/tables/guard_kinds.h"
#include "proto/tables/mcp_tools.h"
#include "proto/tables/ws.h"
#include <ctype.h>

/* file_open: FileOpen */
static void add_name(struct buf *out, const char *snake)
{
	bool upper = true;

	for (; *snake; snake++) {
		if (*snake == '_') {
			upper = true;
			continue;
		}
		buf_add_char(out, upper ? (char)toupper((unsigned char)*snake) : *snake);
		upper = false;
	}
}

static void add_doc(struct buf *out, const char *indent, const char *doc)
{
	buf_printf(out, "%s/** %s */\n", indent, doc);
}

static void add_levels(struct buf *out, const struct enumeration *e)
{
	for (size_t i = 0; i < e->count; i++)
		buf_printf(out, "%zu | ", i);
	add_name(out, e->name);
}

static void add_json_type(struct buf *out, enum json_shape shape)
{
	switch (shape) {
	case JSON_SHAPE_ANY:
		buf_add_str(out, STR_LIT("unknown"));
		return;
	case JSON_SHAPE_OBJECT:
		buf_add_str(out, STR_LIT("Record<string, unknown>"));
		return;
	case JSON_SHAPE_ARRAY:
		buf_add_str(out, STR_LIT("unknown[]"));
		return;
	}
}

static void add_field_type(struct buf *out, const struct field *f)
{
	switch (f->kind) {
	case FIELD_STRING:
		buf_add_str(out, STR_LIT("string"));
		return;
	case FIELD_INT:
	case FIELD_NUMBER:
		buf_add_str(out, STR_LIT("number"));
		return;
	case FIELD_BOOL:
		buf_add_str(out, STR_LIT("boolean"));
		return;
	case FIELD_ENUM:
		add_name(out, f->enumeration()->name);
		return;
	case FIELD_LEVEL:
		add_levels(out, f->enumeration());
		return;
	case FIELD_OBJECT:
		add_name(out, f->type()->name);
		return;
	case FIELD_STRINGS:
		if (f->enumeration)
			add_name(out, f->enumeration()->name);
		else
			buf_add_str(out, STR_LIT("string"));
		buf_add_str(out, STR_LIT("[]"));
		return;
	case FIELD_OBJECTS:
		add_name(out, f->type()->name);
		buf_add_str(out, STR_LIT("[]"));
		return;
	case FIELD_JSON:
		if (f->type)
			add_name(out, f->type()->name);
		else
			add_json_type(out, f->shape);
		return;
	}
}

static void add_interface(struct buf *out, const struct type *type)
{
	add_doc(out, "", type->doc);
	buf_add_str(out, STR_LIT("export interface "));
	add_name(out, type->name);
	buf_add_str(out, STR_LIT(" {\n"));
	for (size_t i = 0; i < type->count; i++) {
		const struct field *f = &type->fields[i];

		add_doc(out, "\t", f->doc);
		buf_printf(
			out, "\t%s%s: ", f->wire, f->flags & FIELD_REQUIRED ? "" : "?");
		add_field_type(out, f);
		if (f->flags & FIELD_NULLABLE)
			buf_add_str(out, STR_LIT(" | null"));
		buf_add_str(out, STR_LIT(";\n"));
	}
	buf_add_str(out, STR_LIT("}\n\n"));
}

static void add_type(struct buf *out, const struct type *type)
{
	if (type->count > 0) {
		add_interface(out, type);
		return;
	}
	add_doc(out, "", type->doc);
	buf_add_str(out, STR_LIT("export type "));
	add_name(out, type->name);
	buf_add_str(out, STR_LIT(" = Record<string, never>;\n\n"));
}

static void add_enumeration(struct buf *out, const struct enumeration *e)
{
	add_doc(out, "", e->doc);
	buf_add_str(out, STR_LIT("export type "));
	add_name(out, e->name);
	buf_add_str(out, STR_LIT(" = "));
	for (size_t i = 0; i < e->count; i++)
		buf_printf(out, "%s\"%s\"", i ? " | " : "", e->names[i]);
	buf_add_str(out, STR_LIT(";\n\n"));
}

static bool set_uses(const struct type_set *set, const struct enumeration *e)
{
	for (size_t i = 0; i < message_type_count; i++) {
		const struct type *type = message_types[i]();

		if (!type_set_has(set, type))
			continue;
		for (size_t j = 0; j < type->count; j++)
			if (type->fields[j].enumeration &&
				type->fields[j].enumeration() == e)
				return true;
	}
	return false;
}

static void add_payloads(struct buf *out, const char *name, const char *doc,
	const struct ws_info *infos, size_t count)
{
	add_doc(out, "", doc);
	buf_printf(out, "export interface %s {\n", name);
	for (size_t i = 0; i < count; i++) {
		add_doc(out, "\t", infos[i].doc);
		buf_printf(out, "\t\"%s\": ", infos[i].name);
		add_name(out, infos[i].payload()->name);
		buf_add_str(out, STR_LIT(";\n"));
	}
	buf_add_str(out, STR_LIT("}\n\n"));
}

static const char envelopes[] =
	"/** A message of an editor. `id` comes back in the answer. */\n"
	"export interface ClientEnvelope<T extends string, P> {\n"
	"\ttype: T;\n"
	"\tpayload: P;\n"
	"\tid?: string;\n"
	"\t/** Unix milliseconds. */\n"
	"\ttimestamp?: number;\n"
	"}\n\n"
	"/** A message of the daemon. */\n"
	"export interface ServerEnvelope<T extends string, P> {\n"
	"\ttype: T;\n"
	"\tpayload: P;\n"
	"\t/** Of the message that this one answers. */\n"
	"\tid?: string;\n"
	"\t/** Unix milliseconds. */\n"
	"\ttimestamp: number;\n"
	"\t/** Counts the messages of a connection from 1; resume with the last one "
	"seen. */\n"
	"\tseq: number;\n"
	"}\n\n"
	"export type ClientMessageType = keyof ClientPayloads;\n"
	"export type ServerMessageType = keyof ServerPayloads;\n\n"
	"/** Every message of an editor, told apart by its type. */\n"
	"export type ClientMessage = { [T in ClientMessageType]: ClientEnvelope<T, "
	"ClientPayloads[T]> "
	"}[ClientMessageType];\n\n"
	"/** Every message of the daemon, told apart by its type. */\n"
	"export type ServerMessage = { [T in ServerMessageType]: ServerEnvelope<T, "
	"ServerPayloads[T]> "
	"}[ServerMessageType];\n";

static void add_tools(struct buf *out)
{
	add_doc(out, "\n", "The MCP tools.");
	buf_add_str(out, STR_LIT("export interface McpTools {\n"));
	for (int i = 0; i < MCP_TOOL_COUNT; i++) {
		const struct mcp_tool_info *tool = &mcp_tool_infos[i];

		add_doc(out, "\t", tool->description);
		buf_printf(out, "\t%s: { input: ", tool->name);
		add_name(out, tool->input()->name);
		buf_add_str(out, STR_LIT("; output: "));
		if (tool->output)
			add_name(out, tool->output()->name);
		else
			buf_add_str(out, STR_LIT("unknown"));
		buf_add_str(out, STR_LIT(" };\n"));
	}
	buf_add_str(out, STR_LIT("}\n"));
}

/* What the `state` of guard:state and the config of a new machine are. */
static void add_guards(struct buf *out)
{
	add_doc(out, "\n", "The guard machines by kind.");
	buf_add_str(out, STR_LIT("export interface GuardKinds {\n"));
	for (size_t i = 0; i < guard_kind_count; i++) {
		buf_printf(
			out, "\t\"%s\": { config: ", guard_kind_enumeration()->names[i]);
		add_name(out, guard_kind_infos[i].config()->name);
		buf_add_str(out, STR_LIT("; state: "));
		add_name(out, guard_kind_infos[i].view()->name);
		buf_add_str(out, STR_LIT(" };\n"));
	}
	buf_add_str(out, STR_LIT("}\n"));
}

static void collect(struct type_set *set)
{
	for (size_t i = 0; i < ws_client_count; i++)
		type_set_add(set, ws_client_infos[i].payload());
	for (size_t i = 0; i < ws_server_count; i++)
		type_set_add(set, ws_server_infos[i].payload());
	for (int i = 0; i < MCP_TOOL_COUNT; i++) {
		type_set_add(set, mcp_tool_infos[i].input());
		if (mcp_tool_infos[i].output)
			type_set_add(set, mcp_tool_infos[i].output());
	}
	for (size_t i = 0; i < guard_kind_count; i++) {
		type_set_add(set, guard_kind_infos[i].config());
		type_set_add(set, guard_kind_infos[i].view());
	}
}

void dts_write(struct buf *out)
{
	struct type_set set = {0};

	collect(&set);
	buf_add_str(out, STR_LIT("// The protocol of Paige. Made by paige-proto from "
				 "proto/*.def; do not edit.\n\n"));
	for (size_t i = 0; i < message_enumeration_count; i++)
		if (set_uses(&set, message_enumerations[i]()))
			add_enumeration(out, message_enumerations[i]());
	for (size_t i = 0; i < message_type_count; i++)
		if (type_set_has(&set, message_types[i]()))
			add_type(out, message_types[i]());
	add_payloads(out, "ClientPayloads", "Payloads of the messages of an editor.",
		ws_client_infos, ws_client_count);
	add_payloads(out, "ServerPayloads", "Payloads of the messages of the daemon.",
		ws_server_infos, ws_server_count);
	buf_add_str(out, STR_LIT(envelopes));
	add_tools(out);
	add_guards(out);
	type_set_fini(&set);
}
