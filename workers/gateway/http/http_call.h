/*
 * http_call.h - an HTTP request that is answered by one call of another worker.
 */
#pragma once

#include "common/base/buf.h"
#include "proto/tables/methods.h"

struct gateway;
struct http_request;

/* Shorter than a connection may be idle. */
#define HTTP_CALL_MS 100000

/* True when the request may change something: it says that its body is JSON, which a form
 * of a foreign page cannot (R21). Else it was answered 415. */
bool http_call_may_post(struct http_request *request);
/*
 * Calls `method` with `body` (JSON, whose memory is taken over unless the call is
 * refused), with a fresh key when it takes one. Its
 * reply becomes the body of an answer with `status`, an error {"error", "code"} with the
 * status of its code.
 */
void http_call(struct gateway *g, struct http_request *request, enum method method,
	struct buf *body, int status);
