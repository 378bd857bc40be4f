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

/* Nothing that this server serves changes while it runs, so nothing of what is asked for
 * is honoured. */
static void acknowledge(struct mcp_call *call)
{
	struct buf out = {0};

	buf_add_str(&out,
		STR_LIT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
			"acknowledged\",\"params\":{\"notifications\":{},"));
	put_meta(call, &out);
	buf_add_str(&out, STR_LIT("}}"));
	mcp_stream_send(call->stream, buf_str(&out));
	buf_free(&out);
}

static void end(struct mcp_call *call)
{
	struct buf out = {0};

	buf_add_char(&out, '{');
	put_meta(call, &out);
	buf_add_char(&out, '}');
	mcp_call_result(call, buf_str(&out));
	buf_free(&out);
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
