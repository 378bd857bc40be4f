/* reference.c - the reference pages, Markdown (reference.h). */
#include "proto/generate/reference.h"
#include "common/settings/settings.h"
#include "proto/codec/messages.h"
#include "proto/tables/actions.h"
#include "proto/tables/errors.h"
#include "proto/tables/guard_kinds.h"
#include "proto/tables/mcp_tools.h"
#include "proto/tables/methods.h"
#include "proto/tables/topics.h"
#include "proto/tables/ws.h"
#include "proto/worker.h"

#define NO_UPPER_BOUND 9007199254740992.0

/* Text in a cell of a table. */
static void add_cell(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|' || *text == '<' || *text == '*')
			buf_add_char(out, '\\');
		buf_add_char(out, *text);
	}
}

static void add_link(struct buf *out, const struct type *type)
{
	buf_printf(out, "[%s](#%s)", type->name, type->name);
}

static void add_names(struct buf *out, const struct enumeration *e)
{
	for (size_t i = 0; i < e->count; i++)
		buf_printf(out, "%s`%s`", i ? ", " : "", e->names[i]);
}

/* ", 1 to 8192 bytes" */
static void add_bounds(struct buf *out, const struct field *f, const char *unit)
{
	bool has_min = f->min > 0 || (f->kind == FIELD_INT && f->min > -NO_UPPER_BOUND);
	bool has_max = f->max < NO_UPPER_BOUND;

	if (f->min > f->max || (!has_min && !has_max))
		return;
	if (has_max && f->min == f->max)
		buf_printf(out, ", %.15g%s", f->max, unit);
	else if (has_max && f->min > -NO_UPPER_BOUND &&
		 (has_min || f->kind == FIELD_NUMBER))
		buf_printf(out, ", %.15g to %.15g%s", f->min, f->max, unit);
	else if (has_max)
		buf_printf(out, ", up to %.15g%s", f->max, unit);
	else
		buf_printf(out, ", %.15g%s or more", f->min, unit);
}

static void add_kind(struct buf *out, const struct field *f)
{
	static const char *const shapes[] = {
		[JSON_SHAPE_ANY] = "any value",
		[JSON_SHAPE_OBJECT] = "object",
		[JSON_SHAPE_ARRAY] = "array",
	};

	switch (f->kind) {
	case FIELD_STRING:
		buf_add_str(out, STR_LIT("string"));
		add_bounds(out, f, " bytes");
		return;
	case FIELD_INT:
		buf_add_str(out, STR_LIT("integer"));
		add_bounds(out, f, "");
		return;
	case FIELD_NUMBER:
		buf_add_str(out, STR_LIT("number"));
		add_bounds(out, f, "");
		return;
	case FIELD_BOOL:
		buf_add_str(out, STR_LIT("boolean"));
		return;
	case FIELD_ENUM:
		add_names(out, f->enumeration());
		return;
	case FIELD_LEVEL:
		buf_printf(out, "integer, 0 to %zu, or ", f->enumeration()->count - 1);
		add_names(out, f->enumeration());
		return;
	case FIELD_OBJECT:
		add_link(out, f->type());
		return;
	case FIELD_STRINGS:
		buf_add_str(out, STR_LIT("strings"));
		if (f->enumeration) {
			buf_add_str(out, STR_LIT(" out of "));
			add_names(out, f->enumeration());
		}
		add_bounds(out, f, "");
		return;
	case FIELD_OBJECTS:
		buf_add_str(out, STR_LIT("array of "));
		add_link(out, f->type());
		add_bounds(out, f, "");
		return;
	case FIELD_JSON:
		if (f->type)
			add_link(out, f->type());
		else
			buf_add_str(out, str_of(shapes[f->shape]));
		return;
	}
}

static void add_fields(struct buf *out, const struct type *type)
{
	if (type->count == 0) {
		buf_add_str(out, STR_LIT("No fields.\n\n"));
		return;
	}
	buf_add_str(out,
		STR_LIT("| field | value | required | meaning |\n|---|---|---|---|\n"));
	for (size_t i = 0; i < type->count; i++) {
		const struct field *f = &type->fields[i];

		buf_printf(out, "| `%s` | ", f->wire);
		add_kind(out, f);
		buf_add_str(out,
			f->flags & FIELD_NULLABLE ? STR_LIT(" or null") : STR_LIT(""));
		buf_printf(out, " | %s | ", f->flags & FIELD_REQUIRED ? "yes" : "no");
		add_cell(out, f->doc);
		buf_add_str(out, STR_LIT(" |\n"));
	}
	buf_add_char(out, '\n');
}

/* A section for each type of the set that the page refers to. */
static void add_types(struct buf *out, struct type_set *set)
{
	buf_add_str(out, STR_LIT("## Types\n\n"));
	for (size_t i = 0; i < message_type_count; i++) {
		const struct type *type = message_types[i]();

		if (!type_set_has(set, type))
			continue;
		buf_printf(out, "### %s\n\n%s\n\n", type->name, type->doc);
		add_fields(out, type);
	}
	type_set_fini(set);
}

static void add_type_or_dash(
	struct buf *out, struct type_set *set, const struct type *(*type)(void))
{
	if (!type) {
		buf_add_str(out, STR_LIT("-"));
		return;
	}
	type_set_add(set, type());
	add_link(out, type());
}

static void add_ws_table(
	struct buf *out, struct type_set *set, const struct ws_info *infos, size_t count)
{
	buf_add_str(out, STR_LIT("| type | payload | |\n|---|---|---|\n"));
	for (size_t i = 0; i < count; i++) {
		buf_printf(out, "| `%s` | ", infos[i].name);
		add_type_or_dash(out, set, infos[i].payload);
		buf_add_str(out, STR_LIT(" | "));
		add_cell(out, infos[i].doc);
		buf_add_str(out, STR_LIT(" |\n"));
	}
	buf_add_char(out, '\n');
}

static void add_error_codes(struct buf *out)
{
	buf_add_str(out, STR_LIT("| code | HTTP | meaning |\n|---|---|---|\n"));
	for (int i = 0; i < ERROR_CODE_COUNT; i++)
		buf_printf(out, "| `%s` | %d | %s |\n", error_code_infos[i].name,
			error_code_infos[i].http_status, error_code_infos[i].doc);
	buf_add_char(out, '\n');
}

static void write_websocket(struct buf *out)
{
	struct type_set set = {0};

	buf_printf(out,
		"A client connects to `/ws` and sends `connection:hello` first. Every "
		"message is one text "
		"frame of JSON, at most %u bytes and nested at most %d levels:\n\n"
		"    {\"type\": \"file:open\", \"payload\": {\"path\": \"src/a.ts\"}, "
		"\"id\": \"7\", "
		"\"timestamp\": 1790000000000}\n\n"
		"`payload` may be called `data` on the way in; `id` and `timestamp` may "
		"be left out. An answer "
		"carries the `id` of its question. What the daemon sends has a "
		"`timestamp` (Unix milliseconds) "
		"and a `seq` that counts the messages of a connection from 1. Fields "
		"that the daemon does not "
		"know are ignored; a missing or wrong one is answered by "
		"`connection:error` with the code "
		"`INVALID_MESSAGE` and a text like `payload.path: expected a "
		"string`.\n\n",
		PROTO_MAX_MESSAGE_BYTES, PROTO_MAX_NESTING);
	buf_add_str(out, STR_LIT("## From the editor\n\n"));
	add_ws_table(out, &set, ws_client_infos, ws_client_count);
	buf_add_str(out, STR_LIT("## From the daemon\n\n"));
	add_ws_table(out, &set, ws_server_infos, ws_server_count);
	buf_add_str(out, STR_LIT("## Error codes\n\n"));
	add_error_codes(out);
	add_types(out, &set);
}

static void write_mcp(struct buf *out)
{
	struct type_set set = {0};

	buf_add_str(out, STR_LIT("Arguments are checked before a tool runs; an unknown "
				 "or wrong one is a tool error "
				 "that names it. A result is one text block of JSON.\n\n"
				 "| tool | input | output | changes nothing | always "
				 "loaded |\n|---|---|---|---|---|\n"));
	for (int i = 0; i < MCP_TOOL_COUNT; i++) {
		const struct mcp_tool_info *tool = &mcp_tool_infos[i];

		buf_printf(out, "| `%s` | ", tool->name);
		add_type_or_dash(out, &set, tool->input);
		buf_add_str(out, STR_LIT(" | "));
		add_type_or_dash(out, &set, tool->output);
		buf_printf(out, " | %s | %s |\n", tool->flags & TOOL_READ ? "yes" : "no",
			tool->flags & TOOL_ALWAYS ? "yes" : "no");
	}
	buf_add_char(out, '\n');
	for (int i = 0; i < MCP_TOOL_COUNT; i++)
		buf_printf(out, "**%s** (`%s`): %s\n\n", mcp_tool_infos[i].title,
			mcp_tool_infos[i].name, mcp_tool_infos[i].description);
	add_types(out, &set);
}

/* The cell with their names. */
static void add_workers(struct buf *out, unsigned workers)
{
	const char *before = " | ";

	for (int i = 0; i < WORKER_COUNT; i++) {
		if (!(workers & 1u << i))
			continue;
		buf_printf(out, "%s%s", before, worker_infos[i].name);
		before = ", ";
	}
}

static void add_method_table(struct buf *out, struct type_set *set, enum worker_id owner)
{
	buf_add_str(out,
		STR_LIT("| method | request | reply | asked by | repeated | deadline | "
			"|\n|---|---|---|---|---|---|---|\n"));
	for (int i = 0; i < METHOD_COUNT; i++) {
		const struct method_info *m = &method_infos[i];

		if (m->owner != owner)
			continue;
		buf_printf(out, "| `%s` | ", m->name);
		add_type_or_dash(out, set, m->request);
		buf_add_str(out, STR_LIT(" | "));
		add_type_or_dash(out, set, m->reply);
		add_workers(out, m->callers);
		buf_printf(out, " | %s | %g s | ",
			m->flags & METHOD_READ	  ? "freely"
			: m->flags & METHOD_KEYED ? "with its key"
						  : "never",
			m->deadline_ms / 1000.0);
		add_cell(out, m->doc);
		buf_add_str(out, STR_LIT(" |\n"));
	}
	buf_add_char(out, '\n');
}

static bool owns_methods(enum worker_id worker)
{
	for (int i = 0; i < METHOD_COUNT; i++)
		if (method_infos[i].owner == worker)
			return true;
	return false;
}

static void write_bus(struct buf *out)
{
	struct type_set set = {0};

	buf_add_str(out, STR_LIT("Workers ask each other by method and tell each other "
				 "by topic, in JSON. A method "
				 "without a request type takes any body; one without a "
				 "reply type answers with a body "
				 "of its own.\n\n## Methods\n\n"));
	for (int w = 0; w < WORKER_COUNT; w++) {
		if (!owns_methods((enum worker_id)w))
			continue;
		buf_printf(out, "### Asked of %s\n\n", worker_infos[w].name);
		add_method_table(out, &set, (enum worker_id)w);
	}
	buf_add_str(out, STR_LIT("## Topics\n\n| topic | body | published by | heard "
				 "by | |\n|---|---|---|---|---|\n"));
	for (int i = 0; i < TOPIC_COUNT; i++) {
		buf_printf(out, "| `%s` | ", topic_infos[i].prefix);
		add_type_or_dash(out, &set, topic_infos[i].body);
		buf_printf(out, " | %s", worker_infos[topic_infos[i].publisher].name);
		add_workers(out, topic_infos[i].subscribers);
		buf_add_str(out, STR_LIT(" | "));
		add_cell(out, topic_infos[i].doc);
		buf_add_str(out, STR_LIT(" |\n"));
	}
	buf_add_str(out, STR_LIT("\n## Error codes\n\n"));
	add_error_codes(out);
	add_types(out, &set);
}

static void write_guards(struct buf *out)
{
	const struct enumeration *kinds = guard_kind_enumeration();
	struct type_set set = {0};

	buf_add_str(
		out, STR_LIT("Four policy machines, over HTTP (`/guards/...`) and over "
			     "the WebSocket "
			     "(`guard:subscribe`, `guard:event`). What is left out of a "
			     "config comes from the "
			     "settings.\n\n| kind | config | state |\n|---|---|---|\n"));
	for (size_t i = 0; i < guard_kind_count; i++) {
		buf_printf(out, "| `%s` | ", kinds->names[i]);
		add_type_or_dash(out, &set, guard_kind_infos[i].config);
		buf_add_str(out, STR_LIT(" | "));
		add_type_or_dash(out, &set, guard_kind_infos[i].view);
		buf_add_str(out, STR_LIT(" |\n"));
	}
	buf_add_char(out, '\n');
	add_types(out, &set);
}

static void write_actions(struct buf *out)
{
	struct type_set set = {0};

	buf_add_str(out, STR_LIT("The rows of `action_log`. \"Activity\" is what the "
				 "learner did, which counts for flow "
				 "and against idleness; \"Observer\" is what the "
				 "Observer hears of.\n\n"
				 "| action | data | activity | Observer | "
				 "|\n|---|---|---|---|---|\n"));
	for (int i = 0; i < ACTION_COUNT; i++) {
		const struct action_info *a = &action_infos[i];

		buf_printf(out, "| `%s` | ", a->name);
		add_type_or_dash(out, &set, a->data);
		buf_printf(out, " | %s | %s | ", a->user_activity ? "yes" : "no",
			a->observer ? "yes" : "no");
		add_cell(out, a->data()->doc);
		buf_add_str(out, STR_LIT(" |\n"));
	}
	buf_add_char(out, '\n');
	add_types(out, &set);
}

static void write_mirror(struct buf *out)
{
	const struct enumeration *sources = mirror_source_enumeration();

	buf_add_str(out,
		STR_LIT("The columns of the tables that the mirror worker writes, beside "
			"`learner`, the role of PostgreSQL that wrote the row, and "
			"`origin`, the name of the database that it comes from. Nothing "
			"else is sent.\n\n"));
	for (size_t i = 0; i < message_type_count; i++) {
		const struct type *type = message_types[i]();
		const char *table = type->name + strlen("mirror_");

		if (strncmp(type->name, "mirror_", strlen("mirror_")) != 0 ||
			enumeration_index(sources, str_of(table)) < 0)
			continue;
		buf_printf(out, "## paige.%s\n\n%s\n\n", table, type->doc);
		add_fields(out, type);
	}
}

static void write_workers(struct buf *out)
{
	buf_add_str(out,
		STR_LIT("The supervisor starts these and keeps them running; "
			"proto/worker.h is the contract "
			"between it and them. They stop in the order of their stages.\n\n"
			"| worker | does | program | ready within | stops within | stage "
			"|\n"
			"|---|---|---|---|---|---|\n"));
	for (int i = 0; i < WORKER_COUNT; i++) {
		const struct worker_info *w = &worker_infos[i];

		buf_printf(out, "| %s | %s | `paige-%s` | %g s | %g s | %d |\n", w->name,
			w->does, w->name, w->start_deadline_ms / 1000.0,
			w->stop_grace_ms / 1000.0, w->stop_stage);
	}
	buf_add_str(out,
		STR_LIT("\n## Exit codes\n\n| code | meaning | then |\n|---|---|---|\n"));
#define WORKER_EXIT(symbol, code, then, doc)                                             \
	buf_printf(out, "| %d | %s | %s |\n", code, doc, then);
#include "proto/catalogue/exits.def"
#undef WORKER_EXIT
}

static void add_setting_values(struct buf *out, const struct setting_info *s)
{
	switch (s->kind) {
	case SETTING_INT:
	case SETTING_NUMBER:
		buf_printf(out, "%.15g to %.15g", s->min, s->max);
		return;
	case SETTING_TEXT:
		buf_add_str(out, STR_LIT("text"));
		return;
	case SETTING_PATH:
		buf_add_str(out, STR_LIT("path"));
		return;
	case SETTING_CHOICE:
		for (const char *p = s->choices; *p; p++)
			if (*p == ' ')
				buf_add_str(out, STR_LIT(", "));
			else
				buf_add_char(out, *p);
		return;
	}
}

static void write_settings(struct buf *out)
{
	buf_add_str(out, STR_LIT("`KEY=value` lines. The environment comes first, then "
				 "`.env` in the current directory, "
				 "then the file given with `--config`, then the default. "
				 "A value out of range is an "
				 "error at the start.\n\n"
				 "| name | default | values | | meaning "
				 "|\n|---|---|---|---|---|\n"));
	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct setting_info *s = setting_info((enum setting_id)i);

		buf_printf(out, "| `%s` | %s | ", s->name,
			s->fallback[0] ? s->fallback : "-");
		add_setting_values(out, s);
		buf_printf(out, " | %s%s%s | ",
			s->flags & SETTING_REQUIRED ? "required " : "",
			s->flags & SETTING_SECRET ? "secret " : "",
			s->flags & SETTING_RELOAD ? "reloaded by SIGHUP" : "");
		add_cell(out, s->meaning);
		buf_add_str(out, STR_LIT(" |\n"));
	}
}

const struct reference_file reference_files[] = {
	{"websocket.md", "WebSocket messages", write_websocket},
	{"mcp.md", "MCP tools", write_mcp},
	{"bus.md", "Methods and topics of the bus", write_bus},
	{"guards.md", "Guards", write_guards},
	{"actions.md", "The action log", write_actions},
	{"mirror.md", "What the mirror sends to PostgreSQL", write_mirror},
	{"workers.md", "Workers", write_workers},
	{"settings.md", "Settings", write_settings},
	{"paige.d.ts", NULL, dts_write},
};
const size_t reference_file_count = sizeof(reference_files) / sizeof(reference_files[0]);
