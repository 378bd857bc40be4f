/* mcp_tool_log.c - see mcp_tool_log.h. */
#include "workers/gateway/tools/mcp_tool_log.h"
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "proto/tables/actions.h"
#include "workers/gateway/http/gateway.h"
#include <stdlib.h>

static struct {
	struct buf rows; /* JSON objects, separated by commas */
	struct event *flush;
	struct mono flushed_at;
	bool stopping;
} pending_log;

/* Rows of more than so many bytes together do not rest. */
#define REST_BYTES (256u * 1024)

static void on_written(void *arg, const struct bus_reply *reply)
{
	(void)arg;
	if (reply->status != BUS_OK)
		log_warn("tool calls are missing in the action log", "why", "%.*s",
			STR_ARG(reply->message), NULL);
}

static void on_flush(EVENT_UNUSED, void *arg)
{
	struct gateway *g = arg;
	AUTO_BUF body = {0};
	char key[UUID_SIZE];

	pending_log.flushed_at = clock_mono();
	buf_add_str(&body, STR_LIT("{\"actions\":["));
	buf_add_str(&body, buf_str(&pending_log.rows));
	buf_add_str(&body, STR_LIT("]}"));
	buf_clear(&pending_log.rows);
	uuid7(clock_wall(), key);
	bus_call(g->bus, METHOD_ACTION_APPEND, str_of(key), buf_str(&body), 0, on_written,
		NULL);
}

/* How long what is pending rests; <= 0: no longer. */
static int64_t rest_ms(void)
{
	if (pending_log.stopping || pending_log.rows.len > REST_BYTES)
		return 0;
	return ACTION_REST_MS - mono_diff_ms(clock_mono(), pending_log.flushed_at);
}

static void want_flush(struct gateway *g)
{
	int64_t ms = rest_ms();

	if (!pending_log.flush)
		pending_log.flush = alloc_checked(evtimer_new(g->base, on_flush, g));
	if (ms <= 0) {
		event_del(pending_log.flush);
		event_active(pending_log.flush, EV_TIMEOUT, 0);
	} else if (!event_pending(pending_log.flush, EV_TIMEOUT, NULL)) {
		event_add_ms(pending_log.flush, ms);
	}
}

void mcp_tool_log_stop(struct gateway *g)
{
	pending_log.stopping = true;
	if (pending_log.rows.len > 0)
		want_flush(g);
}

void mcp_tool_log(struct gateway *g, const char *id, struct wall at, const char *tool,
	struct str session_id)
{
	struct buf *rows = &pending_log.rows;
	const struct mcp_tool_call_data data = {
		.tool_name = str_of(tool), .session_id = session_id};
	AUTO_ARENA arena = {0};
	struct action_row row;

	action_row_make(&arena, ACTION_MCP_TOOL_CALL, str_of(id), at, &data, &row);
	if (rows->len > 0)
		buf_add_char(rows, ',');
	proto_encode(action_row_type(), &row, rows);
	want_flush(g);
}
