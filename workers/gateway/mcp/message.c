/* message.c - see message.h. */
#include "workers/gateway/mcp/message.h"
#include "common/base/alloc.h"
#include "workers/gateway/http/json_slice.h"
#include <errno.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdlib.h>

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define VERSION_CHARS 10 /* "2026-07-28" */

const char *const mcp_version_names[MCP_VERSION_COUNT] = {
	[MCP_2025_11_25] = "2025-11-25",
	[MCP_2025_06_18] = "2025-06-18",
	[MCP_2025_03_26] = "2025-03-26",
};

int mcp_version_by_name(struct str name)
{
	for (int i = 0; i < MCP_VERSION_COUNT; i++)
		if (str_is(name, mcp_version_names[i]))
			return i;
	return -1;
}

const char *mcp_versions_json(void)
{
	return "[\"" MCP_MODERN_VERSION
	       "\",\"2025-11-25\",\"2025-06-18\",\"2025-03-26\"]";
}

struct str mcp_text(yyjson_val *object, const char *name)
{
	yyjson_val *val = yyjson_obj_get(object, name);

	if (!yyjson_is_str(val))
		return (struct str){NULL, 0};
	return (struct str){yyjson_get_str(val), yyjson_get_len(val)};
}

/* An id is a string or an integer, never null; it is sent back as it was written. */
static int read_id(
	yyjson_val *root, struct str text, struct arena *arena, struct str *out)
{
	yyjson_val *id = yyjson_obj_get(root, "id");
	size_t len;
	AUTO_FREE char *written = NULL;

	if (!id)
		return 0;
	if (!yyjson_is_str(id) && !yyjson_is_int(id) &&
		!(yyjson_is_real(id) &&
			floor(yyjson_get_real(id)) == yyjson_get_real(id)))
		return -EINVAL;
	*out = json_slice_member(text, "id");
	if (out->ptr)
		return 0;
	written = alloc_checked(yyjson_val_write(id, YYJSON_WRITE_NOFLAG, &len));
	*out = arena_str(arena, (struct str){written, len});
	return 0;
}

int mcp_message_read(
	yyjson_val *root, struct str text, struct arena *arena, struct mcp_message *out)
{
	struct mcp_message m = {0};
	yyjson_val *params = yyjson_obj_get(root, "params"), *meta;
	bool answers = yyjson_obj_get(root, "result") || yyjson_obj_get(root, "error");

	if (!yyjson_is_obj(root) || !str_is(mcp_text(root, "jsonrpc"), "2.0"))
		return -EINVAL;
	if (read_id(root, text, arena, &m.id) < 0)
		return -EINVAL;
	m.method = mcp_text(root, "method");
	if (!m.method.ptr) {
		if (!answers || !m.id.ptr || yyjson_obj_get(root, "method"))
			return -EINVAL;
		m.kind = MCP_RESPONSE;
	} else {
		m.kind = m.id.ptr ? MCP_REQUEST : MCP_NOTIFICATION;
	}
	if (params && !yyjson_is_obj(params))
		return -EINVAL;
	m.params = params;
	meta = yyjson_obj_get(params, "_meta");
	m.meta = yyjson_is_obj(meta) ? meta : NULL;
	*out = m;
	return 0;
}

static bool is_version(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (i == 4 || i == 7 ? s.ptr[i] != '-' : s.ptr[i] < '0' || s.ptr[i] > '9')
			return false;
	return s.len == VERSION_CHARS;
}

bool mcp_message_claims_modern(const struct mcp_message *m)
{
	return yyjson_obj_get(m->meta, META_VERSION) != NULL;
}

bool mcp_message_is_modern(const struct mcp_message *m, struct str version_header)
{
	if (mcp_message_claims_modern(m))
		return true;
	return is_version(version_header) &&
	       memcmp(version_header.ptr, MCP_MODERN_VERSION, VERSION_CHARS) >= 0;
}

struct str mcp_header_value(struct str header, struct arena *arena)
{
	static const char open[] = "=?base64?", close[] = "?=";
	const size_t open_len = sizeof(open) - 1, close_len = sizeof(close) - 1;
	unsigned char *out;
	struct str text;
	int n;

	if (header.len < open_len + close_len || !str_starts(header, open) ||
		memcmp(header.ptr + header.len - close_len, close, close_len) != 0)
		return header;
	text = (struct str){header.ptr + open_len, header.len - open_len - close_len};
	if (text.len == 0)
		return STR_LIT("");
	out = arena_alloc(arena, text.len + 1);
	n = EVP_DecodeBlock(out, (const unsigned char *)text.ptr, (int)text.len);
	if (n < 0 || text.len % 4 != 0)
		return (struct str){NULL, 0};
	for (size_t i = 0; i < 2 && text.len > i && text.ptr[text.len - 1 - i] == '=';
		i++)
		n--;
	return (struct str){(const char *)out, (size_t)n};
}
