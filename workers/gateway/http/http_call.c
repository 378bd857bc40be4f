/* http_call.c - see http_call.h. */
#include "workers/gateway/http/http_call.h"
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "common/bus/bus.h"
#include "proto/tables/errors.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/http/media_type.h"
#include <stdlib.h>

struct pending {
	struct evhttp_request *ev;
	int status;
};

static void on_reply(void *arg, const struct bus_reply *reply)
{
	struct pending *p = arg;
	AUTO_BUF out = {0};
	int code = error_code_by_name(reply->code);

	if (reply->status == BUS_OK) {
		http_reply_later(p->ev, p->status, "application/json", reply->body);
	} else {
		buf_add_str(&out, STR_LIT("{\"error\":"));
		buf_add_json_string(&out, reply->message);
		buf_add_str(&out, STR_LIT(",\"code\":"));
		buf_add_json_string(&out, reply->code);
		buf_add_char(&out, '}');
		http_reply_later(p->ev,
			code < 0 ? 500 : error_code_infos[code].http_status,
			"application/json", buf_str(&out));
	}
	free(p);
}

bool http_call_may_post(struct http_request *request)
{
	if (media_type_is(request->headers.content_type, "application/json"))
		return true;
	http_reply_error(request, 415, "Send Content-Type: application/json");
	return false;
}

void http_call(struct gateway *g, struct http_request *request, enum method method,
	struct buf *body, int status)
{
	const struct method_info *info = &method_infos[method];
	struct pending *p = xmalloc(sizeof(*p));
	char key[UUID_SIZE];

	*p = (struct pending){.ev = request->ev, .status = status};
	uuid7(clock_wall(), key);
	bus_call_taking(g->bus, method,
		info->flags & METHOD_KEYED ? str_of(key) : (struct str){NULL, 0},
		buf_str(body), body,
		info->deadline_ms < HTTP_CALL_MS ? info->deadline_ms : HTTP_CALL_MS,
		on_reply, p);
}
