/* mcp_sessions.c - see mcp_sessions.h. */
#include "workers/store/mcp_sessions.h"
#include "common/base/buf.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "common/base/private_file.h"
#include "common/worker/worker.h"
#include "proto/codec/messages.h"
#include "workers/store/service/store.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_BYTES 32
#define KEY_CHARS (2 * KEY_BYTES)
#define ID_CHARS (UUID_SIZE - 1)
/* Of the file: far more than the lines that are kept. */
#define MAX_BYTES (4u * 1024 * 1024)

static int path_of(const struct store *store, char out[PATH_MAX])
{
	int n = snprintf(out, PATH_MAX, "%s/%s", store->worker->settings->data_dir,
		MCP_SESSIONS_FILE);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static bool is_key(struct str line)
{
	for (size_t i = 0; i < line.len; i++)
		if (!char_is_in(line.ptr[i], "0123456789abcdef"))
			return false;
	return line.len == KEY_CHARS;
}

/* The ended sessions of the file, the newest ones that fit. */
static void read_ended(struct str text, struct call *call, struct strs *out)
{
	size_t max = text.len / (ID_CHARS + 1) + 1;
	struct str line;

	out->items = arena_array(call->arena, max, sizeof(out->items[0]));
	while (out->count < max && str_take_line(&text, &line))
		if (uuid_valid(line))
			out->items[out->count++] = line;
	if (out->count > MCP_SESSIONS_ENDED_MAX) {
		out->items += out->count - MCP_SESSIONS_ENDED_MAX;
		out->count = MCP_SESSIONS_ENDED_MAX;
	}
}

static int make_key(const char *path, struct call *call, struct mcp_sessions_kept *kept)
{
	char *line = arena_alloc(call->arena, KEY_CHARS + 2);

	random_hex(line, KEY_BYTES);
	kept->key = (struct str){line, KEY_CHARS};
	line[KEY_CHARS] = '\n';
	return private_file_replace(path, (struct str){line, KEY_CHARS + 1});
}

/* Forgets the oldest lines of a file that has grown. */
static void shorten(const char *path, const struct mcp_sessions_kept *kept)
{
	AUTO_BUF text = {0};
	int result;

	buf_printf(&text, "%.*s\n", STR_ARG(kept->key));
	for (size_t i = 0; i < kept->ended.count; i++)
		buf_printf(&text, "%.*s\n", STR_ARG(kept->ended.items[i]));
	result = private_file_replace(path, buf_str(&text));
	if (result < 0)
		log_warn("the list of ended MCP sessions was not shortened", "error",
			"%s", file_error_text(result), NULL);
}

int mcp_sessions(struct store *store, struct call *call)
{
	struct mcp_sessions_kept kept = {0};
	AUTO_BUF file = {0};
	struct str text;
	char path[PATH_MAX];
	int result = path_of(store, path);

	if (result == 0)
		result = file_read_own(AT_FDCWD, path, MAX_BYTES, &file);
	if (result == -EFBIG) /* of its lines the newest that were read are kept */
		result = 0;
	text = buf_str(&file);
	str_take_line(&text, &kept.key);
	if (result == -ENOENT || (result == 0 && !is_key(kept.key)))
		result = make_key(path, call, &kept);
	else if (result == 0)
		read_ended(text, call, &kept.ended);
	if (result == 0)
		call_answer(call, &kept);
	if (result == 0 && kept.ended.count == MCP_SESSIONS_ENDED_MAX)
		shorten(path, &kept);
	if (result < 0)
		return call_refuse(call, ERROR_INTERNAL_ERROR,
			"The key of the MCP sessions cannot be kept in %s: %s", path,
			file_error_text(result));
	return 0;
}

int mcp_session_end(struct store *store, struct call *call)
{
	const struct mcp_session_ended *ended = call->message;
	char path[PATH_MAX], line[UUID_SIZE + 1];
	AUTO_FD fd = -1;
	int n = snprintf(line, sizeof(line), "%.*s\n", STR_ARG(ended->session_id));

	if (path_of(store, path) < 0)
		return call_refuse(call, ERROR_INTERNAL_ERROR, "DATA_DIR is too long");
	fd = file_open_regular(AT_FDCWD, path, O_WRONLY | O_APPEND);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		log_warn("an ended MCP session will not stay ended after a restart",
			"path", "%s", path, "error", "%s",
			file_error_text(fd < 0 ? fd : -errno), NULL);
	call_answer_text(call, STR_LIT("{}"));
	return 0;
}
