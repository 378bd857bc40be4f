/*
 * mcp_session_store.h - the data of MCP sessions that must outlive the gateway: the key that
 * proves their ids, and the ids that clients ended. The store keeps both.
 *
 * Called by main.c (fetching) and the MCP server (a session was ended).
 */
#pragma once

struct gateway;

/* Asks the store until it answers. Calls `done` once, after the first answer of any kind. */
void mcp_sessions_fetch(struct gateway *g, void (*done)(struct gateway *g));

/* The service's session_ended; `arg` is the gateway. */
void mcp_sessions_tell_ended(void *arg, const char *session_id);
