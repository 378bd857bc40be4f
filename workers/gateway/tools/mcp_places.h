/*
 * mcp_places.h - the places in files that the arguments of a tool name. Before anything is
 * shown, the file worker checks them and returns their paths as Paige spells them.
 */
#pragma once

#include "proto/codec/messages.h"
#include "proto/tables/mcp_tools.h"

/* In the arena; points into the input. */
struct mcp_places {
	struct fs_places query;
	struct str **paths; /* where in the input the paths of the query are */
};

/* Finds the places; none if the arguments have none. */
void mcp_places_of(
	enum mcp_tool tool, void *input, struct arena *arena, struct mcp_places *out);
/* Puts the paths as Paige spells them into the input. */
void mcp_places_set(const struct mcp_places *places, const struct fs_places_found *found);
