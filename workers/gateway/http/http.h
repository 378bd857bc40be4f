/*
 * http.h - the HTTP server: evhttp on the listening sockets that the supervisor holds,
 * the table of paths, the access rules in front of every one of them, and plain answers.
 *
 * Called by main.c (start, stop) and by the handlers of the paths. Knows nothing about
 * single paths.
 */
#pragma once

#include "workers/gateway/http/access.h"
#include "workers/gateway/http/http_conn.h"
#include <event2/http.h>

struct gateway;

/* HEADER(member, name, kind). ONE: a second one makes the request wrong (a client and a
 * proxy could read two of them differently). LIST: several count as one, joined by
 * commas. */
#define HTTP_HEADERS(HEADER)                                                             \
	HEADER(host, "Host", ONE)                                                        \
	HEADER(origin, "Origin", ONE)                                                    \
	HEADER(fetch_site, "Sec-Fetch-Site", ONE)                                        \
	HEADER(authorization, "Authorization", ONE)                                      \
	HEADER(cookie, "Cookie", LIST)                                                   \
	HEADER(forwarded, "Forwarded", LIST)                                             \
	HEADER(forwarded_for, "X-Forwarded-For", LIST)                                   \
	HEADER(forwarded_host, "X-Forwarded-Host", LIST)                                 \
	HEADER(forwarded_proto, "X-Forwarded-Proto", LIST)                               \
	HEADER(real_ip, "X-Real-IP", LIST)                                               \
	HEADER(via, "Via", LIST)                                                         \
	HEADER(content_type, "Content-Type", ONE)                                        \
	HEADER(content_length, "Content-Length", ONE)                                    \
	HEADER(transfer_encoding, "Transfer-Encoding", ONE)                              \
	HEADER(accept, "Accept", LIST)                                                   \
	HEADER(accept_encoding, "Accept-Encoding", LIST)                                 \
	HEADER(if_none_match, "If-None-Match", LIST)                                     \
	HEADER(connection, "Connection", LIST)                                           \
	HEADER(upgrade, "Upgrade", LIST)                                                 \
	HEADER(last_event_id, "Last-Event-ID", ONE)                                      \
	HEADER(mcp_session_id, "Mcp-Session-Id", ONE)                                    \
	HEADER(mcp_protocol_version, "MCP-Protocol-Version", ONE)                        \
	HEADER(mcp_method, "Mcp-Method", ONE)                                            \
	HEADER(mcp_name, "Mcp-Name", ONE)                                                \
	HEADER(ws_key, "Sec-WebSocket-Key", ONE)                                         \
	HEADER(ws_version, "Sec-WebSocket-Version", ONE)                                 \
	HEADER(ws_protocol, "Sec-WebSocket-Protocol", LIST)

/* Borrowed from the request; absent when the header is. */
struct http_headers {
#define HEADER(member, name, kind) struct str member;
	HTTP_HEADERS(HEADER)
#undef HEADER
	bool repeated;
};

/* Valid while its handler runs. What answers later keeps `ev` and uses the http_reply_...
 * functions. */
struct http_request {
	struct gateway *gateway;
	struct evhttp_request *ev;
	struct http_conn *conn;
	struct http_headers headers;
	enum evhttp_cmd_type method;
	struct str path; /* without the query, as sent */
	struct str query;
};

struct http_route {
	const char *path;
	bool prefix;	  /* everything below it too */
	unsigned methods; /* enum evhttp_cmd_type, or-ed */
	const char *allow;
	enum access_rules rules;
	void (*handle)(struct gateway *g, struct http_request *request);
};

/* What the server serves. */
struct http_site {
	/* NULL: 404. */
	const struct http_route *(*route_of)(struct str path);
	/* Shows a person at a browser where to give the token. False: somebody else
	 * asked, who gets the error. */
	bool (*ask_for_token)(struct http_request *request);
};

/* The largest body that a path accepts from an unauthenticated client, in bytes. */
#define HTTP_OPEN_BODY_MAX 4096

/* Starts to accept on `count` listening sockets from `first_fd`. `site` is borrowed for
 * the life of the process. 0 or -errno. */
int http_start(struct gateway *g, const struct http_site *site, int first_fd, int count)
	__attribute__((warn_unused_result));
/* Takes the socket of a request away from evhttp. What remains of the connection is the
 * caller's, to be freed before the socket is closed. -errno: nothing was done. */
int http_take_socket(struct http_request *request, struct evhttp_connection **remains)
	__attribute__((warn_unused_result));
/* Stops accepting; connections go on. */
void http_stop_accepting(struct gateway *g);
/* Port of the first listening socket, or -errno. */
int http_listening_port(int fd);

/* access_is_operator of a request whose handler runs. */
bool http_is_operator(const struct http_request *request);

/* What the handler of a path gets; the texts are valid until the next request is read. */
void http_request_of(
	struct gateway *g, struct evhttp_request *ev, struct http_request *out);

/* Counts an answer for /metrics; the plain ones below count themselves. `path`: of the route; NULL: of none. */
void http_count_answer(const char *path, int status);

/* The body of the request, in one piece; valid until it is answered. */
struct str http_body(struct evhttp_request *ev);

/* A plain answer; the body is copied. Exactly one answer for each request. */
void http_reply(struct http_request *request, int status, const char *content_type,
	struct str body);
void http_reply_later(
	struct evhttp_request *ev, int status, const char *content_type, struct str body);
/* {"error": ...} */
void http_reply_error(struct http_request *request, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
