/* legacy.c - see legacy.h. */
#include "workers/gateway/mcp/legacy.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "workers/gateway/http/media_type.h"
#include "workers/gateway/mcp/server.h"
#include "workers/gateway/mcp/stream.h"

#define NOTHING ((struct str){NULL, 0})

/* ---- sessions ---- */

/* Answers a request without the means to judge session ids. */
static bool refuse_without_key(
	struct mcp_server *server, struct http_request *request, struct str id)
{
	if (mcp_sessions_have_key(server->sessions))
		return false;
	evhttp_add_header(
		evhttp_request_get_output_headers(request->ev), "Retry-After", "1");
	mcp_refuse(request, 503, MCP_INTERNAL_ERROR, id, NOTHING,
		"The store is away; try again in a moment");
	return true;
}

/* The session of a request; NULL when it was refused. */
static struct mcp_session *session_of(
	struct mcp_server *server, struct http_request *request, struct str id)
{
	struct str header = request->headers.mcp_session_id;
	struct mcp_session *session;

	if (refuse_without_key(server, request, id))
		return NULL;
	if (!header.ptr) {
		mcp_refuse(request, 400, MCP_BAD_REQUEST, id, NOTHING,
			"Bad Request: send the header Mcp-Session-Id that initialize "
			"gave, or "
			"send initialize first");
		return NULL;
	}
	session = mcp_sessions_find(server->sessions, header);
	if (!session)
		mcp_refuse(request, 404, MCP_SESSION_NOT_FOUND, id, NOTHING,
			"Session not found: send initialize to begin another one");
	return session;
}

static bool refuse_version(struct http_request *request, struct str id)
{
	struct str version = request->headers.mcp_protocol_version;

	if (!version.ptr || mcp_version_by_name(version) >= 0)
		return false;
	mcp_refuse(request, 400, MCP_BAD_REQUEST, id, NOTHING,
		"Bad Request: MCP-Protocol-Version %.*s is not supported; supported are "
		"%s",
		(int)(version.len < 40 ? version.len : 40), version.ptr,
		mcp_versions_json());
	return true;
}

/* ---- methods of the protocol itself ---- */

static void handle_ping(struct mcp_call *call, void *arg)
{
	(void)arg;
	mcp_call_result(call, STR_LIT("{}"));
}

static const struct mcp_method ping = {
	.name = "ping", .cache_ttl_ms = -1, .handle = handle_ping};

static void put_server_info(const struct mcp_service *service, struct buf *out)
{
	buf_add_str(out, STR_LIT("\"serverInfo\":{\"name\":"));
	buf_add_json_string(out, str_of(service->name));
	buf_add_str(out, STR_LIT(",\"title\":"));
	buf_add_json_string(out, str_of(service->title));
	buf_add_str(out, STR_LIT(",\"version\":"));
	buf_add_json_string(out, str_of(service->version));
	buf_add_char(out, '}');
}

static void handle_initialize(struct mcp_call *call, void *arg)
{
	const struct mcp_service *service = call->server->service;
	AUTO_BUF out = {0};

	(void)arg;
	buf_printf(&out, "{\"protocolVersion\":\"%s\",\"capabilities\":%s,",
		mcp_version_names[call->session->version], service->capabilities);
	put_server_info(service, &out);
	buf_add_str(&out, STR_LIT(",\"instructions\":"));
	buf_add_json_string(&out, str_of(service->instructions));
	buf_add_char(&out, '}');
	mcp_call_result(call, buf_str(&out));
}

static const struct mcp_method initialize = {
	.name = "initialize", .cache_ttl_ms = -1, .handle = handle_initialize};

void mcp_legacy_initialize(struct mcp_post *post)
{
	struct str asked = mcp_text(post->message.params, "protocolVersion");
	int version = mcp_version_by_name(asked);
	char id[MCP_SESSION_ID_SIZE];
	struct mcp_session *session;

	if (refuse_without_key(post->server, post->request, post->message.id))
		return;
	if (!asked.ptr) {
		mcp_refuse(post->request, 400, MCP_INVALID_PARAMS, post->message.id,
			NOTHING, "params.protocolVersion: expected a string");
		return;
	}
	session = mcp_sessions_create(post->server->sessions,
		version < 0 ? MCP_2025_11_25 : (enum mcp_version)version);
	mcp_session_id_print(session->id, id);
	evhttp_add_header(evhttp_request_get_output_headers(post->request->ev),
		"Mcp-Session-Id", id);
	mcp_post_call(post, session, &initialize);
}

/* ---- messages of a session ---- */

static void take_notification(struct mcp_post *post, struct mcp_session *session)
{
	yyjson_val *request_id = yyjson_obj_get(post->message.params, "requestId");
	struct mcp_call *call;

	if (str_is(post->message.method, "notifications/cancelled") && request_id) {
		size_t len = 0;
		AUTO_FREE char *text =
			yyjson_val_write(request_id, YYJSON_WRITE_NOFLAG, &len);

		call = text ? mcp_call_find(
				      post->server, session, (struct str){text, len})
			    : NULL;
		if (call)
			mcp_call_cancel(call);
	}
	http_reply(post->request, 202, NULL, STR_LIT(""));
}

void mcp_legacy_post(struct mcp_post *post)
{
	struct mcp_message *m = &post->message;
	struct mcp_session *session = session_of(post->server, post->request, m->id);
	const struct mcp_method *method;

	if (!session || refuse_version(post->request, m->id))
		return;
	if (m->kind == MCP_RESPONSE)
		mcp_call_take_answer(
			post->server, session, yyjson_doc_get_root(post->doc));
	if (m->kind != MCP_REQUEST) {
		take_notification(post, session);
		return;
	}
	method = str_is(m->method, ping.name) ? &ping
					      : mcp_method_find(post->server, m->method);
	if (method)
		mcp_post_call(post, session, method);
	else
		mcp_refuse(post->request, 200, MCP_METHOD_NOT_FOUND, m->id, NOTHING,
			"Method not found: %.*s",
			(int)(m->method.len < 100 ? m->method.len : 100), m->method.ptr);
}

void mcp_legacy_get(struct mcp_server *server, struct http_request *request)
{
	struct mcp_session *session;

	if (!request->headers.mcp_session_id.ptr) {
		evhttp_add_header(
			evhttp_request_get_output_headers(request->ev), "Allow", "POST");
		http_reply_error(request, 405,
			"A stream belongs to a session: POST initialize first");
		return;
	}
	session = session_of(server, request, NOTHING);
	if (!session || refuse_version(request, NOTHING))
		return;
	if (!media_type_accepted(request->headers.accept, "text/event-stream") ||
		!request->headers.accept.ptr) {
		http_reply_error(request, 406, "Accept text/event-stream");
		return;
	}
	if (!mcp_stream_resume(server, session, request->headers.last_event_id,
		    request->ev, request->conn))
		mcp_stream_listen(server, session, request->ev, request->conn);
}

void mcp_legacy_delete(struct mcp_server *server, struct http_request *request)
{
	struct mcp_session *session = session_of(server, request, NOTHING);
	char id[MCP_SESSION_ID_SIZE];
	struct mcp_call *call, *next;

	if (!session)
		return;
	mcp_session_id_print(session->id, id);
	for (call = LIST_FIRST(&server->calls); call; call = next) {
		next = LIST_NEXT(call, link);
		if (call->session != session)
			continue;
		session->calls--;
		call->session = NULL;
		mcp_call_cancel(call);
	}
	mcp_streams_end(session);
	mcp_sessions_end(server->sessions, session);
	if (server->service->session_ended)
		server->service->session_ended(server->service->arg, id);
	http_reply(request, 204, NULL, STR_LIT(""));
}
