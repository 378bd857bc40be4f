/*
 * http_reading.h - reads the body of a request: a short one at once, a long one on the thread that
 * parses large messages (gateway.h), so that no other client waits for it.
 *
 * Called by the handlers of paths that take JSON. evhttp reads nothing more of a connection
 * and does not free it before the request is answered, so requests of one connection stay in
 * order, a client that closes meanwhile is noticed with the answer, and what waits is bounded
 * by HTTP_MAX_HELD_BYTES.
 */
#pragma once

#include "common/base/str.h"
#include "common/loop/jobs.h"
#include <event2/http.h>
#include <yyjson.h>

struct evbuffer;
struct gateway;
struct http_request;

/* A longer body is read beside the loop; so is a longer WebSocket message. */
#define READ_AT_ONCE_BYTES (256u * 1024)

/* Lies within what its maker wants to know of the body, from malloc. */
struct http_reading {
	struct job job; /* as the rest below: for http_reading.c alone */
	/* Set by the maker. `read` looks at the body and at what its maker put beside it, and at
	 * nothing else: it may run on another thread. Then `take` is called on the loop, answers
	 * the request or sees to it, and frees the whole. */
	void (*read)(struct http_reading *reading, struct str body);
	void (*take)(struct http_reading *reading, struct http_request *request);
	struct gateway *gateway;
	struct evhttp_request *ev;
	struct evbuffer
		*body; /* taken out of the request, while it is read beside the loop */
};

/* Calls `read`, then `take`: within this call, or later with the same request, written anew. */
void http_read_body(struct http_request *request, struct http_reading *reading);

/* Frees what was parsed (or NULL): the memory of a long text goes back to the kernel on that
 * thread, page by page. */
void http_free_document(struct jobs *parsers, yyjson_doc *doc);
