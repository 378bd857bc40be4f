/* mcp_call.c - one request from its handler's hands to its answer (see mcp.h and server.h).
 */
#include "common/base/alloc.h"
#include "workers/gateway/http/http_reading.h"
#include "workers/gateway/http/json_slice.h"
#include "workers/gateway/mcp/server.h"
#include "workers/gateway/mcp/stream.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

yyjson_val *mcp_call_params(const struct mcp_call *call)
{
	return call->message.params;
}

yyjson_val *mcp_call_meta(const struct mcp_call *call)
{
	return call->message.meta;
}

struct arena *mcp_call_arena(struct mcp_call *call)
{
	return &call->arena;
}

struct str mcp_call_session_id(const struct mcp_call *call)
{
	return str_of(call->session_id[0] ? call->session_id : NULL);
}

bool mcp_call_is_modern(const struct mcp_call *call)
{
	return call->session_id[0] == '\0';
}

/* ---- streams ---- */

static void on_stream_cut(void *arg)
{
	struct mcp_call *call = arg;

	/* Legacy: cutting is no cancelling; the result waits in the stream. */
	if (mcp_call_is_modern(call))
		mcp_call_cancel(call);
	else if (call->on_detach)
		call->on_detach(call->on_detach_arg);
}

static void become_stream(struct mcp_call *call)
{
	uint32_t number = call->session ? ++call->session->last_stream : 1;
	struct evhttp_request *ev = call->ev;

	if (call->stream || !ev || !call->takes_stream)
		return;
	call->ev = NULL;
	call->stream = mcp_stream_open(
		call->server, call->session, number, call->message.id, ev, call->conn);
	call->stream->on_cut = on_stream_cut;
	call->stream->on_cut_arg = call;
	call->conn = NULL;
}

void mcp_call_takes_long(struct mcp_call *call)
{
	become_stream(call);
}

void mcp_call_progress(
	struct mcp_call *call, double progress, double total, struct str message)
{
	AUTO_BUF out = {0};

	if (!call->progress_token.ptr || call->cancelled || progress <= call->progress)
		return;
	become_stream(call);
	if (!call->stream)
		return;
	call->progress = progress;
	call->progress_at = clock_mono();
	call->total = total;
	if (message.ptr != call->doing.ptr)
		call->doing = arena_str(&call->arena, message);
	buf_printf(&out,
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
		"\"progressToken\":%.*s,\"progress\":%.17g",
		STR_ARG(call->progress_token), progress);
	if (total > 0)
		buf_printf(&out, ",\"total\":%.17g", total);
	if (message.ptr) {
		buf_add_str(&out, STR_LIT(",\"message\":"));
		buf_add_json_string(&out, message);
	}
	buf_add_str(&out, STR_LIT("}}"));
	mcp_stream_send(call->stream, buf_str(&out));
}

/* ---- what else goes out on the call's stream ---- */

void mcp_call_notify(struct mcp_call *call, const char *method, struct str params)
{
	AUTO_BUF out = {0};

	become_stream(call);
	if (!call->stream || call->cancelled)
		return;
	buf_printf(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":", method);
	buf_add_str(&out, params);
	buf_add_char(&out, '}');
	mcp_stream_send(call->stream, buf_str(&out));
}

bool mcp_call_ask(struct mcp_call *call, const char *method, struct str params,
	mcp_answer_fn *fn, void *arg)
{
	struct mcp_ask *ask;
	AUTO_BUF out = {0};

	become_stream(call);
	if (!call->stream || !call->session)
		return false;
	ask = xmalloc(sizeof(*ask));
	*ask = (struct mcp_ask){
		.id = ++call->server->last_ask, .call = call, .fn = fn, .arg = arg};
	LIST_INSERT_HEAD(&call->server->asks, ask, link);
	buf_printf(&out, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"%s\",\"params\":",
		(unsigned long long)ask->id, method);
	buf_add_str(&out, params);
	buf_add_char(&out, '}');
	mcp_stream_send(call->stream, buf_str(&out));
	return true;
}

void mcp_call_take_answer(
	struct mcp_server *server, const struct mcp_session *session, yyjson_val *root)
{
	yyjson_val *id = yyjson_obj_get(root, "id");
	struct mcp_ask *ask;

	LIST_FOREACH(ask, &server->asks, link)
	{
		if (!yyjson_is_uint(id) || ask->id != yyjson_get_uint(id) ||
			ask->call->session != session)
			continue;
		LIST_REMOVE(ask, link);
		ask->fn(ask->arg, yyjson_obj_get(root, "result"),
			yyjson_obj_get(root, "error"));
		free(ask);
		return;
	}
}

static void forget_asks(struct mcp_call *call)
{
	struct mcp_ask *ask, *next;

	for (ask = LIST_FIRST(&call->server->asks); ask; ask = next) {
		next = LIST_NEXT(ask, link);
		if (ask->call != call)
			continue;
		LIST_REMOVE(ask, link);
		free(ask);
	}
}

void mcp_call_break_off(struct mcp_call *call)
{
	if (call->stream)
		mcp_stream_break_off(call->stream);
}

/* A client gives up on a call that shows no progress: a little of it, below the next
 * whole step. */
static void show_life(struct mcp_call *call)
{
	double next = floor(call->progress) + 1;

	mcp_call_progress(call,
		call->progress < 0 ? 0 : call->progress + (next - call->progress) / 2,
		call->total, call->doing);
}

void mcp_call_tick(struct mcp_call *call, struct mono now)
{
	if (call->cancelled)
		return;
	if (call->ev && mono_diff_ms(now, call->since) >= MCP_STREAM_AFTER_MS)
		become_stream(call);
	if (call->stream && mono_diff_ms(now, call->progress_at) >= MCP_PROGRESS_MS)
		show_life(call);
}

/* ---- the end ---- */

static void call_free(struct mcp_call *call)
{
	LIST_REMOVE(call, link);
	forget_asks(call);
	if (call->session)
		call->session->calls--;
	http_free_document(call->parsers, call->doc);
	arena_free(&call->arena);
	free(call);
}

/* Whatever answer the client could still get is ended without one. */
static void end_silently(struct mcp_call *call)
{
	struct mcp_stream *stream = call->stream;
	struct evhttp_request *ev = call->ev;

	call->stream = NULL;
	call->ev = NULL;
	if (stream)
		mcp_stream_drop(stream);
	if (ev)
		http_reply_later(ev, 202, NULL, STR_LIT(""));
}

void mcp_call_on_cancel(struct mcp_call *call, void (*fn)(void *arg), void *arg)
{
	call->on_cancel = fn;
	call->on_cancel_arg = arg;
}

void mcp_call_on_detach(struct mcp_call *call, void (*fn)(void *arg), void *arg)
{
	call->on_detach = fn;
	call->on_detach_arg = arg;
}

void mcp_call_cancel(struct mcp_call *call)
{
	if (call->cancelled)
		return;
	call->cancelled = true;
	end_silently(call);
	if (call->on_cancel)
		call->on_cancel(call->on_cancel_arg);
}

struct mcp_call *mcp_call_find(
	struct mcp_server *server, const struct mcp_session *session, struct str id)
{
	struct mcp_call *call;

	LIST_FOREACH(call, &server->calls, link)
	if (call->session == session && str_eq(call->message.id, id))
		return call;
	return NULL;
}

/* Sends the one message that answers the call. */
static void answer(struct mcp_call *call, int status, struct str message)
{
	AUTO_BUF event = {0};

	if (call->stream) {
		mcp_stream_send(call->stream, message);
		mcp_stream_finish(call->stream);
		call->stream = NULL;
	} else if (call->ev && call->takes_json) {
		http_reply_later(call->ev, status, "application/json", message);
	} else if (call->ev) {
		buf_printf(&event, "event: message\ndata: %.*s\n\n", STR_ARG(message));
		http_reply_later(call->ev, status, "text/event-stream", buf_str(&event));
	}
	call->ev = NULL;
}

/* What the modern era wants in every result, in front of the handler's own members. */
static void put_modern_members(
	const struct mcp_call *call, struct str result, struct buf *out)
{
	const struct mcp_service *service = call->server->service;

	if (!json_slice_member(result, "resultType").ptr)
		buf_add_str(out, STR_LIT("\"resultType\":\"complete\","));
	if (call->method && call->method->cache_ttl_ms >= 0)
		buf_printf(out, "\"ttlMs\":%d,\"cacheScope\":\"private\",",
			call->method->cache_ttl_ms);
	if (!json_slice_member(result, "_meta").ptr)
		buf_printf(out,
			"\"_meta\":{\"io.modelcontextprotocol/"
			"serverInfo\":{\"name\":\"%s\","
			"\"title\":\"%s\",\"version\":\"%s\"}},",
			service->name, service->title, service->version);
}

static void put_result(const struct mcp_call *call, struct str result, struct buf *out)
{
	struct str inside = {result.ptr + 1, result.len - 1};

	if (!mcp_call_is_modern(call)) {
		buf_add_str(out, result);
		return;
	}
	buf_add_char(out, '{');
	put_modern_members(call, result, out);
	if (inside.len == 1 && out->data[out->len - 1] == ',')
		out->len--;
	buf_add_str(out, inside);
}

void mcp_call_result(struct mcp_call *call, struct str result)
{
	static struct buf out;

	if (!call->cancelled) {
		buf_add_str(&out, STR_LIT("{\"jsonrpc\":\"2.0\",\"id\":"));
		buf_add_str(&out, call->message.id);
		buf_add_str(&out, STR_LIT(",\"result\":"));
		put_result(call, result, &out);
		buf_add_char(&out, '}');
		answer(call, 200, buf_str(&out));
		buf_empty(&out, MCP_KEPT_BYTES);
	}
	call_free(call);
}

static void fail(
	struct mcp_call *call, int status, int code, struct str data, struct str text)
{
	AUTO_BUF out = {0};

	if (!call->cancelled) {
		buf_printf(&out,
			"{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":%d,"
			"\"message\":",
			STR_ARG(call->message.id), code);
		buf_add_json_string(&out, text);
		if (data.ptr)
			buf_printf(&out, ",\"data\":%.*s", STR_ARG(data));
		buf_add_str(&out, STR_LIT("}}"));
		answer(call, status, buf_str(&out));
	}
	call_free(call);
}

void mcp_call_fail(struct mcp_call *call, int code, const char *format, ...)
{
	struct str text;
	va_list args;

	va_start(args, format);
	text = arena_vprintf(&call->arena, format, args);
	va_end(args);
	fail(call, 200, code, (struct str){NULL, 0}, text);
}

void mcp_call_fail_with(struct mcp_call *call, int status, int code, struct str data,
	const char *format, ...)
{
	struct str text;
	va_list args;

	va_start(args, format);
	text = arena_vprintf(&call->arena, format, args);
	va_end(args);
	fail(call, status, code, data, text);
}
