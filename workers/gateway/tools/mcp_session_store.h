/*
 * mcp_session_store.h - what must outlive the gateway of its MCP sessions: the key that
 * proves their ids, and which ones their clients ended. The store keeps both.
 *
 * Called by main.c (fetching) and the MCP server (a session was ended).
 */
#ifndef PAIGE_GATEWAY_TOOLS_MCP_SESSION_STORE_H
#define PAIGE_GATEWAY_TOOLS_MCP_SESSION_STORE_H

struct gateway;

/* Asks the store, again until it answers. `done` is told once, with the first answer of
 * any kind. */
void mcp_sessions_fetch(struct gateway *g, void (*done)(struct gateway *g));

/* The session_ended of the service; `arg` is the gateway. */
void mcp_sessions_tell_ended(void *arg, const char *session_id);

#endif
