/*
 * legacy.h - the protocol revisions with sessions: 2025-11-25, 2025-06-18, 2025-03-26.
 *
 * Called by entry.c. An unknown session is answered with 404 before anything else is
 * checked, because only that makes a client start a new session (R23).
 */
#pragma once

struct http_request;
struct mcp_post;
struct mcp_server;

void mcp_legacy_initialize(struct mcp_post *post);
void mcp_legacy_post(struct mcp_post *post);
void mcp_legacy_get(struct mcp_server *server, struct http_request *request);
void mcp_legacy_delete(struct mcp_server *server, struct http_request *request);
