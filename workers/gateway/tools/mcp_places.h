/*
 * mcp_places.h - the places in files that stand in the arguments of a tool: the file
 * worker looks at them before anything is shown, and says how their paths are spelled.
 */
#ifndef PAIGE_GATEWAY_TOOLS_MCP_PLACES_H
#define PAIGE_GATEWAY_TOOLS_MCP_PLACES_H

#include "proto/codec/messages.h"
#include "proto/tables/mcp_tools.h"

/* In the arena; points into the input. */
struct mcp_places {
	struct fs_places query;
	struct str **paths; /* where the paths of the query stand in the input */
};

/* Empty when the tool was given none. */
void mcp_places_of(
	enum mcp_tool tool, void *input, struct arena *arena, struct mcp_places *out);
/* Puts the paths that were found into the input. */
void mcp_places_set(const struct mcp_places *places, const struct fs_places_found *found);

#endif
