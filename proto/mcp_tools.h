/* mcp_tools.h - the tools that Claude Code sees, mcp_tools.def, as an enumeration with a
 * table. */
#ifndef PAIGE_PROTO_MCP_TOOLS_H
#define PAIGE_PROTO_MCP_TOOLS_H

#include "proto/codec.h"
#include "proto/methods.h"

enum mcp_tool {
#define TOOL(symbol, ...) MCP_TOOL_##symbol,
#include "proto/mcp_tools.def"
#undef TOOL
	MCP_TOOL_COUNT
};

struct mcp_tool_info {
	const char *name;
	const char *title;
	enum method method; /* answers it; the body of its reply is the result */
	const struct type *(*input)(void);  /* arguments, decoded strictly */
	const struct type *(*output)(void); /* NULL: no output schema is promised */
	bool read_only;		 /* changes nothing, not even what the editor shows */
	bool always_loaded;	 /* worth a place in every prompt */
	const char *description; /* for the model */
};

extern const struct mcp_tool_info mcp_tool_infos[MCP_TOOL_COUNT];

/* The tool of a name, or -1. */
int mcp_tool_by_name(struct str name);

#endif
