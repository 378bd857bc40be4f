/*
 * message.h - reads JSON-RPC messages and the versions of MCP.
 *
 * Called by entry.c. Pure.
 */
#pragma once

#include "common/base/arena.h"
#include <yyjson.h>

/* The revisions that have sessions, newest first. */
enum mcp_version {
	MCP_2025_11_25,
	MCP_2025_06_18,
	MCP_2025_03_26,
	MCP_VERSION_COUNT,
};
#define MCP_MODERN_VERSION "2026-07-28"

extern const char *const mcp_version_names[MCP_VERSION_COUNT];

/* The revision of a name, or -1. */
int mcp_version_by_name(struct str name);
/* Every revision, ["2026-07-28", ...], as JSON. */
const char *mcp_versions_json(void);

enum mcp_message_kind { MCP_REQUEST, MCP_NOTIFICATION, MCP_RESPONSE };

struct mcp_message {
	enum mcp_message_kind kind;
	struct str id; /* JSON: a string or an integer; absent in a notification */
	struct str method;
	yyjson_val *params; /* an object, or NULL */
	yyjson_val *meta;   /* params._meta, an object, or NULL */
};

/* Reads `root`, the parsed `text`. 0, or -EINVAL when it is not a JSON-RPC message of MCP.
 * *out borrows from both. */
int mcp_message_read(yyjson_val *root, struct str text, struct arena *arena,
	struct mcp_message *out) __attribute__((warn_unused_result));

/* A string member, or absent. */
struct str mcp_text(yyjson_val *object, const char *name);

/* Whether _meta claims the modern era. */
bool mcp_message_claims_modern(const struct mcp_message *m);

/* Whether the request follows the rules of the modern era: _meta says so, or its
 * MCP-Protocol-Version header (may be absent) names 2026-07-28 or a later revision. */
bool mcp_message_is_modern(const struct mcp_message *m, struct str version_header);

/* The value of an Mcp-... header, with `=?base64?...?=` decoded. Absent if malformed. */
struct str mcp_header_value(struct str header, struct arena *arena);
