/*
 * mcp_sessions.h - what must outlive the gateway of its MCP sessions: the key that proves
 * their ids, and the ids of the sessions that clients ended.
 *
 * Kept in DATA_DIR/mcp-sessions (mode 0600), since paige.db holds exactly its ten tables:
 * a line with the key, then one for each ended session, oldest first. Called by main.c's
 * table of methods.
 */
#pragma once

struct store;
struct call;

#define MCP_SESSIONS_FILE "mcp-sessions"
/* More ended sessions than this are forgotten, the oldest first. */
#define MCP_SESSIONS_ENDED_MAX 4096

/* METHOD_MCP_SESSIONS: makes the key at the first call for a DATA_DIR. */
int mcp_sessions(struct store *store, struct call *call);
/* METHOD_MCP_SESSION_END */
int mcp_session_end(struct store *store, struct call *call);
