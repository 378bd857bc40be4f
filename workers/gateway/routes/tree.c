/* tree.c - see tree.h. */
#include "workers/gateway/routes/tree.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "proto/codec/messages.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/routes/ws_message.h"

/* The tree comes as an event, so that it has its place among the changes that are told: a
 * window gets every change that is not in it afterwards. */

/* Who gets the next tree. */
static struct ws_client *waiting[WS_MAX_CLIENTS];
static size_t waiting_count;
static bool all_wait;

static bool calling; /* the file worker has not answered yet */
static bool arrived; /* since it was called: who came afterwards needs another tree */
static bool missed;  /* since it was called: the tree may be among what was missed */

static const struct str whole = {"fs:tree", sizeof("fs:tree") - 1};
static const struct str stale = {"fs:tree_stale", sizeof("fs:tree_stale") - 1};
static const struct str failed = {"connection:error", sizeof("connection:error") - 1};

/* To all; without a payload only to windows that list directories. */
static void tell_all(struct ws_server *server, struct str type, struct payload *payload)
{
	const struct replay_text listing = {stale, payload_new(STR_LIT("{}"))};

	ws_broadcast_either(server, &(struct replay_text){type, payload}, &listing);
	payload_unref(listing.payload);
}

/* To all who wait; nobody waits any more. */
static void hand_out(struct ws_server *server, struct str type, struct payload *payload)
{
	const size_t count = waiting_count;
	const bool to_all = all_wait;

	waiting_count = 0;
	all_wait = false;
	if (to_all)
		tell_all(server, type, payload);
	for (size_t i = 0; i < count; i++) {
		if (!to_all)
			ws_answer(waiting[i], type, payload, (struct str){NULL, 0});
		ws_client_unref(waiting[i]);
	}
}

static struct payload *error_of(const struct bus_reply *reply)
{
	const struct connection_error error = {.code = STR_LIT("UNAVAILABLE"),
		.message = reply->message,
		.context = {.raw = reply->context}};
	AUTO_BUF out = {0};

	proto_encode(connection_error_type(), &error, &out);
	return payload_new(buf_str(&out));
}

static void ask(struct ws_server *server);

static void on_answer(void *arg, const struct bus_reply *reply)
{
	struct ws_server *server = arg;

	calling = false;
	if (reply->status != BUS_OK) {
		struct payload *error = error_of(reply);

		log_error("the tree could not be fetched", "reason", "%.*s",
			STR_ARG(reply->message), NULL);
		hand_out(server, failed, error);
		payload_unref(error);
	} else if ((arrived || missed) && (all_wait || waiting_count > 0)) {
		ask(server);
	}
}

static void ask(struct ws_server *server)
{
	if (calling)
		return;
	calling = true;
	arrived = missed = false;
	bus_call(server->gateway->bus, METHOD_FS_TREE, (struct str){NULL, 0},
		STR_LIT("{}"), 0, on_answer, server);
}

void tree_arrived(struct ws_server *server, struct payload *payload)
{
	arrived = true;
	hand_out(server, whole, payload);
}

void tree_missed(struct ws_server *server)
{
	missed = true;
	if (waiting_count > 0)
		ask(server);
	tree_renew(server);
}

void tree_send(struct ws_server *server, struct ws_client *client)
{
	for (size_t i = 0; i < waiting_count; i++)
		if (waiting[i] == client)
			return;
	if (waiting_count == WS_MAX_CLIENTS)
		return;
	ws_client_ref(client);
	waiting[waiting_count++] = client;
	ask(server);
}

void tree_renew(struct ws_server *server)
{
	const struct ws_client *client;

	TAILQ_FOREACH(client, &server->clients, link)
	if (!client->lists_directories)
		break;
	if (client) {
		all_wait = true;
		ask(server);
	} else {
		tell_all(server, whole, NULL);
	}
}

static void on_top(void *arg, const struct bus_reply *reply)
{
	struct ws_client *client = arg;
	struct payload *payload =
		reply->status == BUS_OK ? payload_new(reply->body) : error_of(reply);

	ws_answer(client, reply->status == BUS_OK ? whole : failed, payload,
		(struct str){NULL, 0});
	payload_unref(payload);
	ws_client_unref(client);
}

void tree_send_top(struct ws_client *client)
{
	ws_client_ref(client);
	bus_call_message(client->server->gateway->bus, METHOD_FS_LIST,
		(struct str){NULL, 0}, &(struct fs_list){.path = STR_LIT(".")}, 0, on_top,
		client);
}
