/* agents.c - see agents.h. */
#include "workers/gateway/web/agents.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "proto/codec/messages.h"
#include "proto/tables/topics.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/http/http_reading.h"
#include "workers/gateway/ws/ws_server.h"
#include "workers/gateway/ws/ws_upgrade.h"
#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>

#define TOPIC_PREFIX "agent/"
/* The worker is told when a client has read this much. */
#define READ_BYTES (512u * 1024)
#define COME_BACK "the agent worker was started anew: connect again"

/* ---- to the worker ---- */

/* Unless it was done, the worker and the client know different things. */
static void on_reply(void *arg, const struct bus_reply *reply)
{
	struct ws_client *client = arg;

	if (reply->status == BUS_TOO_BIG)
		ws_client_close(client, WSLAY_CODE_MESSAGE_TOO_BIG, "too big");
	else if (reply->status != BUS_OK)
		ws_client_close(client, AGENTS_CODE_RESTART, COME_BACK);
	ws_client_unref(client);
}

/* A message as it goes to the worker; a long one is written beside the loop, and its client
 * says nothing more meanwhile. */
struct outgoing {
	struct job job;
	struct ws_client *client;
	struct buf text, body;
};

static void write_body(struct ws_client *client, struct str text, struct buf *body)
{
	const struct agent_message message = {
		.connection_id = str_of(client->id), .text = text};

	proto_encode(agent_message_type(), &message, body);
}

static void send_body(struct ws_client *client, struct buf *body)
{
	struct bus *bus = client->server->gateway->bus;

	ws_client_ref(client);
	bus_call_taking(bus, METHOD_AGENT_MESSAGE, (struct str){NULL, 0}, buf_str(body),
		body, 0, on_reply, client);
	buf_free(body);
	if (bus_congested(bus, WORKER_AGENT))
		ws_client_pause_reading(client, WORKER_AGENT);
}

static void run_outgoing(struct job *job)
{
	struct outgoing *o = (struct outgoing *)job;

	write_body(o->client, buf_str(&o->text), &o->body);
	buf_free(&o->text);
}

static void done_outgoing(struct job *job)
{
	struct outgoing *o = (struct outgoing *)job;

	send_body(o->client, &o->body);
	ws_client_resume_reading(o->client, WS_PAUSED_FOR_PARSING);
	ws_client_unref(o->client);
	free(o);
}

static void on_message(struct ws_client *client, struct str text)
{
	struct outgoing *o;
	struct buf body = {0};

	client->server->metrics->ws_received++;
	if (text.len <= READ_AT_ONCE_BYTES) {
		write_body(client, text, &body);
		send_body(client, &body);
		return;
	}
	o = xcalloc(1, sizeof(*o));
	o->job = (struct job){.run = run_outgoing, .done = done_outgoing};
	o->client = client;
	o->text = ws_reader_take_message(&client->reader);
	ws_client_ref(client);
	ws_client_pause_reading(client, WS_PAUSED_FOR_PARSING);
	jobs_add(client->server->gateway->parsers, &o->job);
}

static void on_open(struct ws_client *client, void *arg)
{
	const struct agent_connect connect = {
		.connection_id = str_of(client->id), .session = str_of(arg)};

	ws_client_ref(client);
	bus_call_message(client->server->gateway->bus, METHOD_AGENT_CONNECT,
		(struct str){NULL, 0}, &connect, 0, on_reply, client);
}

static void on_close(struct ws_client *client)
{
	const struct agent_disconnect gone = {.connection_id = str_of(client->id)};
	char key[UUID_SIZE];

	uuid7(clock_wall(), key);
	bus_call_message(client->server->gateway->bus, METHOD_AGENT_DISCONNECT,
		str_of(key), &gone, 0, NULL, NULL);
}

/* What was published for it and is no longer queued. */
static void on_written(struct ws_client *client)
{
	const size_t queued = evbuffer_get_length(client->out);
	const struct agent_read read = {.connection_id = str_of(client->id),
		.bytes = (int64_t)client->untold - (int64_t)queued,
		.has_bytes = true};

	if (read.bytes < (int64_t)READ_BYTES)
		return;
	client->untold = queued;
	bus_call_message(client->server->gateway->bus, METHOD_AGENT_READ,
		(struct str){NULL, 0}, &read, 0, NULL, NULL);
}

/* ---- from the worker ---- */

static struct ws_client *client_of(struct ws_server *server, struct str id)
{
	struct ws_client *client;

	TAILQ_FOREACH(client, &server->clients, link)
	if (str_is(id, client->id))
		return client;
	return NULL;
}

static void on_event(void *arg, const struct bus_event *event)
{
	const size_t n = sizeof(TOPIC_PREFIX) - 1;
	struct gateway *g = arg;
	struct ws_client *client = client_of(
		g->agents, (struct str){event->topic.ptr + n, event->topic.len - n});
	struct str rest = event->body, message;
	const char mark = rest.len > 0 ? rest.ptr[0] : '\0';

	if (client)
		client->untold += event->body.len;
	if (client && (mark == TOPIC_AGENT_PIECE || mark == TOPIC_AGENT_LAST_PIECE)) {
		if (client->in_pieces > 0 || ws_client_takes(client))
			ws_client_send_piece(client,
				(struct str){rest.ptr + 1, rest.len - 1},
				mark == TOPIC_AGENT_LAST_PIECE);
		return;
	}
	/* They go on as they were written. */
	while (client && str_take_line(&rest, &message) && ws_client_takes(client))
		ws_client_send_text(client, message);
}

static void on_gap(void *arg, enum worker_id from, uint64_t missed)
{
	struct gateway *g = arg;
	struct ws_client *client, *next;

	(void)from;
	g->agents_linked = true;
	if (missed > 0)
		log_warn("messages of agents were missed: their clients connect again",
			"count", "%llu", (unsigned long long)missed, NULL);
	for (client = TAILQ_FIRST(&g->agents->clients);
		client && (next = TAILQ_NEXT(client, link), true); client = next)
		ws_client_close(client, AGENTS_CODE_RESTART, COME_BACK);
}

/* ---- life ---- */

void agents_upgrade(struct gateway *g, struct http_request *request)
{
	struct evkeyvalq parameters;
	AUTO_FREE char *query = NULL;
	const char *session;

	if (!g->agents) {
		http_reply_error(
			request, 404, "No agents are run here: AGENT_COMMAND is not set");
		return;
	}
	if (!g->agents_linked) {
		evhttp_add_header(evhttp_request_get_output_headers(request->ev),
			"Retry-After", "1");
		http_reply_error(request, 503, "The agent worker is not there yet");
		return;
	}
	query = xstrndup(
		request->query.ptr ? request->query.ptr : "", request->query.len);
	if (evhttp_parse_query_str(query, &parameters) < 0) {
		http_reply_error(request, 400, "The query cannot be read");
		return;
	}
	session = evhttp_find_header(&parameters, "session");
	if (session && strlen(session) >= UUID_SIZE)
		http_reply_error(
			request, 400, "session must be the id of an agent session");
	else
		ws_upgrade_to(g->agents, request, on_open, (void *)(uintptr_t)session);
	evhttp_clear_headers(&parameters);
}

void agents_start(struct gateway *g)
{
	struct agent_gateway self = {.generation = {NULL, 0}};
	char generation[17], key[UUID_SIZE];

	if (!g->worker->settings->agent_command[0])
		return;
	g->agents = ws_server_new(g, on_message);
	g->agents->on_close = on_close;
	g->agents->on_written = on_written;
	bus_subscribe(g->bus, WORKER_AGENT, TOPIC_PREFIX, on_event, g);
	bus_on_gap(g->bus, WORKER_AGENT, on_gap, g);
	snprintf(generation, sizeof(generation), "%016llx",
		(unsigned long long)g->worker->generation);
	self.generation = str_of(generation);
	uuid7(clock_wall(), key);
	bus_call_message(g->bus, METHOD_AGENT_GATEWAY, str_of(key), &self, 0, NULL, NULL);
}
