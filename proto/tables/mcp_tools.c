/* mcp_tools.c - the table behind mcp_tools.h. */
#include "proto/tables/mcp_tools.h"
#include "proto/codec/messages.h"

#define NONE_type NULL

const struct mcp_tool_info mcp_tool_infos[MCP_TOOL_COUNT] = {
#define TOOL(                                                                            \
	symbol, name_, title_, method_, input_, output_, flags_, description_, more_)    \
	[MCP_TOOL_##symbol] = {.name = name_,                                            \
		.title = title_,                                                         \
		.method = METHOD_##method_,                                              \
		.input = input_##_type,                                                  \
		.output = output_##_type,                                                \
		.flags = flags_,                                                         \
		.description = description_,                                             \
		.more = more_},
#include "proto/catalogue/mcp_tools.def"
#undef TOOL
};

int mcp_tool_by_name(struct str name)
{
	for (int i = 0; i < MCP_TOOL_COUNT; i++)
		if (str_is(name, mcp_tool_infos[i].name))
			return i;
	return -1;
}

const struct mcp_tool_info *mcp_tool_of(enum method method)
{
	for (int i = 0; i < MCP_TOOL_COUNT; i++)
		if (mcp_tool_infos[i].method == method)
			return &mcp_tool_infos[i];
	return NULL;
}

const void *mcp_tool_input(enum method method, const struct tool_request *request,
	struct arena *arena, struct proto_error *error)
{
	const struct type *type = mcp_tool_of(method)->input();
	void *input = arena_alloc(arena, type->size);

	return proto_decode(type, request->input.val, "arguments", DECODE_LENIENT, arena,
		       input, error) < 0
		       ? NULL
		       : input;
}
