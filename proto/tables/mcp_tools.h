/* mcp_tools.h - the tools that Claude Code sees, mcp_tools.def, as an enumeration with a
 * table. */
#pragma once

#include "proto/codec/codec.h"
#include "proto/tables/methods.h"

enum mcp_tool {
#define TOOL(symbol, ...) MCP_TOOL_##symbol,
#include "proto/catalogue/mcp_tools.def"
#undef TOOL
	MCP_TOOL_COUNT
};

enum mcp_tool_flags {
	TOOL_READ = 1 << 0,	   /* changes nothing, not even what the editor shows */
	TOOL_ALWAYS = 1 << 1,	   /* worth a place in every prompt */
	TOOL_SHOWS = 1 << 2,	   /* shows something in the windows of the editor */
	TOOL_IDEMPOTENT = 1 << 3,  /* the same again changes nothing more */
	TOOL_DESTRUCTIVE = 1 << 4, /* takes something away, or ends it */
	TOOL_OPEN_WORLD = 1 << 5,  /* reaches beyond this machine */
	TOOL_PAID = 1 << 6,	   /* asks Claude */
};

struct mcp_tool_info {
	const char *name;
	const char *title;
	enum method method; /* answers it; the body of its reply is the result */
	const struct type *(*input)(void);  /* arguments, decoded strictly */
	const struct type *(*output)(void); /* NULL: no output schema is promised */
	unsigned flags;			    /* enum mcp_tool_flags, or-ed */
	const char *description;	    /* for the model */
	const char *more;		    /* how to ask for less, or "" */
};

extern const struct mcp_tool_info mcp_tool_infos[MCP_TOOL_COUNT];

/* The tool of a name, or -1. */
int mcp_tool_by_name(struct str name);
/* The tool that a method answers, or NULL. */
const struct mcp_tool_info *mcp_tool_of(enum method method);

struct tool_request;

/* The arguments of a call of the tool that `method` answers, decoded into the arena.
 * NULL with *error when they are wrong. */
const void *mcp_tool_input(enum method method, const struct tool_request *request,
	struct arena *arena, struct proto_error *error);
