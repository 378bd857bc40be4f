/* guards.c - see guards.h. */
#include "workers/gateway/web/guards.h"
#include "common/base/alloc.h"
#include "common/bus/bus.h"
#include "proto/codec/messages.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/http/http_call.h"
#include "workers/gateway/http/http_reading.h"
#include "workers/gateway/http/json_slice.h"
#include "workers/gateway/web/query.h"
#include <stdlib.h>

#define MAX_PARTS 3

/* ---- reading a request ---- */

/* Splits at slashes; the number of parts, or -1 when there are more than fit or one is
 * empty. */
static int split_path(struct str path, struct str parts[MAX_PARTS])
{
	int n = 0;

	while (path.len > 0) {
		const char *slash = memchr(path.ptr, '/', path.len);
		size_t len = slash ? (size_t)(slash - path.ptr) : path.len;

		if (len == 0 || n == MAX_PARTS)
			return -1;
		parts[n++] = (struct str){path.ptr, len};
		path.ptr += len + (slash ? 1 : 0);
		path.len -= len + (slash ? 1 : 0);
	}
	return n;
}

static void put_member(struct buf *out, const char *name, struct str json)
{
	if (out->len > 1)
		buf_add_char(out, ',');
	buf_printf(out, "\"%s\":", name);
	buf_add_str(out, json);
}

static void put_text_member(struct buf *out, const char *name, struct str text)
{
	AUTO_BUF quoted = {0};

	buf_add_json_string(&quoted, text);
	put_member(out, name, buf_str(&quoted));
}

/* {id?, config?} of a creation. */
static void put_creation(struct buf *out, struct str body)
{
	struct str id = json_slice_member(body, "id"),
		   config = json_slice_member(body, "config");

	if (id.ptr)
		put_member(out, "id", id);
	if (config.ptr)
		put_member(out, "config", config);
}

static int read_post(int n, const struct str *parts, struct str body,
	struct guards_call *call, const char **error)
{
	struct proto_error wrong;
	AUTO_DOC *doc = NULL;
	bool is_object;

	if (n != 1 && !(n == 3 && str_is(parts[2], "events"))) {
		*error = "There is nothing to post to at this path";
		return 404;
	}
	doc = proto_parse(body.len ? body : STR_LIT("{}"), &wrong);
	is_object = doc && yyjson_is_obj(yyjson_doc_get_root(doc));
	if (!is_object) {
		*error = "The body must be a JSON object";
		return 400;
	}
	call->method = n == 1 ? METHOD_GUARD_CREATE : METHOD_GUARD_EVENT;
	call->status = n == 1 ? 201 : 200;
	if (n == 1)
		put_creation(&call->body, body);
	else
		put_member(&call->body, "event", body.len ? body : STR_LIT("{}"));
	return 0;
}

static int read_get(int n, const struct str *parts, struct str query,
	struct guards_call *call, const char **error)
{
	struct str since = query_value(query, "since"),
		   reader = query_value(query, "for");

	call->status = 200;
	if (n == 1) {
		call->method = METHOD_GUARD_LIST;
	} else if (n == 2) {
		call->method = METHOD_GUARD_GET;
	} else if (str_is(parts[2], "events")) {
		call->method = METHOD_GUARD_EVENTS;
		if (since.ptr && !query_is_number(since)) {
			*error = "since must be a number";
			return 400;
		}
		if (since.ptr)
			put_member(&call->body, "since", since);
	} else if (str_is(parts[2], "replay")) {
		call->method = METHOD_GUARD_REPLAY;
	} else if (str_is(parts[2], "bundle") && str_is(parts[0], "interview")) {
		call->method = METHOD_GUARD_BUNDLE;
		put_text_member(
			&call->body, "for", reader.ptr ? reader : STR_LIT("evaluation"));
	} else {
		*error = "There is nothing at this path";
		return 404;
	}
	return 0;
}

int guards_read(bool is_post, struct str path, struct str query, struct str body,
	struct guards_call *call, const char **error)
{
	struct str parts[MAX_PARTS];
	int n = split_path(path, parts), status;

	if (n < 1 || enumeration_index(guard_kind_enumeration(), parts[0]) < 0) {
		*error = "There is no such kind of guard machine";
		return 404;
	}
	*call = (struct guards_call){0};
	buf_add_char(&call->body, '{');
	if (n == 3 && str_is(parts[2], "bundle"))
		put_text_member(&call->body, "id", parts[1]);
	else
		put_text_member(&call->body, "kind", parts[0]);
	if (n > 1 && !str_is(parts[n - 1], "bundle"))
		put_text_member(&call->body, "id", parts[1]);
	status = is_post ? read_post(n, parts, body, call, error)
			 : read_get(n, parts, query, call, error);
	buf_add_char(&call->body, '}');
	if (status != 0)
		buf_free(&call->body);
	return status;
}

/* ---- HTTP ---- */

struct guards_reading {
	struct http_reading reading;
	bool is_post;
	struct arena arena;
	char *decoded; /* path from behind the prefix; NULL: it cannot be decoded */
	size_t decoded_len;
	struct str query;
	struct guards_call call;
	int status; /* as guards_read gives it */
	const char *error;
};

static void read_request(struct http_reading *reading, struct str body)
{
	struct guards_reading *r = (struct guards_reading *)reading;

	r->status = guards_read(r->is_post,
		r->decoded ? (struct str){r->decoded, r->decoded_len} : STR_LIT(""),
		r->query, body, &r->call, &r->error);
}

static void take_request(struct http_reading *reading, struct http_request *request)
{
	struct guards_reading *r = (struct guards_reading *)reading;

	if (r->status != 0)
		http_reply_error(request, r->status, "%s", r->error);
	else
		http_call(request->gateway, request, r->call.method, &r->call.body,
			r->call.status);
	free(r->decoded);
	arena_free(&r->arena);
	buf_free(&r->call.body);
	free(r);
}

void guards_handle(struct gateway *g, struct http_request *request)
{
	const size_t prefix = sizeof("/guards/") - 1;
	bool is_post = request->method == EVHTTP_REQ_POST;
	struct guards_reading *r;
	char *path;

	(void)g;
	if (is_post && !http_call_may_post(request))
		return;
	r = xcalloc(1, sizeof(*r));
	r->reading.read = read_request;
	r->reading.take = take_request;
	r->is_post = is_post;
	r->query = arena_str(&r->arena, request->query);
	path = arena_cstr(&r->arena,
		(struct str){request->path.ptr + prefix, request->path.len - prefix});
	r->decoded = evhttp_uridecode(path, 0, &r->decoded_len);
	http_read_body(request, &r->reading);
}
