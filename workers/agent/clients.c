/* clients.c - the clients of /agent and what they are told; see agents.h. */
#include "common/base/alloc.h"
#include "proto/tables/topics.h"
#include "workers/agent/agents.h"
#include <stdio.h>
#include <stdlib.h>

struct agent_client *client_of(struct agents *a, struct str id)
{
	struct agent_client *client;

	LIST_FOREACH(client, &a->clients, link)
	if (str_is(id, client->id))
		return client;
	return NULL;
}

struct agent_client *client_new(struct agents *a, struct str id)
{
	struct agent_client *client;

	if (a->client_count >= AGENTS_MAX_CLIENTS || id.len >= sizeof(client->id))
		return NULL;
	client = xcalloc(1, sizeof(*client));
	client->agents = a;
	snprintf(client->id, sizeof(client->id), "%.*s", STR_ARG(id));
	LIST_INSERT_HEAD(&a->clients, client, link);
	a->client_count++;
	return client;
}

void client_free(struct agent_client *client)
{
	client->owed = false; /* it is gone */
	session_leave(client);
	LIST_REMOVE(client, link);
	client->agents->client_count--;
	buf_free(&client->outgoing);
	free(client);
}

static void publish_text(const struct agent_client *client, struct str text)
{
	char topic[sizeof("agent/") + UUID_SIZE];

	snprintf(topic, sizeof(topic), "agent/%s", client->id);
	bus_publish(client->agents->worker->bus, topic, text);
}

static void publish(struct agent_client *client)
{
	if (client->outgoing.len == 0 || client->owed)
		return;
	publish_text(client, buf_str(&client->outgoing));
	buf_empty(&client->outgoing, CLIENT_OUTGOING_BYTES * 2);
}

void clients_flush(struct agents *a)
{
	struct agent_client *client;

	LIST_FOREACH(client, &a->clients, link)
	publish(client);
}

void client_send(struct agent_client *client, struct str message)
{
	if (client->outgoing.len + message.len > CLIENT_OUTGOING_BYTES)
		publish(client);
	if (client->outgoing.len > 0)
		buf_add_char(&client->outgoing, '\n');
	buf_add_str(&client->outgoing, message);
	event_active(client->agents->flush, EV_TIMEOUT, 0);
}

void client_owe(struct agent_client *client)
{
	publish(client);
	client->owed = true;
	client->owed_at = 0;
}

void client_send_piece(struct agent_client *client, struct str message)
{
	struct str rest = {message.ptr + client->owed_at, message.len - client->owed_at};
	const bool last = rest.len <= CLIENT_PIECE_BYTES;
	struct buf body = {0};

	if (!last)
		rest.len = CLIENT_PIECE_BYTES;
	buf_reserve(&body, rest.len + 1);
	buf_add_char(&body, last ? TOPIC_AGENT_LAST_PIECE : TOPIC_AGENT_PIECE);
	buf_add_str(&body, rest);
	publish_text(client, buf_str(&body));
	buf_free(&body);
	client->owed_at += rest.len;
	client->owed = !last;
	if (last)
		publish(client);
}

void client_say(struct agent_client *client, const struct type *type, const void *message)
{
	struct buf out = {0};

	proto_encode(type, message, &out);
	client_send(client, buf_str(&out));
	buf_free(&out);
}

void client_say_notice(struct agent_client *client, const char *type)
{
	const struct agent_notice notice = {
		.source = STR_LIT("bridge"), .type = str_of(type)};

	client_say(client, agent_notice_type(), &notice);
}

struct agent_error error_message(struct arena *arena, const char *format, va_list args)
{
	return (struct agent_error){.source = STR_LIT("bridge"),
		.type = STR_LIT("error"),
		.error = arena_vprintf(arena, format, args)};
}

void client_say_error(struct agent_client *client, const char *format, ...)
{
	struct arena arena = {0};
	struct agent_error error;
	va_list args;

	va_start(args, format);
	error = error_message(&arena, format, args);
	va_end(args);
	client_say(client, agent_error_type(), &error);
	arena_free(&arena);
}
