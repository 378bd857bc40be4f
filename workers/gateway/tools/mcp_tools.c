/* mcp_tools.c - see mcp_tools.h. */
#include "workers/gateway/tools/mcp_tools.h"
#include "paige-config.h"
#include "proto/tables/mcp_tools.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/mcp/mcp.h"
#include "workers/gateway/tools/mcp_fit.h"
#include "workers/gateway/tools/mcp_instructions.h"
#include "workers/gateway/tools/mcp_session_store.h"
#include "workers/gateway/tools/mcp_tool_call.h"

/* The tools change with the program only. */
#define TOOLS_TTL_MS 3600000
#define NEAR_MATCHES 3
/* What clients are told of the longest answer: MCP_FIT_BYTES of JSON, which is a text
 * block too, with its quotes and line ends escaped once more. */
#define RESULT_CHARS (3 * MCP_FIT_BYTES)

/* ---- tools/list ---- */

static void put_member(struct buf *out, const char *name, const char *text)
{
	buf_printf(out, ",\"%s\":", name);
	buf_add_json_string(out, str_of(text));
}

static const char *truth(const struct mcp_tool_info *tool, unsigned flags)
{
	return tool->flags & flags ? "true" : "false";
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
		",\"annotations\":{\"readOnlyHint\":%s,\"destructiveHint\":%s,"
		"\"idempotentHint\":%s,\"openWorldHint\":%s}",
		truth(tool, TOOL_READ), truth(tool, TOOL_DESTRUCTIVE),
		truth(tool, TOOL_IDEMPOTENT | TOOL_READ), truth(tool, TOOL_OPEN_WORLD));
	buf_printf(out, ",\"_meta\":{\"anthropic/maxResultSizeChars\":%d", RESULT_CHARS);
	if (tool->flags & TOOL_ALWAYS)
		buf_add_str(out, STR_LIT(",\"anthropic/alwaysLoad\":true"));
	buf_add_char(out, '}');
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
	AUTO_BUF near = {0};
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
	mcp_tool_call(
		g, call, (enum mcp_tool)tool, arguments ? arguments : empty_object());
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
		.lost_result = MCP_TOOL_LOST_RESULT,
	};

	service.arg = g;
	return &service;
}
