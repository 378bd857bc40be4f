/*
 * modern.c - the revision without sessions, 2026-07-28: every request says in _meta who
 * it is, its headers repeat what it says in its body, and nothing is remembered.
 *
 * Called by entry.c.
 */
#include "workers/gateway/mcp/listen.h"
#include "workers/gateway/mcp/server.h"

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define NOTHING ((struct str){NULL, 0})
#define DISCOVER_TTL_MS 3600000

static void handle_discover(struct mcp_call *call, void *arg)
{
	const struct mcp_service *service = call->server->service;
	AUTO_BUF out = {0};

	(void)arg;
	buf_printf(&out,
		"{\"supportedVersions\":%s,\"capabilities\":%s,\"instructions\":",
		mcp_versions_json(), service->capabilities);
	buf_add_json_string(&out, str_of(service->instructions));
	buf_add_char(&out, '}');
	mcp_call_result(call, buf_str(&out));
}

static const struct mcp_method discover = {.name = "server/discover",
	.cache_ttl_ms = DISCOVER_TTL_MS,
	.handle = handle_discover};

static const struct mcp_method *find(const struct mcp_server *server, struct str name)
{
	const struct mcp_method *method;

	if (str_is(name, discover.name))
		return &discover;
	if (str_is(name, mcp_listen_method.name))
		return &mcp_listen_method;
	method = mcp_method_find(server, name);
	return method && !method->legacy_only ? method : NULL;
}

/* ---- the rules, in the order in which they are checked; true: refused ---- */

static bool refuse_meta(struct mcp_post *post)
{
	yyjson_val *meta = post->message.meta;
	const char *wrong = NULL;

	if (!mcp_text(meta, META_VERSION).ptr)
		wrong = META_VERSION "\"]: expected a string";
	else if (!yyjson_is_obj(yyjson_obj_get(meta, META_CAPABILITIES)))
		wrong = META_CAPABILITIES "\"]: expected an object";
	if (wrong)
		mcp_refuse(post->request, 400, MCP_INVALID_PARAMS, post->message.id,
			NOTHING, "params._meta[\"%s", wrong);
	return wrong != NULL;
}

static bool refuse_mismatch(
	struct mcp_post *post, const char *header, struct str sent, struct str expected)
{
	struct str value = sent.ptr ? mcp_header_value(sent, post->arena) : NOTHING;

	if (value.ptr && expected.ptr && str_eq(value, expected))
		return false;
	mcp_refuse(post->request, 400, MCP_HEADER_MISMATCH, post->message.id, NOTHING,
		"Header mismatch: %s %s", header,
		sent.ptr ? "differs from the body" : "is missing");
	return true;
}

static bool refuse_version(struct mcp_post *post, struct str version)
{
	AUTO_BUF data = {0};

	if (str_is(version, MCP_MODERN_VERSION))
		return false;
	buf_printf(&data, "{\"supported\":%s,\"requested\":", mcp_versions_json());
	buf_add_json_string(&data, version);
	buf_add_char(&data, '}');
	mcp_refuse(post->request, 400, MCP_UNSUPPORTED_VERSION, post->message.id,
		buf_str(&data), "Unsupported protocol version");
	return true;
}

static bool refuse_headers(struct mcp_post *post, const struct mcp_method *method)
{
	const struct http_headers *h = &post->request->headers;
	struct mcp_message *m = &post->message;

	if (refuse_mismatch(post, "Mcp-Method", h->mcp_method, m->method))
		return true;
	return method && method->name_param &&
	       refuse_mismatch(post, "Mcp-Name", h->mcp_name,
		       mcp_text(m->params, method->name_param));
}

void mcp_modern_post(struct mcp_post *post)
{
	struct mcp_message *m = &post->message;
	struct str version = mcp_text(m->meta, META_VERSION);
	const struct mcp_method *method = find(post->server, m->method);

	if (m->kind != MCP_REQUEST) {
		http_reply(post->request, 202, NULL, STR_LIT(""));
		return;
	}
	if (refuse_meta(post) ||
		refuse_mismatch(post, "MCP-Protocol-Version",
			post->request->headers.mcp_protocol_version, version) ||
		refuse_version(post, version) || refuse_headers(post, method))
		return;
	if (method)
		mcp_post_call(post, NULL, method);
	else
		mcp_refuse(post->request, 404, MCP_METHOD_NOT_FOUND, m->id, NOTHING,
			"Method not found: %.*s",
			(int)(m->method.len < 100 ? m->method.len : 100), m->method.ptr);
}
