/* server.c - an MCP server's making, ticking and stopping (see mcp.h and server.h). */
#include "workers/gateway/mcp/server.h"
#include "common/base/alloc.h"
#include "common/loop/timer.h"
#include "workers/gateway/mcp/listen.h"
#include "workers/gateway/mcp/stream.h"
#include <stdlib.h>

/* The next one is taken before: looking after one may free it. */
#define FOREACH_NEXT(item, next, list, field)                                            \
	for (item = LIST_FIRST(list); item && (next = LIST_NEXT(item, field), true);     \
		item = next)

static void on_tick(EVENT_UNUSED, void *arg)
{
	struct mcp_server *server = arg;
	struct mono now = clock_mono();
	struct mcp_call *call, *next_call;
	struct mcp_stream *stream, *next_stream;

	FOREACH_NEXT(call, next_call, &server->calls, link)
	mcp_call_tick(call, now);
	FOREACH_NEXT(stream, next_stream, &server->streams, of_server)
	mcp_stream_tick(stream, now);
	if (LIST_EMPTY(&server->calls) && LIST_EMPTY(&server->streams)) {
		event_del(server->tick);
		server->ticking = false;
	}
}

void mcp_server_wake(struct mcp_server *server)
{
	if (server->ticking)
		return;
	server->ticking = true;
	event_add_ms(server->tick, MCP_TICK_MS);
}

struct mcp_server *mcp_server_new(struct event_base *base,
	const struct mcp_service *service, struct gateway_metrics *metrics)
{
	struct mcp_server *server = xcalloc(1, sizeof(*server));

	server->base = base;
	server->service = service;
	server->metrics = metrics;
	server->sessions = mcp_sessions_new(&metrics->mcp_sessions);
	LIST_INIT(&server->calls);
	LIST_INIT(&server->streams);
	LIST_INIT(&server->asks);
	server->tick = alloc_checked(event_new(base, -1, EV_PERSIST, on_tick, server));
	return server;
}

void mcp_server_set_key(struct mcp_server *server, const unsigned char key[MCP_KEY_BYTES])
{
	mcp_sessions_set_key(server->sessions, key);
}

void mcp_server_note_ended(struct mcp_server *server, struct str session_id)
{
	mcp_sessions_note_ended(server->sessions, session_id);
}

static const char *list_change_method(enum mcp_list list)
{
	switch (list) {
	case MCP_LIST_TOOLS:
		return "notifications/tools/list_changed";
	case MCP_LIST_PROMPTS:
		return "notifications/prompts/list_changed";
	case MCP_LIST_RESOURCES:
		return "notifications/resources/list_changed";
	}
	return "";
}

void mcp_server_list_changed(struct mcp_server *server, enum mcp_list list)
{
	const char *method = list_change_method(list);
	struct mcp_stream *stream, *next;
	AUTO_BUF out = {0};

	buf_printf(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}", method);
	FOREACH_NEXT(stream, next, &server->streams, of_server)
	if (stream->session && stream->number == 0)
		mcp_stream_send(stream, buf_str(&out));
	mcp_listen_tell(server, list, method);
}

void mcp_server_stop(struct mcp_server *server)
{
	struct mcp_stream *stream, *next;

	server->stopping = true;
	mcp_listen_end_all(server);
	FOREACH_NEXT(stream, next, &server->streams, of_server)
	if (!stream->on_cut)
		mcp_stream_drop(stream);
}
