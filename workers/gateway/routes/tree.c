/* tree.c - see tree.h. */
#include "workers/gateway/routes/tree.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "proto/codec/messages.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/routes/ws_message.h"

/* Those who share one answer. */
struct round {
	bool for_all;
	struct ws_client *waiting[WS_MAX_CLIENTS];
	size_t count;
};

/* Who comes while an answer is under way waits for the next one: this one may be older
 * than a change that was told meanwhile. */
static struct round current, next;
static bool under_way;

static void send_error(struct ws_client *client, const struct bus_reply *reply)
{
	ws_message_error(client, "UNAVAILABLE", reply->message, reply->context,
		(struct str){NULL, 0});
}

static const struct str stale = {"fs:tree_stale", sizeof("fs:tree_stale") - 1};

void tree_tell(struct ws_server *server, struct str type, struct payload *payload)
{
	const struct replay_text listing = {stale, payload_new(STR_LIT("{}"))};

	ws_broadcast_either(server, &(struct replay_text){type, payload}, &listing);
	payload_unref(listing.payload);
}

/* Who lists directories can do without the tree that could not be fetched. */
static void tell_who_lists(struct ws_server *server)
{
	struct ws_client *client, *following;

	for (client = TAILQ_FIRST(&server->clients); client; client = following) {
		following = TAILQ_NEXT(client, link); /* sending may end a window */
		if (client->lists_directories)
			ws_answer_text(
				client, stale, STR_LIT("{}"), (struct str){NULL, 0});
	}
}

static void deliver(struct ws_server *server, const struct bus_reply *reply)
{
	struct payload *payload;

	if (reply->status != BUS_OK) {
		log_error("the tree could not be fetched", "reason", "%.*s",
			STR_ARG(reply->message), NULL);
		for (size_t i = 0; i < current.count; i++)
			send_error(current.waiting[i], reply);
		if (current.for_all)
			tell_who_lists(server);
		return;
	}
	payload = payload_of_reply(reply);
	if (current.for_all)
		tree_tell(server, STR_LIT("fs:tree"), payload);
	else
		for (size_t i = 0; i < current.count; i++)
			ws_answer(current.waiting[i], STR_LIT("fs:tree"), payload,
				(struct str){NULL, 0});
	payload_unref(payload);
}

static void start(struct ws_server *server);

static void on_tree(void *arg, const struct bus_reply *reply)
{
	struct ws_server *server = arg;

	deliver(server, reply);
	for (size_t i = 0; i < current.count; i++)
		ws_client_unref(current.waiting[i]);
	under_way = false;
	if (next.for_all || next.count > 0)
		start(server);
}

static void start(struct ws_server *server)
{
	current = next;
	next = (struct round){0};
	under_way = true;
	bus_call(server->gateway->bus, METHOD_FS_TREE, (struct str){NULL, 0},
		STR_LIT("{}"), 0, on_tree, server);
}

void tree_send(struct ws_server *server, struct ws_client *client)
{
	if (!client) {
		next.for_all = true;
	} else if (next.count < WS_MAX_CLIENTS) {
		ws_client_ref(client);
		next.waiting[next.count++] = client;
	}
	if (!under_way)
		start(server);
}

static void on_top(void *arg, const struct bus_reply *reply)
{
	struct ws_client *client = arg;
	struct payload *payload;

	if (reply->status == BUS_OK) {
		payload = payload_new(reply->body);
		ws_answer(client, STR_LIT("fs:tree"), payload, (struct str){NULL, 0});
		payload_unref(payload);
	} else {
		send_error(client, reply);
	}
	ws_client_unref(client);
}

void tree_send_top(struct ws_client *client)
{
	ws_client_ref(client);
	bus_call_message(client->server->gateway->bus, METHOD_FS_LIST,
		(struct str){NULL, 0}, &(struct fs_list){.path = STR_LIT(".")}, 0, on_top,
		client);
}
