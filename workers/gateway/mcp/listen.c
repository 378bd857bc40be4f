/* listen.c - see listen.h. */
#include "workers/gateway/mcp/listen.h"
#include "workers/gateway/mcp/server.h"
#include "workers/gateway/mcp/stream.h"

/* What names the subscription in everything that it carries. */
static void put_meta(const struct mcp_call *call, struct buf *out)
{
	buf_printf(out, "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%.*s}",
		STR_ARG(call->message.id));
}

struct wish {
	const char *name;
	enum mcp_list list;
};

static const struct wish wishes[] = {
	{"toolsListChanged", MCP_LIST_TOOLS},
	{"promptsListChanged", MCP_LIST_PROMPTS},
	{"resourcesListChanged", MCP_LIST_RESOURCES},
};

/* Of what is asked for, what can happen here is honoured. */
static void subscribe(struct mcp_call *call)
{
	yyjson_val *asked = yyjson_obj_get(call->message.params, "notifications");
	unsigned possible = call->server->service->list_changes;

	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++)
		if ((possible & wishes[i].list) &&
			yyjson_is_true(yyjson_obj_get(asked, wishes[i].name)))
			call->subscribed |= wishes[i].list;
}

static void acknowledge(struct mcp_call *call)
{
	AUTO_BUF out = {0};
	const char *comma = "";

	buf_add_str(&out, STR_LIT("{\"notifications\":{"));
	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		if (!(call->subscribed & wishes[i].list))
			continue;
		buf_printf(&out, "%s\"%s\":true", comma, wishes[i].name);
		comma = ",";
	}
	buf_add_str(&out, STR_LIT("},"));
	put_meta(call, &out);
	buf_add_char(&out, '}');
	mcp_call_notify(call, "notifications/subscriptions/acknowledged", buf_str(&out));
}

void mcp_listen_tell(struct mcp_server *server, enum mcp_list list, const char *method)
{
	struct mcp_call *call, *next;

	for (call = LIST_FIRST(&server->calls); call; call = next) {
		AUTO_BUF params = {0};

		next = LIST_NEXT(call, link);
		if (!(call->subscribed & list))
			continue;
		buf_add_char(&params, '{');
		put_meta(call, &params);
		buf_add_char(&params, '}');
		mcp_call_notify(call, method, buf_str(&params));
	}
}

static void end(struct mcp_call *call)
{
	AUTO_BUF out = {0};

	buf_add_char(&out, '{');
	put_meta(call, &out);
	buf_add_char(&out, '}');
	mcp_call_result(call, buf_str(&out));
}

static void on_cancelled(void *arg)
{
	mcp_call_result(arg, STR_LIT("{}"));
}

static void handle(struct mcp_call *call, void *arg)
{
	(void)arg;
	mcp_call_takes_long(call);
	if (!call->stream) {
		mcp_call_fail(call, MCP_INVALID_REQUEST,
			"subscriptions/listen answers with a stream: accept "
			"text/event-stream");
		return;
	}
	mcp_call_on_cancel(call, on_cancelled, call);
	subscribe(call);
	acknowledge(call);
}

const struct mcp_method mcp_listen_method = {
	.name = "subscriptions/listen", .cache_ttl_ms = -1, .handle = handle};

void mcp_listen_end_all(struct mcp_server *server)
{
	struct mcp_call *call, *next;

	for (call = LIST_FIRST(&server->calls); call; call = next) {
		next = LIST_NEXT(call, link);
		if (call->method == &mcp_listen_method)
			end(call);
	}
}
