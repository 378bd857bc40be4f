/* mcp_tools.c - the table behind mcp_tools.h. */
#include "proto/mcp_tools.h"
#include "proto/messages.h"

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
#include "proto/mcp_tools.def"
#undef TOOL
};

int mcp_tool_by_name(struct str name)
{
	for (int i = 0; i < MCP_TOOL_COUNT; i++)
		if (str_is(name, mcp_tool_infos[i].name))
			return i;
	return -1;
}
