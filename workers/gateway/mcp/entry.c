/*
 * entry.c - from an HTTP request on the MCP path to the rules of its era.
 *
 * Host, Origin and who may connect were checked before (http.c). What is decided here, in
 * this order: content type, JSON, message, era. Bodies of errors are JSON-RPC errors.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "proto/codec/codec.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http_reading.h"
#include "workers/gateway/http/media_type.h"
#include "workers/gateway/mcp/legacy.h"
#include "workers/gateway/mcp/server.h"
#include <stdarg.h>
#include <stdlib.h>

#define JSON_TYPE "application/json"
#define STREAM_TYPE "text/event-stream"

void mcp_refuse(struct http_request *request, int status, int code, struct str id,
	struct str data, const char *format, ...)
{
	AUTO_ARENA arena = {0};
	AUTO_BUF out = {0};
	va_list args;

	va_start(args, format);
	buf_printf(&out,
		"{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":%d,\"message\":",
		STR_ARG(id.ptr ? id : STR_LIT("null")), code);
	buf_add_json_string(&out, arena_vprintf(&arena, format, args));
	va_end(args);
	if (data.ptr)
		buf_printf(&out, ",\"data\":%.*s", STR_ARG(data));
	buf_add_str(&out, STR_LIT("}}"));
	http_reply(request, status, JSON_TYPE, buf_str(&out));
}

const struct mcp_method *mcp_method_find(const struct mcp_server *server, struct str name)
{
	const struct mcp_service *service = server->service;

	for (size_t i = 0; i < service->method_count; i++)
		if (str_is(name, service->methods[i].name))
			return &service->methods[i];
	return NULL;
}

/* JSON of a member that is a string or a number: a progress token, 0 and "" included. */
static struct str scalar_json(yyjson_val *object, const char *name, struct arena *arena)
{
	yyjson_val *val = yyjson_obj_get(object, name);
	size_t len;
	AUTO_FREE char *text = NULL;

	if (!yyjson_is_str(val) && !yyjson_is_num(val))
		return (struct str){NULL, 0};
	text = alloc_checked(yyjson_val_write(val, YYJSON_WRITE_NOFLAG, &len));
	return arena_str(arena, (struct str){text, len});
}

void mcp_post_call(struct mcp_post *post, struct mcp_session *session,
	const struct mcp_method *method)
{
	struct str accept = post->request->headers.accept;
	struct mcp_call *call = xcalloc(1, sizeof(*call));

	call->server = post->server;
	call->session = session;
	call->method = method;
	call->arena = *post->arena;
	*post->arena = (struct arena){0};
	call->doc = post->doc;
	call->parsers = post->request->gateway->parsers;
	post->doc = NULL;
	call->message = post->message;
	call->message.id = arena_str(&call->arena, post->message.id);
	call->progress_token =
		scalar_json(post->message.meta, "progressToken", &call->arena);
	call->ev = post->request->ev;
	call->conn = post->request->conn;
	call->takes_json = media_type_accepted(accept, JSON_TYPE);
	call->takes_stream = media_type_named(accept, STREAM_TYPE);
	call->progress = -1;
	call->since = call->progress_at = clock_mono();
	if (session) {
		mcp_session_id_print(session->id, call->session_id);
		session->calls++;
	}
	LIST_INSERT_HEAD(&post->server->calls, call, link);
	mcp_server_wake(post->server);
	method->handle(call, post->server->service->arg);
}

/* ---- POST ---- */

static void refuse_message(struct mcp_post *post, yyjson_val *root)
{
	bool is_batch = yyjson_is_arr(root);

	mcp_refuse(post->request, 400, MCP_INVALID_REQUEST, (struct str){NULL, 0},
		(struct str){NULL, 0}, "%s",
		is_batch ? "Send one message at a time: batches are not part of this "
			   "revision"
			 : "This is JSON, but no JSON-RPC 2.0 message");
}

static void take_message(struct mcp_post *post, bool wrong)
{
	const struct str version = post->request->headers.mcp_protocol_version;

	if (wrong)
		refuse_message(post, yyjson_doc_get_root(post->doc));
	/* Whatever its headers say: relays and older clients send odd ones with it. */
	else if (str_is(post->message.method, "initialize") &&
		 post->message.kind == MCP_REQUEST &&
		 !mcp_message_claims_modern(&post->message))
		mcp_legacy_initialize(post);
	else if (mcp_message_is_modern(&post->message, version))
		mcp_modern_post(post);
	else
		mcp_legacy_post(post);
}

/* What a body says. */
struct post_reading {
	struct http_reading reading;
	yyjson_doc *doc; /* NULL: error */
	struct proto_error error;
	struct arena arena;
	struct mcp_message message; /* unless it is wrong */
	bool wrong;
};

static void read_post(struct http_reading *reading, struct str body)
{
	struct post_reading *r = (struct post_reading *)reading;

	r->doc = proto_parse(body, &r->error);
	r->wrong = mcp_message_read(
			   yyjson_doc_get_root(r->doc), body, &r->arena, &r->message) < 0;
	/* It lies in the body, which is not kept. */
	if (r->message.id.ptr)
		r->message.id = arena_str(&r->arena, r->message.id);
}

static void take_post(struct http_reading *reading, struct http_request *request)
{
	struct post_reading *r = (struct post_reading *)reading;
	struct mcp_post post = {
		.server = request->gateway->mcp,
		.request = request,
		.doc = r->doc,
		.arena = &r->arena,
		.message = r->message,
	};

	if (r->doc)
		take_message(&post, r->wrong);
	else
		mcp_refuse(request, 400, MCP_PARSE_ERROR, (struct str){NULL, 0},
			(struct str){NULL, 0}, "Parse error: %s", r->error.text);
	http_free_document(request->gateway->parsers, post.doc);
	arena_free(&r->arena);
	free(r);
}

static void handle_post(struct mcp_server *server, struct http_request *request)
{
	struct str accept = request->headers.accept;
	struct post_reading *r;

	if (!media_type_is(request->headers.content_type, JSON_TYPE)) {
		http_reply_error(request, 415, "Send Content-Type: application/json");
		return;
	}
	if (!media_type_accepted(accept, JSON_TYPE) &&
		!media_type_accepted(accept, STREAM_TYPE)) {
		http_reply_error(
			request, 406, "Accept application/json or text/event-stream");
		return;
	}
	server->metrics->mcp_requests++;
	r = xcalloc(1, sizeof(*r));
	r->reading.read = read_post;
	r->reading.take = take_post;
	http_read_body(request, &r->reading);
}

void mcp_handle(struct gateway *g, struct http_request *request)
{
	struct mcp_server *server = g->mcp;

	if (server->stopping)
		http_reply_error(request, 503,
			"Paige is being restarted or stopped: call again in a few "
			"seconds");
	else if (request->method == EVHTTP_REQ_POST)
		handle_post(server, request);
	else if (request->method == EVHTTP_REQ_GET)
		mcp_legacy_get(server, request);
	else
		mcp_legacy_delete(server, request);
}
