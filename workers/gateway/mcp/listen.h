/*
 * listen.h - subscriptions/listen of the modern era: a stream with the notifications that a
 * client asked for, until the client goes or the daemon stops.
 */
#pragma once

#include "workers/gateway/mcp/mcp.h"

extern const struct mcp_method mcp_listen_method;

/* A list has changed: notifies the clients that asked for it. */
void mcp_listen_tell(struct mcp_server *server, enum mcp_list list, const char *method);

/* Ends every subscription with a result, when the daemon stops. */
void mcp_listen_end_all(struct mcp_server *server);
