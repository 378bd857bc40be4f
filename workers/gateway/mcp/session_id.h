/*
 * session_id.h - session ids that carry their own proof, so that they outlive the process.
 *
 * A UUID (version 8, RFC 9562) of 56 random bits, the negotiated revision and 62 bits of
 * an HMAC-SHA256 over them with a key that the store keeps. With the key, an id can be
 * checked without a table. An id is no credential: the access rules decide who may connect.
 *
 * Called by session.c. Pure: the caller passes the random bits.
 */
#pragma once

#include "workers/gateway/mcp/mcp.h"
#include "workers/gateway/mcp/message.h"
#include <stdint.h>

struct mcp_session_id {
	uint8_t bytes[16];
};

struct mcp_session_id mcp_session_id_make(const unsigned char key[MCP_KEY_BYTES],
	const uint8_t random[7], enum mcp_version version);
void mcp_session_id_print(struct mcp_session_id id, char out[MCP_SESSION_ID_SIZE]);

/* Reads an id without checking it. 0, or -ENOENT when the text is no UUID. */
int mcp_session_id_read(struct str text, struct mcp_session_id *id)
	__attribute__((warn_unused_result));

/* Checks an id. 0 and its revision, or -ENOENT when it was not made with the key. */
int mcp_session_id_check(const unsigned char key[MCP_KEY_BYTES], struct mcp_session_id id,
	enum mcp_version *version) __attribute__((warn_unused_result));
