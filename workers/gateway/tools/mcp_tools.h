/*
 * mcp_tools.h - the MCP service of Paige: tools/list and tools/call over
 * proto/catalogue/mcp_tools.def.
 *
 * A call's arguments are checked against the tool's type, the tool's method is called on the
 * bus, and the body of the reply is the result. Every call gets a row mcp_tool_call in the
 * action log (FR-079).
 *
 * Called by main.c.
 */
#pragma once

struct gateway;
struct mcp_service;

/* The service; made once, never freed. */
const struct mcp_service *mcp_tools_service(struct gateway *g);
