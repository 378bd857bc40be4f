/*
 * paige_tools.h - the file by which an agent finds Paige's own MCP server (AGENT_MCP).
 *
 * The arguments of the program have only the path of the file. The token is in the file,
 * which only this user can read.
 */
#pragma once

#include "common/base/buf.h"
#include <limits.h>

/* In the order of the setting's choices. */
enum agent_mcp { AGENT_MCP_PAIGE, AGENT_MCP_NONE };

/* Writes the configuration of the daemon with this DATA_DIR into a file of the worker's
 * own in `runtime_dir`, anew each time since the token may be another one. 0 with the
 * path of the file, or -errno. */
int paige_tools_write(const char *data_dir, const char *runtime_dir, char path[PATH_MAX])
	__attribute__((warn_unused_result));
