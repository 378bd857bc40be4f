/* ws_server.c - see ws_server.h. */
#include "workers/gateway/ws/ws_server.h"
#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "workers/gateway/http/gateway.h"
#include <stdlib.h>

unsigned char *ws_server_read_memory(void)
{
	static unsigned char memory[WS_READ_BYTES];

	return memory;
}

/* ---- the end of a turn ---- */

static void free_dead(struct ws_server *server)
{
	struct ws_client *client;

	while ((client = TAILQ_FIRST(&server->dead))) {
		TAILQ_REMOVE(&server->dead, client, flush_link);
		ws_client_free(client);
	}
}

static void on_flush(EVENT_UNUSED, void *arg)
{
	struct ws_server *server = arg;
	struct ws_client *client;

	while ((client = TAILQ_FIRST(&server->to_flush))) {
		TAILQ_REMOVE(&server->to_flush, client, flush_link);
		client->flush_wanted = false;
		/* One that has more than it may be sent in a turn is written to when its
		 * socket takes more. */
		if (!event_pending(client->write_event, EV_WRITE, NULL))
			ws_client_flush(client);
	}
	free_dead(server);
}

void ws_server_want_flush(struct ws_server *server, struct ws_client *client)
{
	if (client->flush_wanted || client->gone)
		return;
	client->flush_wanted = true;
	TAILQ_INSERT_TAIL(&server->to_flush, client, flush_link);
	event_active(server->flush, EV_TIMEOUT, 0);
}

void ws_server_free_later(struct ws_server *server, struct ws_client *client)
{
	if (client->dead_listed)
		return;
	client->dead_listed = true;
	TAILQ_INSERT_TAIL(&server->dead, client, flush_link);
	event_active(server->flush, EV_TIMEOUT, 0);
}

/* ---- who is there ---- */

void ws_server_add(struct ws_server *server, struct ws_client *client)
{
	resume_start(&client->log, server->replay.last);
	TAILQ_INSERT_TAIL(&server->clients, client, link);
	server->count++;
	server->metrics->ws_clients++;
}

static void report_drained(struct ws_server *server)
{
	void (*on_drained)(void *arg) = server->on_drained;

	server->on_drained = NULL;
	if (on_drained)
		on_drained(server->on_drained_arg);
}

void ws_server_remove(struct ws_server *server, struct ws_client *client)
{
	if (client->flush_wanted) {
		TAILQ_REMOVE(&server->to_flush, client, flush_link);
		client->flush_wanted = false;
	}
	TAILQ_REMOVE(&server->clients, client, link);
	server->count--;
	server->metrics->ws_clients--;
	replay_note_closed(&server->replay, client->id, &client->log);
	if (server->on_close)
		server->on_close(client);
	log_info("window disconnected", "connection", "%s", client->id, "windows", "%zu",
		server->count, NULL);
	if (server->count == 0)
		report_drained(server);
}

/* ---- sending ---- */

/* The next one is taken before: sending may end a window. */
#define FOREACH_CLIENT(client, next, server)                                             \
	for (client = TAILQ_FIRST(&(server)->clients);                                   \
		client && (next = TAILQ_NEXT(client, link), true); client = next)

static void broadcast(struct ws_server *server, const struct replay_text *text,
	const struct replay_text *listing, const struct ws_client *sender, struct str id)
{
	int64_t now_ms = wall_ms(clock_wall());
	struct ws_client *client, *next;

	server->metrics->ws_broadcasts++;
	replay_add(&server->replay, now_ms, text, listing);
	FOREACH_CLIENT(client, next, server)
	{
		const struct replay_text *its =
			listing && client->lists_directories ? listing : text;
		struct ws_envelope envelope = {.type = its->type, .timestamp_ms = now_ms};

		if (!its->payload || !ws_client_takes(client))
			continue;
		if (client == sender)
			envelope.id = id;
		envelope.seq = resume_note_live(&client->log);
		ws_client_send(client, &envelope, its->payload);
	}
}

void ws_broadcast(struct ws_server *server, struct str type, struct payload *payload,
	const struct ws_client *sender, struct str id)
{
	broadcast(server, &(struct replay_text){type, payload}, NULL, sender, id);
}

void ws_broadcast_either(struct ws_server *server, const struct replay_text *text,
	const struct replay_text *listing)
{
	broadcast(server, text, listing, NULL, (struct str){NULL, 0});
}

bool ws_is_followed(const struct ws_server *server, enum ws_audience audience)
{
	const struct ws_client *client;

	TAILQ_FOREACH(client, &server->clients, link)
	if (ws_client_follows(client, audience))
		return true;
	return false;
}

void ws_tell(
	struct ws_server *server, const struct ws_info *message, struct payload *payload)
{
	struct str type = str_of(message->name), no_id = {NULL, 0};
	struct ws_client *client, *next;

	if (message->audience == WS_TO_ALL) {
		ws_broadcast(server, type, payload, NULL, no_id);
		return;
	}
	FOREACH_CLIENT(client, next, server)
	if (ws_client_follows(client, message->audience))
		ws_answer(client, type, payload, no_id);
}

void ws_answer(
	struct ws_client *client, struct str type, struct payload *payload, struct str id)
{
	struct ws_envelope envelope = {
		.type = type, .id = id, .timestamp_ms = wall_ms(clock_wall())};

	if (!ws_client_takes(client))
		return;
	envelope.seq = resume_note_direct(&client->log);
	ws_client_send(client, &envelope, payload);
}

void ws_answer_text(
	struct ws_client *client, struct str type, struct str text, struct str id)
{
	struct payload *payload = payload_new(text);

	ws_answer(client, type, payload, id);
	payload_unref(payload);
}

bool ws_send_again(struct ws_client *client, const struct replay_item *item)
{
	const struct replay_text *text = replay_text_for(item, client->lists_directories);
	struct ws_envelope envelope = {.timestamp_ms = item->timestamp_ms};

	if (!text)
		return false;
	if (!ws_client_takes(client))
		return true;
	envelope.type = text->type;
	envelope.seq = resume_note_again(&client->log, item->number);
	ws_client_send(client, &envelope, text->payload);
	return true;
}

void ws_server_resume_reading(struct ws_server *server, enum worker_id owner)
{
	struct ws_client *client, *next;

	FOREACH_CLIENT(client, next, server)
	ws_client_resume_reading(client, owner);
}

/* ---- life ---- */

static void on_drain_deadline(EVENT_UNUSED, void *arg)
{
	struct ws_server *server = arg;
	struct ws_client *client, *next;

	FOREACH_CLIENT(client, next, server)
	ws_client_end(client);
}

void ws_server_stop(struct ws_server *server, void (*on_drained)(void *arg), void *arg)
{
	struct ws_client *client, *next;

	server->stopping = true;
	server->on_drained = on_drained;
	server->on_drained_arg = arg;
	if (server->count == 0) {
		report_drained(server);
		return;
	}
	event_once_ms(server->base, on_drain_deadline, server, WS_DRAIN_MS);
	FOREACH_CLIENT(client, next, server)
	ws_client_close(client, WSLAY_CODE_GOING_AWAY, "the daemon stops");
}

struct ws_server *ws_server_new(
	struct gateway *g, void (*on_message)(struct ws_client *client, struct str text))
{
	struct ws_server *server = xcalloc(1, sizeof(*server));

	server->base = g->base;
	server->gateway = g;
	server->metrics = &g->metrics;
	server->on_message = on_message;
	TAILQ_INIT(&server->clients);
	TAILQ_INIT(&server->to_flush);
	TAILQ_INIT(&server->dead);
	server->flush = alloc_checked(event_new(g->base, -1, 0, on_flush, server));
	return server;
}
