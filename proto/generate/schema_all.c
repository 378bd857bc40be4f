/* schema_all.c - JSON Schema of everything that has a name (reference.h). */
#include "proto/codec/messages.h"
#include "proto/generate/reference.h"
#include "proto/tables/actions.h"
#include "proto/tables/mcp_tools.h"
#include "proto/tables/methods.h"
#include "proto/tables/ws.h"
#include <errno.h>

/* Between the members of an object being written. */
struct members {
	struct buf *out;
	bool some;
};

static struct members open_object(struct buf *out)
{
	buf_add_char(out, '{');
	return (struct members){.out = out};
}

static void add_member(struct members *m, const char *name)
{
	if (m->some)
		buf_add_char(m->out, ',');
	m->some = true;
	buf_add_json_string(m->out, str_of(name));
	buf_add_char(m->out, ':');
}

/* The object that the member is. */
static struct members open_member(struct members *m, const char *name)
{
	add_member(m, name);
	return open_object(m->out);
}

static void add_schema(struct members *m, const char *name, const struct type *type,
	enum decode_mode mode)
{
	add_member(m, name);
	proto_schema(type, mode, m->out);
}

static void add_messages(
	struct members *all, const char *name, const struct ws_info *infos, size_t count)
{
	struct members m = open_member(all, name);

	for (size_t i = 0; i < count; i++)
		add_schema(&m, infos[i].name, infos[i].payload(), DECODE_LENIENT);
	buf_add_char(all->out, '}');
}

/* {input, output} or {request, reply}; what is NULL is left out. */
static void add_pair(struct members *all, const char *name, const char *in_name,
	const struct type *(*in)(void), enum decode_mode mode, const char *out_name,
	const struct type *(*out)(void))
{
	struct members m = open_member(all, name);

	if (in)
		add_schema(&m, in_name, in(), mode);
	if (out)
		add_schema(&m, out_name, out(), DECODE_LENIENT);
	buf_add_char(all->out, '}');
}

static void add_tools(struct members *all)
{
	struct members m = open_member(all, "tools");

	for (int i = 0; i < MCP_TOOL_COUNT; i++)
		add_pair(&m, mcp_tool_infos[i].name, "input", mcp_tool_infos[i].input,
			DECODE_STRICT, "output", mcp_tool_infos[i].output);
	buf_add_char(all->out, '}');
}

static void add_methods(struct members *all)
{
	struct members m = open_member(all, "methods");

	for (int i = 0; i < METHOD_COUNT; i++)
		add_pair(&m, method_infos[i].name, "request", method_infos[i].request,
			DECODE_LENIENT, "reply", method_infos[i].reply);
	buf_add_char(all->out, '}');
}

static void add_actions(struct members *all)
{
	struct members m = open_member(all, "actions");

	for (int i = 0; i < ACTION_COUNT; i++)
		add_schema(
			&m, action_infos[i].name, action_infos[i].data(), DECODE_LENIENT);
	buf_add_char(all->out, '}');
}

static void add_types(struct members *all)
{
	struct members m = open_member(all, "types");

	for (size_t i = 0; i < message_type_count; i++)
		add_schema(
			&m, message_types[i]()->name, message_types[i](), DECODE_LENIENT);
	buf_add_char(all->out, '}');
}

void schema_write_all(struct buf *out)
{
	struct members all = open_object(out);

	add_messages(&all, "client", ws_client_infos, ws_client_count);
	add_messages(&all, "server", ws_server_infos, ws_server_count);
	add_tools(&all);
	add_methods(&all);
	add_actions(&all);
	add_types(&all);
	buf_add_char(out, '}');
}

static const struct type *find(struct str name, enum decode_mode *mode)
{
	int i;

	*mode = DECODE_LENIENT;
	if ((i = ws_client_by_name(name)) >= 0)
		return ws_client_infos[i].payload();
	if ((i = ws_server_by_name(name)) >= 0)
		return ws_server_infos[i].payload();
	if ((i = method_by_name(name)) >= 0 && method_infos[i].request)
		return method_infos[i].request();
	if ((i = action_by_name(name)) >= 0)
		return action_infos[i].data();
	for (size_t t = 0; t < message_type_count; t++)
		if (str_is(name, message_types[t]()->name))
			return message_types[t]();
	if ((i = mcp_tool_by_name(name)) >= 0) {
		*mode = DECODE_STRICT;
		return mcp_tool_infos[i].input();
	}
	return NULL;
}

int schema_write_named(struct str name, struct buf *out)
{
	enum decode_mode mode;
	const struct type *type = find(name, &mode);

	if (!type)
		return -ENOENT;
	proto_schema(type, mode, out);
	return 0;
}
