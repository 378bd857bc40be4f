/*
 * session.h - the sessions of the legacy era that are in use.
 *
 * An id carries its own proof (session_id.h), so a session may be valid without being in this
 * table; it is made again when its client comes. That bounds the memory: the least recently
 * used session is dropped, and its client notices nothing. Sessions that their clients ended
 * are remembered, so that they stay ended.
 *
 * Called by entry.c, legacy.c and stream.c.
 */
#pragma once

#include "workers/gateway/mcp/session_id.h"
#include <sys/queue.h>

#define MCP_MAX_SESSIONS 1024
#define MCP_MAX_ENDED 4096

struct mcp_stream;

struct mcp_session {
	TAILQ_ENTRY(mcp_session) age; /* least recently used first */
	LIST_ENTRY(mcp_session) bucket;
	struct mcp_session_id id;
	enum mcp_version version;
	uint32_t
		last_stream; /* number of the newest stream; 0 is the one opened by GET */
	unsigned calls;	     /* running; such a session is not dropped */
	LIST_HEAD(, mcp_stream) streams;
};

struct mcp_sessions;

struct mcp_sessions *mcp_sessions_new(uint64_t *count) __attribute__((returns_nonnull));
/* The streams of all sessions must be gone. */
void mcp_sessions_free(struct mcp_sessions *s);
void mcp_sessions_set_key(struct mcp_sessions *s, const unsigned char key[MCP_KEY_BYTES]);
bool mcp_sessions_have_key(const struct mcp_sessions *s);

struct mcp_session *mcp_sessions_create(struct mcp_sessions *s, enum mcp_version version);
/* The session of an id, made again if it was dropped, and marked as used. NULL: not one of our
 * ids, or ended. */
struct mcp_session *mcp_sessions_find(struct mcp_sessions *s, struct str id);
/* Ends the session; its streams must have been ended. */
void mcp_sessions_end(struct mcp_sessions *s, struct mcp_session *session);
/* Notes that an id was ended earlier. */
void mcp_sessions_note_ended(struct mcp_sessions *s, struct str id);
/* Every session, least recently used first. */
struct mcp_session *mcp_sessions_first(struct mcp_sessions *s);
