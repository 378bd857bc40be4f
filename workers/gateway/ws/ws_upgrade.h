/*
 * ws_upgrade.h - GET /ws: from an HTTP request to a window (RFC 6455 section 4).
 *
 * The access rules were checked before. The socket is taken from evhttp, which is then
 * done with it.
 */
#pragma once

#include "common/base/str.h"

struct gateway;
struct http_request;

#define WS_ACCEPT_SIZE 29 /* base64 of a SHA-1, and NUL */

void ws_upgrade(struct gateway *g, struct http_request *request);

/* The same for the windows of another server; `on_open` is called before anything is read.
 */
struct ws_client;
struct ws_server;
void ws_upgrade_to(struct ws_server *server, struct http_request *request,
	void (*on_open)(struct ws_client *client, void *arg), void *arg);

/* Pure. The value of Sec-WebSocket-Accept. 0, or -EINVAL when the key is not base64 of 16
 * bytes. */
int ws_accept_value(struct str key, char out[WS_ACCEPT_SIZE])
	__attribute__((warn_unused_result));
