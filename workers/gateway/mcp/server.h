/* server.h - the state of an MCP server. Only the files of this folder include it. */
#pragma once

#include "common/base/clock.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/http/metrics.h"
#include "workers/gateway/mcp/mcp.h"
#include "workers/gateway/mcp/message.h"
#include "workers/gateway/mcp/session.h"

/* Interval of the timer for heartbeats, progress and expiry, which runs while there are calls
 * or streams. */
#define MCP_TICK_MS 5000
/* A call that is not answered after this becomes a stream, if its client accepts one. */
#define MCP_STREAM_AFTER_MS 3000
#define MCP_HEARTBEAT_MS 15000
#define MCP_PROGRESS_MS 10000

struct mcp_server {
	struct event_base *base;
	const struct mcp_service *service;
	struct gateway_metrics *metrics;
	struct mcp_sessions *sessions;
	LIST_HEAD(mcp_calls, mcp_call) calls;
	LIST_HEAD(, mcp_stream) streams;
	LIST_HEAD(, mcp_ask) asks;
	uint64_t last_ask;
	struct event *tick;
	bool ticking;
	bool stopping;
};

/* Starts the timer if it is not running. */
void mcp_server_wake(struct mcp_server *server);

/* ---- calls (mcp_call.c) ---- */

struct mcp_call {
	LIST_ENTRY(mcp_call) link;
	struct mcp_server *server;
	struct mcp_session *session; /* NULL in the modern era */
	char session_id[MCP_SESSION_ID_SIZE];
	const struct mcp_method *method;
	struct arena arena;
	yyjson_doc *doc;
	struct jobs *parsers;	    /* the thread that frees `doc` */
	struct mcp_message message; /* borrows from doc and arena */
	struct str progress_token;  /* JSON; absent: no progress is wanted */
	struct evhttp_request *ev;  /* until it is answered or becomes a stream */
	struct http_conn *conn;
	struct mcp_stream *stream;
	bool takes_json, takes_stream;
	bool cancelled;
	struct mono since;
	struct mono progress_at;
	double progress;     /* last told; below 0: none */
	unsigned subscribed; /* enum mcp_list: of subscriptions/listen */
	double total;	     /* last told; 0: none */
	struct str doing;    /* last message told, in the arena */
	void (*on_cancel)(void *arg);
	void *on_cancel_arg;
	void (*on_detach)(void *arg);
	void *on_detach_arg;
};

/* A question to a client that is not answered yet. */
struct mcp_ask {
	LIST_ENTRY(mcp_ask) link;
	uint64_t id;
	struct mcp_call *call;
	mcp_answer_fn *fn;
	void *arg;
};

/* Takes a client's response to a question, if the session has asked it. */
void mcp_call_take_answer(
	struct mcp_server *server, const struct mcp_session *session, yyjson_val *root);

/* The client gave up: calls the handler's on_cancel once, and sends nothing more. */
void mcp_call_cancel(struct mcp_call *call);
/* The running call with this id in the session, or NULL. */
struct mcp_call *mcp_call_find(
	struct mcp_server *server, const struct mcp_session *session, struct str id);
void mcp_call_tick(struct mcp_call *call, struct mono now);

/* ---- requests that do not become a call (entry.c) ---- */

/* Answers with a JSON-RPC error and an HTTP status; `id` and `data` are JSON or absent. */
void mcp_refuse(struct http_request *request, int status, int code, struct str id,
	struct str data, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* A POST whose era is known. */
struct mcp_post {
	struct mcp_server *server;
	struct http_request *request;
	yyjson_doc *doc; /* taken by mcp_post_call */
	struct arena *arena;
	struct mcp_message message;
};

/* Hands the request to its handler, as a call. */
void mcp_post_call(struct mcp_post *post, struct mcp_session *session,
	const struct mcp_method *method);
/* The method of the service with this name, or NULL. */
const struct mcp_method *mcp_method_find(
	const struct mcp_server *server, struct str name);

void mcp_legacy_post(struct mcp_post *post);
void mcp_modern_post(struct mcp_post *post);
