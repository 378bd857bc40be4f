/* mirror_request.c - see mirror_request.h. */
#include "workers/gateway/web/mirror_request.h"
#include "common/base/buf.h"
#include "proto/codec/messages.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/http/http_call.h"

/* Of a decision, with room for blanks. */
#define BODY_MAX 1024

/* Appends the decision as the store takes it. False: it was answered. */
static bool read_decision(struct http_request *request, struct buf *body)
{
	struct str text = http_body(request->ev);
	struct proto_error error = {""};
	struct mirror_decision decision;
	AUTO_ARENA arena = {0};
	AUTO_DOC *doc = NULL;
	bool read;

	if (text.len > BODY_MAX) {
		http_reply_error(
			request, 413, "The body has more than %d bytes", BODY_MAX);
		return false;
	}
	doc = proto_parse(text, &error);
	read = doc && proto_decode(mirror_decision_type(), yyjson_doc_get_root(doc),
			      "body", DECODE_STRICT, &arena, &decision, &error) == 0;
	if (read)
		proto_encode(mirror_decision_type(), &decision, body);
	else
		http_reply_error(request, 400, "%s", error.text);
	return read;
}

void mirror_request_handle(struct gateway *g, struct http_request *request)
{
	bool decides = request->method == EVHTTP_REQ_POST;
	AUTO_BUF body = {0};

	if (!decides)
		buf_add_str(&body, STR_LIT("{}"));
	else if (!http_call_may_post(request) || !read_decision(request, &body))
		return;
	http_call(g, request, decides ? METHOD_MIRROR_DECIDE : METHOD_MIRROR_CONSENT,
		&body, 200);
}
