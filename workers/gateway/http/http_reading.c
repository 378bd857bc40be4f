/* http_reading.c - see http_reading.h. */
#include "workers/gateway/http/http_reading.h"
#include "common/base/alloc.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http.h"
#include <event2/buffer.h>
#include <stdlib.h>

/* In one piece, which copies it. */
static struct str text_of(struct evbuffer *body)
{
	size_t len = evbuffer_get_length(body);

	return (struct str){alloc_checked(evbuffer_pullup(body, -1)), len};
}

static void run(struct job *job)
{
	struct http_reading *r = (struct http_reading *)job;

	r->read(r, text_of(r->body));
	evbuffer_free(r->body);
}

static void done(struct job *job)
{
	struct http_reading *r = (struct http_reading *)job;
	struct http_request request;

	http_request_of(r->gateway, r->ev, &request);
	r->take(r, &request);
}

void http_read_body(struct http_request *request, struct http_reading *r)
{
	struct evbuffer *input = evhttp_request_get_input_buffer(request->ev);

	if (evbuffer_get_length(input) <= READ_AT_ONCE_BYTES) {
		r->read(r, http_body(request->ev));
		r->take(r, request);
		return;
	}
	r->job = (struct job){.run = run, .done = done};
	r->gateway = request->gateway;
	r->ev = request->ev;
	r->body = evbuffer_new();
	if (!r->body || evbuffer_add_buffer(r->body, input) < 0)
		abort();
	jobs_add(r->gateway->parsers, &r->job);
}

/* ---- the end of a document ---- */

static void free_document(void *doc)
{
	yyjson_doc_free(doc);
}

void http_free_document(struct jobs *parsers, yyjson_doc *doc)
{
	const bool is_long = yyjson_doc_get_read_size(doc) > READ_AT_ONCE_BYTES;

	jobs_release(is_long ? parsers : NULL, free_document, doc);
}
