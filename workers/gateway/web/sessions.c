/* sessions.c - see sessions.h. */
#include "workers/gateway/web/sessions.h"
#include "common/base/buf.h"
#include "proto/codec/messages.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/http/http_call.h"
#include "workers/gateway/web/query.h"

void sessions_handle(struct gateway *g, struct http_request *request)
{
	struct str limit = query_value(request->query, "limit");
	AUTO_BUF body = {0};

	if (limit.ptr && !query_is_number(limit)) {
		http_reply_error(request, 400,
			"limit: expected a whole number, got \"%.*s\"", STR_ARG(limit));
		return;
	}
	buf_printf(
		&body, "{\"entity\":\"%s\"", entity_enumeration()->names[ENTITY_SESSION]);
	if (limit.ptr)
		buf_printf(&body, ",\"limit\":%.*s", STR_ARG(limit));
	buf_add_char(&body, '}');
	http_call(g, request, METHOD_ENTITY_LIST, &body, 200);
}

static void ask(struct gateway *g, struct http_request *request, enum method method,
	struct str query)
{
	AUTO_BUF body = {0};

	buf_add_str(&body, query);
	http_call(g, request, method, &body, 200);
}

void session_handle(struct gateway *g, struct http_request *request)
{
	ask(g, request, METHOD_SESSION_STATE,
		STR_LIT("{\"include\":[\"session\",\"phase\"]}"));
}

void unsaved_handle(struct gateway *g, struct http_request *request)
{
	ask(g, request, METHOD_FS_STATE,
		STR_LIT("{\"include\":[\"buffers\"],\"brief\":true}"));
}
