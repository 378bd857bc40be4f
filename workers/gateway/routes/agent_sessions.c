/* agent_sessions.c - see agent_sessions.h. */
#include "workers/gateway/routes/agent_sessions.h"
#include "common/base/alloc.h"
#include "common/bus/bus.h"
#include "proto/tables/ws.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/routes/ws_message.h"
#include "workers/gateway/ws/ws_server.h"
#include <stdlib.h>

struct asking {
	struct ws_client *client;
	struct ws_message_id id;
};

static void on_reply(void *arg, const struct bus_reply *reply)
{
	struct asking *a = arg;
	const struct str id = ws_message_id_of(&a->id);
	struct arena arena = {0};

	if (reply->status == BUS_OK)
		ws_answer_text(a->client, STR_LIT("agents:state"), reply->body, id);
	else
		ws_message_error(a->client, arena_cstr(&arena, reply->code),
			reply->message, (struct str){NULL, 0}, id);
	arena_free(&arena);
	ws_client_unref(a->client);
	free(a);
}

void agent_sessions_on_request(const struct ws_message *message)
{
	struct gateway *g = message->client->server->gateway;
	struct asking *a;

	if (!g->agents) {
		ws_message_error(message->client, "NOT_FOUND",
			STR_LIT("No agents are run here: AGENT_COMMAND is not set"),
			(struct str){NULL, 0}, message->id);
		return;
	}
	a = xcalloc(1, sizeof(*a));
	a->client = message->client;
	ws_client_ref(a->client);
	ws_message_id_keep(&a->id, message);
	bus_call(g->bus, METHOD_AGENT_SESSIONS, (struct str){NULL, 0}, STR_LIT("{}"), 0,
		on_reply, a);
}

/* ---- to the windows that follow ---- */

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
