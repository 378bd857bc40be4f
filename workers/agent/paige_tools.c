/* paige_tools.c - see paige_tools.h. */
#include "workers/agent/paige_tools.h"
#include "common/base/file_io.h"
#include "common/base/private_file.h"
#include "common/bus/rules/bus_folder.h"
#include "proto/codec/messages.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define FILE_NAME "mcp.json"
#define DISCOVERY_MAX_BYTES 65536

static void describe(const struct discovery_file *daemon, struct buf *out)
{
	AUTO_ARENA arena = {0};

	buf_add_str(
		out, STR_LIT("{\"mcpServers\":{\"paige\":{\"type\":\"http\",\"url\":"));
	buf_add_json_string(out, arena_printf(&arena, "%.*s/mcp", STR_ARG(daemon->url)));
	buf_add_str(out, STR_LIT(",\"headers\":{\"Authorization\":"));
	buf_add_json_string(
		out, arena_printf(&arena, "Bearer %.*s", STR_ARG(daemon->token)));
	buf_add_str(out, STR_LIT("}}}}\n"));
}

/* Appends the configuration for a daemon whose DATA_DIR/paiged.json (proto/catalogue/ctl.def) holds
 * `discovery`. 0, or -EINVAL when it is invalid. */
static int print_configuration(struct str discovery, struct buf *out)
{
	struct discovery_file daemon;
	struct proto_error error;
	AUTO_ARENA arena = {0};
	AUTO_DOC *doc = proto_parse(discovery, &error);
	int result = doc ? proto_decode(discovery_file_type(), yyjson_doc_get_root(doc),
				   "paiged.json", DECODE_LENIENT, &arena, &daemon, &error)
			 : -EINVAL;

	if (result == 0)
		describe(&daemon, out);
	return result < 0 ? -EINVAL : 0;
}

int paige_tools_write(const char *data_dir, const char *runtime_dir, char path[PATH_MAX])
{
	AUTO_BUF discovery = {0}, text = {0};
	char folder[108];
	int n = snprintf(path, PATH_MAX, "%s/paiged.json", data_dir), result;

	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	result = file_read_own(AT_FDCWD, path, DISCOVERY_MAX_BYTES, &discovery);
	if (result == 0)
		result = print_configuration(buf_str(&discovery), &text);
	bus_folder(runtime_dir, WORKER_AGENT, folder);
	snprintf(path, PATH_MAX, "%s/" FILE_NAME, folder);
	if (result == 0)
		result = private_file_replace(path, buf_str(&text));
	return result;
}
