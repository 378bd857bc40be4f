/*
 * fixture.h - the server that the official MCP conformance suite is run against: the
 * gateway's HTTP and MCP code with the tools, resources and prompts that the suite asks
 * for, and nothing of Paige.
 *
 * For tests alone. What each fixture must do is written in the suite.
 */
#pragma once

#include "workers/gateway/mcp/mcp.h"

struct fixture {
	struct event_base *base;
	struct mcp_server *mcp;
};

#define PNG                                                                              \
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0g" \
	"AAAABJRU5ErkJggg="                                                              \
	"="
#define WAV "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

struct fixture_tool {
	const char *name;
	const char *description;
	const char *schema; /* NULL: no arguments */
	bool modern_only;
	void (*call)(struct mcp_call *call, struct fixture *f, yyjson_val *arguments);
};

extern const struct fixture_tool fixture_plain_tools[];
extern const size_t fixture_plain_tool_count;
/* Those that answer with resultType input_required first. */
extern const struct fixture_tool fixture_input_tools[];
extern const size_t fixture_input_tool_count;

/* A result of one text block. */
void fixture_text(struct mcp_call *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* resources/..., prompts/..., completion/complete, logging/setLevel */
void fixture_resources_list(struct mcp_call *call, void *arg);
void fixture_templates_list(struct mcp_call *call, void *arg);
void fixture_resources_read(struct mcp_call *call, void *arg);
void fixture_prompts_list(struct mcp_call *call, void *arg);
void fixture_prompts_get(struct mcp_call *call, void *arg);
void fixture_complete(struct mcp_call *call, void *arg);
void fixture_empty(struct mcp_call *call, void *arg);
/* prompts/get of test_input_required_result_prompt */
void fixture_input_prompt(struct mcp_call *call);
