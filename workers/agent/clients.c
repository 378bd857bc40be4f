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

static void publish_text(struct agent_client *client, struct str text)
{
	char topic[sizeof("agent/") + UUID_SIZE];

	if (client->unread_bytes <= CLIENT_UNREAD_BYTES)
		client->read_at = clock_mono();
	client->unread_bytes += text.len;
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

void client_has_read(struct agent_client *client, size_t bytes)
{
	/* Who was waited for in vain is waited for again when it has read nearly all. */
	if (client_wait_ms(client) > 0)
		client->read_at = clock_mono();
	client->unread_bytes -=
		bytes < client->unread_bytes ? bytes : client->unread_bytes;
	if (client->session)
		output_go_on(client->session);
}

int64_t client_wait_ms(const struct agent_client *client)
{
	int64_t left;

	if (client->unread_bytes <= CLIENT_UNREAD_BYTES)
		return 0;
	left = CLIENT_WAIT_MS - mono_diff_ms(clock_mono(), client->read_at);
	return left > 0 ? left : 0;
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
	AUTO_BUF body = {0};

	if (!last)
		rest.len = CLIENT_PIECE_BYTES;
	buf_reserve(&body, rest.len + 1);
	buf_add_char(&body, last ? TOPIC_AGENT_LAST_PIECE : TOPIC_AGENT_PIECE);
	buf_add_str(&body, rest);
	publish_text(client, buf_str(&body));
	client->owed_at += rest.len;
	client->owed = !last;
	if (last)
		publish(client);
}

void client_say(struct agent_client *client, const struct type *type, const void *message)
{
	AUTO_BUF out = {0};

	proto_encode(type, message, &out);
	client_send(client, buf_str(&out));
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
	AUTO_ARENA arena = {0};
	struct agent_error error;
	va_list args;

	va_start(args, format);
	error = error_message(&arena, format, args);
	va_end(args);
	client_say(client, agent_error_type(), &error);
}
