/*
 * mcp.h - an MCP server over Streamable HTTP (POST, GET and DELETE of one path), as a
 * library: transport, sessions, streams and dispatch. What it serves is a table of
 * methods.
 *
 * One endpoint serves two eras: the modern revision without sessions (2026-07-28), and the
 * legacy revisions with sessions (2025-11-25, 2025-06-18, 2025-03-26). A handler does not see
 * the difference.
 *
 * Called by http_routes.c, with requests, and by the owner of the server. Everything runs on
 * one event loop.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/buf.h"
#include <event2/event.h>
#include <yyjson.h>

struct gateway;
struct gateway_metrics;
struct http_request;
struct mcp_call;
struct mcp_server;

/* Of the memory in which an answer was made, this much is kept for the next one. */
#define MCP_KEPT_BYTES (256u * 1024)

/* JSON-RPC and MCP error codes. */
#define MCP_PARSE_ERROR (-32700)
#define MCP_INVALID_REQUEST (-32600)
#define MCP_METHOD_NOT_FOUND (-32601)
#define MCP_INVALID_PARAMS (-32602)
#define MCP_INTERNAL_ERROR (-32603)
#define MCP_BAD_REQUEST (-32000)       /* legacy: the transport's rules */
#define MCP_SESSION_NOT_FOUND (-32001) /* legacy */
#define MCP_HEADER_MISMATCH (-32020)   /* modern, as the following */
#define MCP_MISSING_CAPABILITY (-32021)
#define MCP_UNSUPPORTED_VERSION (-32022)

/* Bytes of the key that authenticates session ids. */
#define MCP_KEY_BYTES 32
#define MCP_SESSION_ID_SIZE 37 /* a UUID and NUL */

/* Lists of whose changes clients can be notified. */
enum mcp_list {
	MCP_LIST_TOOLS = 1 << 0,
	MCP_LIST_PROMPTS = 1 << 1,
	MCP_LIST_RESOURCES = 1 << 2,
};

/* A method of the service, in addition to those of the protocol itself. */
struct mcp_method {
	const char *name;
	const char *name_param; /* the member of params that the header Mcp-Name repeats,
				   or NULL */
	int cache_ttl_ms; /* modern: how long the result may be kept; -1: it is no list */
	bool legacy_only; /* not part of the revision without sessions */
	void (*handle)(struct mcp_call *call, void *arg);
};

struct mcp_service {
	const char *name, *title, *version;
	const char *instructions; /* for the model */
	const char *capabilities; /* JSON object */
	unsigned list_changes;	  /* enum mcp_list, or-ed: lists that may change
				     (listChanged) */
	const struct mcp_method *methods;
	size_t method_count;
	void *arg; /* for the handlers */
	/* Called when a client ends its session, so that the session stays ended after a
	 * restart. May be NULL. */
	void (*session_ended)(void *arg, const char *session_id);
	/* The result, a JSON object, for a client that resumes the stream of a call which
	 * ended with an earlier process. NULL: an error. */
	const char *lost_result;
};

/* Borrows service and metrics. Ends the process when out of memory. */
struct mcp_server *mcp_server_new(struct event_base *base,
	const struct mcp_service *service, struct gateway_metrics *metrics)
	__attribute__((returns_nonnull));

/* Requests of the legacy era wait for this. Call once. */
void mcp_server_set_key(
	struct mcp_server *server, const unsigned char key[MCP_KEY_BYTES]);
/* Notes the id of a session that its client ended before this process started. */
void mcp_server_note_ended(struct mcp_server *server, struct str session_id);

/* Ends every stream properly; open calls of the modern era get a result where the protocol
 * requires one. */
void mcp_server_stop(struct mcp_server *server);

/* A list has changed: notifies the streams of sessions, and the subscriptions that asked for
 * it. */
void mcp_server_list_changed(struct mcp_server *server, enum mcp_list list);

/* Handles a request to the MCP path with the gateway's server. */
void mcp_handle(struct gateway *g, struct http_request *request);

/* ---- for handlers ---- */

/* Borrowed until the call is answered. NULL when there are none. */
yyjson_val *mcp_call_params(const struct mcp_call *call);
struct arena *mcp_call_arena(struct mcp_call *call);
/* params._meta, or NULL. */
yyjson_val *mcp_call_meta(const struct mcp_call *call);
/* The id of the session; absent in the modern era. */
struct str mcp_call_session_id(const struct mcp_call *call);
bool mcp_call_is_modern(const struct mcp_call *call);

/* The answer may take longer than 5 s: a client that accepts a stream gets one at once. */
void mcp_call_takes_long(struct mcp_call *call);
/* Sends progress, if the client asked for it. `progress` must rise; `total` 0: not known;
 * `message` may be absent. */
void mcp_call_progress(
	struct mcp_call *call, double progress, double total, struct str message);

/* A notification that belongs to the call; `params` is a JSON object. */
void mcp_call_notify(struct mcp_call *call, const char *method, struct str params);

/*
 * Legacy era: asks the client (sampling, elicitation, roots) on the call's stream. `fn` gets
 * the result or the error, borrowed, once; it is not called if the call ends before. False
 * when the call has no stream.
 */
typedef void mcp_answer_fn(void *arg, yyjson_val *result, yyjson_val *error);
bool mcp_call_ask(struct mcp_call *call, const char *method, struct str params,
	mcp_answer_fn *fn, void *arg) __attribute__((warn_unused_result));

/* Closes the call's stream if the client can resume it. The call goes on. */
void mcp_call_break_off(struct mcp_call *call);

/* `fn` is called when the client no longer wants an answer. Answer the call all the same; the
 * answer is dropped. */
void mcp_call_on_cancel(struct mcp_call *call, void (*fn)(void *arg), void *arg);

/* Legacy era: `fn` is called when the client was disconnected and may come back for the
 * answer. */
void mcp_call_on_detach(struct mcp_call *call, void (*fn)(void *arg), void *arg);

/* Exactly one of the following, at once or later; frees the call. `result` is a JSON
 * object. */
void mcp_call_result(struct mcp_call *call, struct str result);
void mcp_call_fail(struct mcp_call *call, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with an HTTP status, used if the answer has not begun yet, and with data (JSON or
 * absent). */
void mcp_call_fail_with(struct mcp_call *call, int status, int code, struct str data,
	const char *format, ...) __attribute__((format(printf, 5, 6)));
