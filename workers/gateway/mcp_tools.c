/* mcp_tools.c - see mcp_tools.h. */
#include "workers/gateway/mcp_tools.h"
#include "common/bus.h"
#include "common/ids.h"
#include "common/log.h"
#include "paige-config.h"
#include "proto/mcp_tools.h"
#include "proto/messages.h"
#include "workers/gateway/gateway.h"
#include "workers/gateway/mcp/mcp.h"
#include "workers/gateway/mcp_instructions.h"
#include "workers/gateway/mcp_session_store.h"
#include "workers/gateway/mcp_tool_log.h"
#include <stdlib.h>

/* The tools change with the program only. */
#define TOOLS_TTL_MS 3600000
/* A method that may take longer than this gets a stream at once. */
#define LONG_METHOD_MS 60000
#define NEAR_MATCHES 3

/* ---- tools/list ---- */

static void put_member(struct buf *out, const char *name, const char *text)
{
	buf_printf(out, ",\"%s\":", name);
	buf_add_json_string(out, str_of(text));
}

static void put_tool(const struct mcp_tool_info *tool, struct buf *out)
{
	buf_add_str(out, STR_LIT("{\"name\":"));
	buf_add_json_string(out, str_of(tool->name));
	put_member(out, "title", tool->title);
	put_member(out, "description", tool->description);
	buf_add_str(out, STR_LIT(",\"inputSchema\":"));
	proto_schema(tool->input(), DECODE_STRICT, out);
	if (tool->output) {
		buf_add_str(out, STR_LIT(",\"outputSchema\":"));
		proto_schema(tool->output(), DECODE_LENIENT, out);
	}
	buf_printf(out,
		",\"annotations\":{\"readOnlyHint\":%s,\"destructiveHint\":false,"
		"\"idempotentHint\":%s,\"openWorldHint\":false}",
		tool->read_only ? "true" : "false",
		method_infos[tool->method].flags & METHOD_ONCE ? "false" : "true");
	if (tool->always_loaded)
		buf_add_str(out, STR_LIT(",\"_meta\":{\"anthropic/alwaysLoad\":true}"));
	buf_add_char(out, '}');
}

static struct str tools_list(void)
{
	static struct buf list;

	if (list.len == 0) {
		buf_add_str(&list, STR_LIT("{\"tools\":["));
		for (int i = 0; i < MCP_TOOL_COUNT; i++) {
			if (i)
				buf_add_char(&list, ',');
			put_tool(&mcp_tool_infos[i], &list);
		}
		buf_add_str(&list, STR_LIT("]}"));
	}
	return buf_str(&list);
}

static void handle_list(struct mcp_call *call, void *arg)
{
	yyjson_val *cursor = yyjson_obj_get(mcp_call_params(call), "cursor");

	(void)arg;
	if (cursor)
		mcp_call_fail(call, MCP_INVALID_PARAMS,
			"cursor: there is one page only; leave it out");
	else
		mcp_call_result(call, tools_list());
}

/* ---- tools/call ---- */

/* A text block; with `structured` the same as an object too. */
static void finish(struct gateway *g, struct mcp_call *call, struct str text,
	bool structured, bool is_error)
{
	static struct buf out;

	if (is_error)
		g->metrics.mcp_tool_errors++;
	buf_add_str(&out, STR_LIT("{\"content\":[{\"type\":\"text\",\"text\":"));
	buf_add_json_string(&out, text);
	buf_add_str(&out, STR_LIT("}]"));
	if (structured) {
		buf_add_str(&out, STR_LIT(",\"structuredContent\":"));
		buf_add_str(&out, text);
	}
	if (is_error)
		buf_add_str(&out, STR_LIT(",\"isError\":true"));
	buf_add_char(&out, '}');
	mcp_call_result(call, buf_str(&out));
	buf_empty(&out, MCP_KEPT_BYTES);
}

struct tool_call {
	struct gateway *g;
	struct mcp_call *call;
	int awaited; /* the owner's answer; for a tool that does something also its row */
	struct buf text; /* the answer */
	bool is_error;
};

static void tool_call_done(void *arg)
{
	struct tool_call *t = arg;
	struct str text = buf_str(&t->text);

	if (--t->awaited > 0)
		return;
	finish(t->g, t->call, text, !t->is_error && text.len && text.ptr[0] == '{',
		t->is_error);
	buf_free(&t->text);
	free(t);
}

static void on_reply(void *arg, const struct bus_reply *reply)
{
	struct tool_call *t = arg;

	t->is_error = reply->status != BUS_OK;
	buf_add_str(&t->text, t->is_error ? reply->message : reply->body);
	tool_call_done(t);
}

static void call_owner(
	struct tool_call *t, const struct mcp_tool_info *tool, const void *input)
{
	const struct method_info *method = &method_infos[tool->method];
	struct buf body = {0};
	char key[UUID_SIZE] = "";

	if (method->deadline_ms >= LONG_METHOD_MS)
		mcp_call_takes_long(t->call);
	if (method->flags & METHOD_KEYED)
		uuid7(clock_wall(), key);
	proto_encode(tool->input(), input, &body);
	bus_call(t->g->bus, tool->method, str_of(key[0] ? key : NULL), buf_str(&body), 0,
		on_reply, t);
	buf_free(&body);
}

/* Decodes the arguments and has the tool's owner do it. What a tool did is answered when
 * its row stands in the log (FR-079); one that only reads does not wait for that. */
static void call_tool(struct gateway *g, struct mcp_call *call,
	const struct mcp_tool_info *tool, yyjson_val *arguments)
{
	struct tool_call *t = calloc(1, sizeof(*t));
	struct arena *arena = mcp_call_arena(call);
	void *input = arena_alloc(arena, tool->input()->size);
	struct proto_error error;

	if (!t)
		abort();
	t->g = g;
	t->call = call;
	t->awaited = tool->read_only ? 1 : 2;
	mcp_tool_log(g, tool->name, mcp_call_session_id(call),
		tool->read_only ? NULL : tool_call_done, t);
	if (proto_decode(tool->input(), arguments, "arguments", DECODE_STRICT, arena,
		    input, &error) < 0) {
		t->is_error = true;
		buf_add_str(&t->text, str_of(error.text));
		tool_call_done(t);
	} else {
		call_owner(t, tool, input);
	}
}

/* How alike two names are: the length of the longest run of characters that both have. */
static size_t likeness(struct str a, struct str b)
{
	size_t best = 0;

	for (size_t i = 0; i < a.len; i++)
		for (size_t j = 0; j < b.len; j++) {
			size_t n = 0;

			while (i + n < a.len && j + n < b.len &&
				a.ptr[i + n] == b.ptr[j + n])
				n++;
			if (n > best)
				best = n;
		}
	return best;
}

static void refuse_unknown(struct mcp_call *call, struct str name)
{
	struct str short_name = {name.ptr, name.len < 64 ? name.len : 64};
	struct buf near = {0};
	bool named[MCP_TOOL_COUNT] = {false};

	for (int n = 0; n < NEAR_MATCHES; n++) {
		int best = -1;
		size_t best_likeness = 0;

		for (int i = 0; i < MCP_TOOL_COUNT; i++) {
			size_t alike =
				likeness(short_name, str_of(mcp_tool_infos[i].name));

			if (named[i] || alike <= best_likeness)
				continue;
			best = i;
			best_likeness = alike;
		}
		if (best < 0)
			break;
		named[best] = true;
		buf_printf(&near, "%s%s", n ? ", " : "", mcp_tool_infos[best].name);
	}
	mcp_call_fail(call, MCP_INVALID_PARAMS, "Unknown tool: %.*s. %s%.*s",
		STR_ARG(short_name),
		near.len ? "Near matches: " : "tools/list names them all",
		STR_ARG(buf_str(&near)));
	buf_free(&near);
}

/* What stands for arguments that were left out. */
static yyjson_val *empty_object(void)
{
	static yyjson_doc *doc;
	struct proto_error error;

	if (!doc)
		doc = proto_parse(STR_LIT("{}"), &error);
	return yyjson_doc_get_root(doc);
}

static void handle_call(struct mcp_call *call, void *arg)
{
	struct gateway *g = arg;
	yyjson_val *params = mcp_call_params(call);
	yyjson_val *name = yyjson_obj_get(params, "name");
	yyjson_val *arguments = yyjson_obj_get(params, "arguments");
	struct str text = {yyjson_get_str(name), yyjson_get_len(name)};
	int tool = text.ptr ? mcp_tool_by_name(text) : -1;

	if (!text.ptr) {
		mcp_call_fail(call, MCP_INVALID_PARAMS, "params.name: expected a string");
		return;
	}
	if (tool < 0) {
		refuse_unknown(call, text);
		return;
	}
	g->metrics.mcp_tool_calls++;
	call_tool(g, call, &mcp_tool_infos[tool], arguments ? arguments : empty_object());
}

/* ---- the service ---- */

const struct mcp_service *mcp_tools_service(struct gateway *g)
{
	static const struct mcp_method methods[] = {
		{.name = "tools/list",
			.cache_ttl_ms = TOOLS_TTL_MS,
			.handle = handle_list},
		{.name = "tools/call",
			.name_param = "name",
			.cache_ttl_ms = -1,
			.handle = handle_call},
	};
	static struct mcp_service service = {
		.name = "paige",
		.title = "Paige",
		.version = PAIGE_VERSION,
		.instructions = MCP_INSTRUCTIONS,
		.capabilities = "{\"tools\":{}}",
		.methods = methods,
		.method_count = sizeof(methods) / sizeof(methods[0]),
		.session_ended = mcp_sessions_tell_ended,
	};

	service.arg = g;
	return &service;
}
