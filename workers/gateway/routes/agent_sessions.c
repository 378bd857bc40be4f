/* agent_sessions.c - see agent_sessions.h. */
#include "workers/gateway/routes/agent_sessions.h"
#include "common/bus/bus.h"
#include "proto/tables/ws.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/ws/ws_server.h"

static void tell(struct gateway *g, struct str body)
{
	struct payload *payload;

	if (!ws_is_followed(g->ws, WS_TO_AGENTS))
		return;
	payload = payload_new(body);
	ws_tell(g->ws, ws_server_info("agents:state"), payload);
	payload_unref(payload);
}

static void on_event(void *arg, const struct bus_event *event)
{
	tell(arg, event->body);
}

/* What was missed may be told again, or never. */
static void on_read_again(void *arg, const struct bus_reply *reply)
{
	if (reply->status == BUS_OK)
		tell(arg, reply->body);
}

static void on_gap(void *arg, enum worker_id from, uint64_t missed)
{
	struct gateway *g = arg;

	(void)from;
	(void)missed;
	bus_call(g->bus, METHOD_AGENT_SESSIONS, (struct str){NULL, 0}, STR_LIT("{}"), 0,
		on_read_again, g);
}

void agent_sessions_start(struct gateway *g)
{
	bus_subscribe(g->bus, WORKER_AGENT, "agents/", on_event, g);
	bus_on_gap(g->bus, WORKER_AGENT, on_gap, g);
}
