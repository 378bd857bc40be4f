/* hello.c - see hello.h. */
#include "workers/gateway/routes/hello.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "paige-config.h"
#include "proto/codec/messages.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/routes/restored.h"
#include "workers/gateway/routes/tree.h"
#include "workers/gateway/routes/unseen.h"
#include "workers/gateway/routes/ws_message.h"
#include "workers/gateway/ws/ws_server.h"
#include <stdio.h>
#include <stdlib.h>

/* How long a hello waits for what the llm worker can reach: without it nothing is said to
 * be there. */
#define CAPABILITIES_MS 300

/* A hello whose answer waits for the store and the llm worker. */
struct greeting {
	struct ws_client *client;
	unsigned waiting;
	bool failed;	     /* and answered so */
	char session_id[65]; /* empty: none */
	struct capabilities capabilities;
	struct ws_message_id id;
	bool resume;
	char epoch[65];
	uint64_t seq;
	char connection_id[65];
};

static struct str text_or_absent(const char *text)
{
	return text[0] ? str_of(text) : (struct str){NULL, 0};
}

/* ---- state for a window that starts afresh ---- */

static void on_completed(void *arg, struct payload *payload)
{
	struct ws_client *client = arg;

	ws_answer(client, STR_LIT("session:resumed"), payload, (struct str){NULL, 0});
	ws_client_unref(client);
}

static void on_restored(void *arg, const struct bus_reply *reply)
{
	struct ws_client *client = arg;

	if (reply->status == BUS_OK) {
		restored_complete(
			client->server->gateway, reply->body, on_completed, client);
		return;
	}
	if (!str_is(reply->code, "NO_SESSION"))
		ws_message_error(client, "INTERNAL_ERROR", reply->message, reply->context,
			(struct str){NULL, 0});
	ws_client_unref(client);
}

static void send_session_state(struct ws_client *client)
{
	ws_client_ref(client);
	bus_call(client->server->gateway->bus, METHOD_SESSION_RESTORED,
		(struct str){NULL, 0}, STR_LIT("{}"), 0, on_restored, client);
}

/* ---- resuming ---- */

static struct ws_client *find_open(struct ws_server *server, struct str id)
{
	struct ws_client *client;

	TAILQ_FOREACH(client, &server->clients, link)
	if (str_is(id, client->id))
		return client;
	return NULL;
}

/* How far the connection had come that is resumed; one that seems open still is dead for
 * its client. */
static bool take_log(const struct greeting *g, struct resume_log *out)
{
	struct ws_server *server = g->client->server;
	struct str id = text_or_absent(g->connection_id);
	struct ws_client *open = id.ptr ? find_open(server, id) : NULL;
	const struct resume_log *closed;

	if (open && open != g->client) {
		*out = open->log;
		ws_client_end(open);
		return true;
	}
	closed = replay_find_closed(&server->replay, id);
	if (closed)
		*out = *closed;
	return closed != NULL;
}

static bool all_kept(
	const struct replay *replay, const struct resume_range *ranges, int count)
{
	for (int i = 0; i < count; i++)
		if (!replay_get(replay, ranges[i].first))
			return false;
	return true;
}

/* Sends what was missed. False when that cannot be told any more. */
static bool resume(const struct greeting *g)
{
	struct ws_server *server = g->client->server;
	struct resume_range missed[RESUME_MAX_RANGES];
	struct resume_log log;
	bool with_tree = false;
	int count;

	if (strcmp(g->epoch, server->gateway->epoch) != 0 || !take_log(g, &log))
		return false;
	/* Later broadcasts came to this window alive. */
	count = resume_missed(&log, g->seq, g->client->log.base, missed);
	if (count < 0 || !all_kept(&server->replay, missed, count))
		return false;
	for (int i = 0; i < count; i++)
		for (uint64_t n = missed[i].first; n <= missed[i].last; n++)
			if (!ws_send_again(g->client, replay_get(&server->replay, n)))
				with_tree = true;
	if (with_tree)
		tree_send(server, g->client);
	server->metrics->ws_resumed++;
	return true;
}

/* ---- the answer ---- */

static void send_init(const struct greeting *g)
{
	struct ws_client *client = g->client;
	const struct gateway *gateway = client->server->gateway;
	const struct connection_init init = {
		.session_id = text_or_absent(g->session_id),
		.capabilities = g->capabilities,
		.has_capabilities = true,
		.feature_flags = {.observer_enabled =
					  gateway->fleet.workers[WORKER_OBSERVER].up,
			.has_observer_enabled = true,
			.practice_mode_enabled = gateway->fleet.workers[WORKER_LLM].up,
			.has_practice_mode_enabled = true},
		.has_feature_flags = true,
		.claude_scripted = gateway->worker->settings->claude_scripted != 0,
		.has_claude_scripted = true,
		.server_version = STR_LIT(PAIGE_VERSION),
		.protocol_version = HELLO_PROTOCOL_VERSION,
		.has_protocol_version = true,
		.epoch = str_of(gateway->epoch),
		.seq = (int64_t)client->log.last_seq + 1,
		.has_seq = true,
		.connection_id = str_of(client->id),
	};
	AUTO_BUF out = {0};

	proto_encode(connection_init_type(), &init, &out);
	ws_answer_text(client, STR_LIT("connection:init"), buf_str(&out),
		ws_message_id_of(&g->id));
}

static void welcome(const struct greeting *g)
{
	struct ws_client *client = g->client;
	bool first = !client->greeted;

	if (!ws_client_takes(client))
		return;
	client->greeted = true;
	send_init(g);
	if (first && g->resume && resume(g)) {
		unseen_forget(); /* it was among what was missed */
		return;
	}
	if (client->lists_directories)
		tree_send_top(client);
	else
		tree_send(client->server, client);
	if (g->resume && g->session_id[0])
		send_session_state(client);
	unseen_give(client);
}

static void fail(struct greeting *g, const char *code, struct str message)
{
	g->failed = true;
	ws_message_error(g->client, code, message, (struct str){NULL, 0},
		ws_message_id_of(&g->id));
}

/* One of the answers that the greeting waits for has come. */
static void go_on(struct greeting *g)
{
	if (--g->waiting > 0)
		return;
	if (!g->failed)
		welcome(g);
	ws_client_unref(g->client);
	free(g);
}

static void on_session(void *arg, const struct bus_reply *reply)
{
	struct greeting *g = arg;
	AUTO_ARENA arena = {0};
	struct active_session session = {0};
	struct proto_error error;

	if (reply->status != BUS_OK)
		fail(g, "UNAVAILABLE", reply->message);
	else if (bus_reply_decode(
			 METHOD_SESSION_ACTIVE, reply, &arena, &session, &error) < 0)
		fail(g, "INTERNAL_ERROR", str_of(error.text));
	else
		snprintf(g->session_id, sizeof(g->session_id), "%.*s",
			STR_ARG(session.session_id));
	go_on(g);
}

static void on_capabilities(void *arg, const struct bus_reply *reply)
{
	struct greeting *g = arg;
	AUTO_ARENA arena = {0};
	struct llm_capabilities can = {0};
	struct proto_error error;

	if (reply->status == BUS_OK && bus_reply_decode(METHOD_LLM_CAPABILITIES, reply,
					       &arena, &can, &error) == 0) {
		g->capabilities.chromadb_available = can.chromadb_available;
		g->capabilities.github_api_available = can.github_api_available;
	}
	go_on(g);
}

void hello_on_message(const struct ws_message *message)
{
	const struct connection_hello *hello = message->decoded;
	struct bus *bus = message->client->server->gateway->bus;
	struct greeting *g = xcalloc(1, sizeof(*g));

	g->client = message->client;
	g->resume = hello->has_resume;
	/* At once: a whole tree may be told before the answer has come. */
	g->client->lists_directories = hello->lists_directories;
	ws_client_follow(g->client, WS_TO_PROGRESS, hello->wants_progress);
	ws_message_id_keep(&g->id, message);
	if (g->resume) {
		snprintf(
			g->epoch, sizeof(g->epoch), "%.*s", STR_ARG(hello->resume.epoch));
		snprintf(g->connection_id, sizeof(g->connection_id), "%.*s",
			STR_ARG(hello->resume.connection_id));
		g->seq = (uint64_t)hello->resume.seq;
	}
	log_info("window says hello", "connection", "%s", g->client->id, "version",
		"%.*s", STR_ARG(hello->version), "platform", "%.*s",
		STR_ARG(hello->platform), NULL);
	ws_client_ref(g->client);
	g->capabilities.has_chromadb_available =
		g->capabilities.has_github_api_available = true;
	g->waiting = 2;
	bus_call(bus, METHOD_SESSION_ACTIVE, (struct str){NULL, 0}, STR_LIT("{}"), 0,
		on_session, g);
	bus_call(bus, METHOD_LLM_CAPABILITIES, (struct str){NULL, 0}, STR_LIT("{}"),
		CAPABILITIES_MS, on_capabilities, g);
}
