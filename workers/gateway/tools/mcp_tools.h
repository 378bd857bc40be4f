/*
 * mcp_tools.h - the MCP service of Paige: tools/list and tools/call over
 * proto/catalogue/mcp_tools.def.
 *
 * Arguments are checked against the tool's type here, the tool's method is called on the
 * bus, and the body of the reply is the result. Every call is told to the store as
 * mcp_tool_call (FR-079).
 *
 * Called by main.c.
 */
#ifndef PAIGE_GATEWAY_TOOLS_MCP_TOOLS_H
#define PAIGE_GATEWAY_TOOLS_MCP_TOOLS_H

struct gateway;
struct mcp_service;

/* The service; made once, lives for ever. */
const struct mcp_service *mcp_tools_service(struct gateway *g);

#endif
