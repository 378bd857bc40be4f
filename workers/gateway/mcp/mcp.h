/*
 * mcp.h - an MCP server over Streamable HTTP (POST, GET and DELETE of one path), as a
 * library: transport, sessions, streams and dispatch. What it serves is a table of
 * methods.
 *
 * Two eras on one endpoint: the revision without sessions (2026-07-28), and those with
 * sessions (2025-11-25, 2025-06-18, 2025-03-26). A handler does not see the difference.
 *
 * Called by http_routes.c (requests) and by whoever made the server. Everything runs on
 * one event loop.
 */
#ifndef PAIGE_GATEWAY_MCP_MCP_H
#define PAIGE_GATEWAY_MCP_MCP_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include <event2/event.h>
#include <yyjson.h>

struct gateway;
struct gateway_metrics;
struct http_request;
struct mcp_call;
struct mcp_server;

/* What is kept of the memory in which an answer was put together. */
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

/* Lists whose changes clients can be told of. */
enum mcp_list {
	MCP_LIST_TOOLS = 1 << 0,
	MCP_LIST_PROMPTS = 1 << 1,
	MCP_LIST_RESOURCES = 1 << 2,
};

/* A method that the service answers, beside those of the protocol itself. */
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
	/* A session was ended by its client; told so that it stays ended. May be NULL. */
	void (*session_ended)(void *arg, const char *session_id);
	/* The result, a JSON object, of a call whose stream is resumed and that this
	 * process does not know: it ended with an earlier one. NULL: an error. */
	const char *lost_result;
};

/* Borrows service and metrics. Ends the process when out of memory. */
struct mcp_server *mcp_server_new(struct event_base *base,
	const struct mcp_service *service, struct gateway_metrics *metrics)
	__attribute__((returns_nonnull));

/* Requests of the legacy eras wait for this. May be called once. */
void mcp_server_set_key(
	struct mcp_server *server, const unsigned char key[MCP_KEY_BYTES]);
/* Ids that clients ended before this process was there. */
void mcp_server_note_ended(struct mcp_server *server, struct str session_id);

/* Ends every stream, in order: open calls of the modern era with a result where the era
 * asks for it. */
void mcp_server_stop(struct mcp_server *server);

/* A list has changed: tells the sessions' streams and the subscriptions that asked for
 * it. */
void mcp_server_list_changed(struct mcp_server *server, enum mcp_list list);

/* The handler of the paths; takes the server from the gateway. */
void mcp_handle(struct gateway *g, struct http_request *request);

/* ---- what a handler does with a call ---- */

/* Borrowed until the call is answered. NULL when there are none. */
yyjson_val *mcp_call_params(const struct mcp_call *call);
struct arena *mcp_call_arena(struct mcp_call *call);
/* params._meta, or NULL. */
yyjson_val *mcp_call_meta(const struct mcp_call *call);
/* The id of the session, absent in the era without. */
struct str mcp_call_session_id(const struct mcp_call *call);
bool mcp_call_is_modern(const struct mcp_call *call);

/* The answer may take longer than 5 s: the client gets a stream at once, if it takes one.
 */
void mcp_call_takes_long(struct mcp_call *call);
/* `progress` must rise; `total` 0: not known; `message` may be absent. Dropped when the
 * client did not ask for progress. */
void mcp_call_progress(
	struct mcp_call *call, double progress, double total, struct str message);

/* A notification that belongs to the call; `params` is a JSON object. */
void mcp_call_notify(struct mcp_call *call, const char *method, struct str params);

/*
 * Legacy: asks the client (sampling, elicitation, roots) on the call's stream. `fn` is
 * told the result or the error, borrowed, once; never when the call ends before. False
 * when there is no stream to ask on.
 */
typedef void mcp_answer_fn(void *arg, yyjson_val *result, yyjson_val *error);
bool mcp_call_ask(struct mcp_call *call, const char *method, struct str params,
	mcp_answer_fn *fn, void *arg) __attribute__((warn_unused_result));

/* Breaks the call's stream off, if its client can resume it; the call goes on. */
void mcp_call_break_off(struct mcp_call *call);

/* Told when the client no longer wants an answer. The call must be answered still; that
 * goes nowhere. */
void mcp_call_on_cancel(struct mcp_call *call, void (*fn)(void *arg), void *arg);

/* Told when the client was cut off and may come back for the answer; in the eras with
 * sessions. */
void mcp_call_on_detach(struct mcp_call *call, void (*fn)(void *arg), void *arg);

/* Exactly one of the following, at once or later; frees the call. `result` is a JSON
 * object. */
void mcp_call_result(struct mcp_call *call, struct str result);
void mcp_call_fail(struct mcp_call *call, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with an HTTP status, used while the answer has not begun, and data (JSON, or
 * absent). */
void mcp_call_fail_with(struct mcp_call *call, int status, int code, struct str data,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
