/* mcp_tool_log.c - see mcp_tool_log.h. */
#include "workers/gateway/mcp_tool_log.h"
#include "common/bus.h"
#include "common/ids.h"
#include "common/log.h"
#include "common/timer.h"
#include "proto/actions.h"
#include "workers/gateway/gateway.h"
#include <stdlib.h>

struct waiter {
	void (*on_logged)(void *arg);
	void *arg;
	struct waiter *next;
};

static struct {
	struct buf rows;	/* JSON objects, separated by commas */
	struct waiter *waiters; /* for these rows */
	struct event *flush;
	struct mono flushed_at;
	bool stopping;
} pending_log;

/* Rows of more than so many bytes together do not rest. */
#define REST_BYTES (256u * 1024)

static void on_written(void *arg, const struct bus_reply *reply)
{
	struct waiter *w = arg;

	if (reply->status != BUS_OK)
		log_warn("tool calls are missing in the action log", "why", "%.*s",
			STR_ARG(reply->message), NULL);
	while (w) {
		struct waiter *next = w->next;

		w->on_logged(w->arg);
		free(w);
		w = next;
	}
}

static void on_flush(evutil_socket_t fd, short what, void *arg)
{
	struct gateway *g = arg;
	struct buf body = {0};
	char key[UUID_SIZE];

	(void)fd;
	(void)what;
	pending_log.flushed_at = clock_mono();
	buf_add_str(&body, STR_LIT("{\"actions\":["));
	buf_add_str(&body, buf_str(&pending_log.rows));
	buf_add_str(&body,
		pending_log.waiters ? STR_LIT("]}") : STR_LIT("],\"patient\":true}"));
	buf_clear(&pending_log.rows);
	uuid7(clock_wall(), key);
	bus_call(g->bus, METHOD_ACTION_APPEND, str_of(key), buf_str(&body), 0, on_written,
		pending_log.waiters);
	pending_log.waiters = NULL;
	buf_free(&body);
}

/* How long what is pending rests; <= 0: no longer. */
static int64_t rest_ms(void)
{
	if (pending_log.waiters || pending_log.stopping ||
		pending_log.rows.len > REST_BYTES)
		return 0;
	return ACTION_REST_MS - mono_diff_ms(clock_mono(), pending_log.flushed_at);
}

static void want_flush(struct gateway *g)
{
	int64_t ms = rest_ms();

	if (!pending_log.flush)
		pending_log.flush = evtimer_new(g->base, on_flush, g);
	if (!pending_log.flush)
		abort();
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

static void wait_for_row(void (*on_logged)(void *arg), void *arg)
{
	struct waiter *w = malloc(sizeof(*w));

	if (!w)
		abort();
	*w = (struct waiter){on_logged, arg, pending_log.waiters};
	pending_log.waiters = w;
}

void mcp_tool_log(struct gateway *g, const char *tool, struct str session_id,
	void (*on_logged)(void *arg), void *arg)
{
	struct buf *rows = &pending_log.rows;
	struct wall now = clock_wall();
	char id[UUID_SIZE], at[WALL_ISO_SIZE];

	uuid7(now, id);
	wall_iso(now, at);
	if (rows->len > 0)
		buf_add_char(rows, ',');
	buf_add_str(rows, STR_LIT("{\"id\":\""));
	buf_add_str(rows, str_of(id));
	buf_add_str(
		rows, STR_LIT("\",\"type\":\"mcp_tool_call\",\"data\":{\"toolName\":\""));
	buf_add_str(rows, str_of(tool));
	buf_add_str(rows, STR_LIT("\",\"sessionId\":"));
	if (session_id.ptr)
		buf_add_json_string(rows, session_id);
	else
		buf_add_str(rows, STR_LIT("null"));
	buf_add_str(rows, STR_LIT("},\"createdAt\":\""));
	buf_add_str(rows, str_of(at));
	buf_add_str(rows, STR_LIT("\"}"));
	if (on_logged)
		wait_for_row(on_logged, arg);
	want_flush(g);
}
