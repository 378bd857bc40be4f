/*
 * guards.h - driving the guard machines over HTTP.
 *
 * Turns a request into a call of the guard worker and its reply into an answer; knows no
 * machine.
 */
#pragma once

#include "common/base/buf.h"
#include "proto/tables/methods.h"

struct gateway;
struct http_request;

/* /guards/... */
void guards_handle(struct gateway *g, struct http_request *request);

/* A request as a call. */
struct guards_call {
	enum method method;
	int status; /* of success */
	struct buf body;
};

/*
 * Pure. Reads method, path (from behind "/guards/", decoded), query and body. 0 with
 * *call filled (its body is the caller's to free), or the HTTP status of a refusal with
 * *error set to a static text.
 */
int guards_read(bool is_post, struct str path, struct str query, struct str body,
	struct guards_call *call, const char **error) __attribute__((warn_unused_result));
