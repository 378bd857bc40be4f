/* ws_client.c - see ws_client.h. */
#include "workers/gateway/ws/ws_client.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "proto/codec/codec.h"
#include "workers/gateway/ws/ws_server.h"
#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Shorter payloads are copied: that is cheaper than a reference. */
#define SHARE_BYTES 2048
#define PREFIX_SIZE 512
/* Written to one window in one turn of the loop; others have theirs in between. */
#define FLUSH_BYTES (512u * 1024)
#define CLOSE_REASON_MAX 120

/* ---- frames out ---- */

static void release_shared(const void *data, size_t len, void *arg)
{
	(void)data;
	(void)len;
	payload_unref(arg);
}

/* A shared payload is recognised by its address, which wslay hands through. */
static ssize_t take_frame(const uint8_t *data, size_t len, int flags, void *arg)
{
	struct ws_client *client = arg;
	struct payload *shared = client->writing_payload;

	(void)flags;
	if (shared && len >= SHARE_BYTES && (const char *)data == shared->text) {
		if (evbuffer_add_reference(client->out, data, len, release_shared,
			    payload_ref(shared)) < 0)
			payload_unref(shared);
	} else {
		evbuffer_add(client->out, data, len);
	}
	return (ssize_t)len;
}

/* One piece of the payload of a frame of `total` bytes. */
static void put_piece(
	struct ws_client *client, uint8_t opcode, size_t total, struct str piece)
{
	struct wslay_frame_iocb frame = {
		.fin = 1,
		.opcode = opcode,
		.payload_length = total,
		.data = (const uint8_t *)piece.ptr,
		.data_length = piece.len,
	};

	if (client->longest < total)
		client->longest = total;
	/* Cannot fail: the callback takes everything and the lengths are right. */
	(void)wslay_frame_send(client->writer, &frame);
}

static void put_control(struct ws_client *client, uint8_t opcode, struct str data)
{
	put_piece(client, opcode, data.len, data);
	ws_server_want_flush(client->server, client);
}

static bool has_room(const struct ws_client *client)
{
	return evbuffer_get_length(client->out) < WS_MAX_QUEUED_BYTES + client->longest;
}

bool ws_client_takes(struct ws_client *client)
{
	if (client->gone || client->state != WS_CLIENT_OPEN)
		return false;
	if (has_room(client))
		return true;
	ws_client_flush(client);
	if (client->gone)
		return false;
	if (has_room(client))
		return true;
	client->server->metrics->ws_slow++;
	log_warn("window does not read: closing it", "connection", "%s", client->id,
		"queued_bytes", "%zu", evbuffer_get_length(client->out), NULL);
	ws_client_close(client, WS_CODE_TRY_AGAIN_LATER, "too slow");
	return false;
}

void ws_client_send(
	struct ws_client *client, const struct ws_envelope *e, struct payload *payload)
{
	char prefix[PREFIX_SIZE];
	bool has_id = e->id.ptr != NULL;
	int n = snprintf(prefix, sizeof(prefix),
		"{\"type\":\"%.*s\",\"seq\":%llu,\"timestamp\":%lld%s%.*s,\"payload\":",
		STR_ARG(e->type), (unsigned long long)e->seq, (long long)e->timestamp_ms,
		has_id ? ",\"id\":" : "", STR_ARG(e->id));
	size_t total;

	if (n < 0 || (size_t)n >= sizeof(prefix))
		return; /* ids are shorter: see ws_message.c */
	total = (size_t)n + payload->len + 1;
	put_piece(client, WSLAY_TEXT_FRAME, total, (struct str){prefix, (size_t)n});
	client->writing_payload = payload;
	put_piece(client, WSLAY_TEXT_FRAME, total, payload_str(payload));
	client->writing_payload = NULL;
	put_piece(client, WSLAY_TEXT_FRAME, total, STR_LIT("}"));
	client->server->metrics->ws_sent++;
	ws_server_want_flush(client->server, client);
}

void ws_client_send_text(struct ws_client *client, struct str text)
{
	put_piece(client, WSLAY_TEXT_FRAME, text.len, text);
	client->server->metrics->ws_sent++;
	ws_server_want_flush(client->server, client);
}

void ws_client_send_piece(struct ws_client *client, struct str piece, bool last)
{
	struct wslay_frame_iocb frame = {
		.fin = last,
		.opcode = client->in_pieces ? WSLAY_CONTINUATION_FRAME : WSLAY_TEXT_FRAME,
		.payload_length = piece.len,
		.data = (const uint8_t *)piece.ptr,
		.data_length = piece.len,
	};

	if (client->gone || client->state != WS_CLIENT_OPEN)
		return;
	client->in_pieces += piece.len;
	if (client->longest < client->in_pieces)
		client->longest = client->in_pieces;
	(void)wslay_frame_send(client->writer, &frame);
	if (last) {
		client->in_pieces = 0;
		client->server->metrics->ws_sent++;
	}
	ws_server_want_flush(client->server, client);
}

/* ---- the socket ---- */

static void tell_written(struct ws_client *client)
{
	if (client->server->on_written)
		client->server->on_written(client);
}

void ws_client_flush(struct ws_client *client)
{
	size_t most = FLUSH_BYTES;

	while (evbuffer_get_length(client->out) > 0) {
		int n = most == 0 ? 0
				  : evbuffer_write_atmost(
					    client->out, client->fd, (ev_ssize_t)most);

		if (n > 0) {
			most -= (size_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) {
			ws_client_end(client);
			return;
		}
		event_add(client->write_event, NULL);
		tell_written(client);
		return;
	}
	client->longest = 0;
	tell_written(client);
	if (client->state != WS_CLIENT_CLOSING)
		return;
	if (client->close_received)
		ws_client_end(client);
	else if (client->reader.finished)
		/* What still comes cannot be understood: it is thrown away until the peer
		 * ends. */
		shutdown(client->fd, SHUT_WR);
}

static void on_writable(EVENT_UNUSED, void *arg)
{
	struct ws_client *client = arg;

	ws_client_flush(client);
}

static void arm_timer(struct ws_client *client, int64_t ms)
{
	event_add_ms(client->timer, ms);
}

static void on_timer(EVENT_UNUSED, void *arg)
{
	struct ws_client *client = arg;
	struct mono now = clock_mono();

	if (client->state == WS_CLIENT_CLOSING) {
		ws_client_end(client);
		return;
	}
	if (client->pauses)
		ws_liveness_heard(
			&client->liveness); /* its answer cannot have been read */
	switch (ws_liveness_judge(&client->liveness, now)) {
	case WS_LIVENESS_PING:
		put_control(client, WSLAY_PING, STR_LIT(""));
		break;
	case WS_LIVENESS_GONE:
		log_info("window no longer answers: cutting it", "connection", "%s",
			client->id, NULL);
		ws_client_end(client);
		return;
	case WS_LIVENESS_WAIT:
		break;
	}
	arm_timer(client, mono_diff_ms(client->liveness.due, now));
}

static void unpause(struct ws_client *client, unsigned reasons);

void ws_client_close(struct ws_client *client, uint16_t code, const char *reason)
{
	char data[2 + CLOSE_REASON_MAX + 1];
	int n;

	if (client->gone || client->state != WS_CLIENT_OPEN)
		return;
	client->state = WS_CLIENT_CLOSING;
	if (code == WS_NO_STATUS) {
		put_control(client, WSLAY_CONNECTION_CLOSE, STR_LIT(""));
	} else {
		data[0] = (char)(code >> 8);
		data[1] = (char)(code & 0xff);
		n = snprintf(data + 2, sizeof(data) - 2, "%s", reason ? reason : "");
		if (n > CLOSE_REASON_MAX)
			n = CLOSE_REASON_MAX;
		put_control(client, WSLAY_CONNECTION_CLOSE,
			(struct str){data, 2 + (size_t)n});
	}
	arm_timer(client, WS_CLOSE_DEADLINE_MS);
	unpause(client, ~0u); /* whatever was paused is now thrown away */
}

void ws_client_end(struct ws_client *client)
{
	if (client->gone)
		return;
	client->gone = true;
	event_free(client->read_event);
	event_free(client->write_event);
	event_free(client->timer);
	if (client->http)
		evhttp_connection_free(client->http);
	close(client->fd);
	client->fd = -1;
	ws_server_remove(client->server, client);
	if (client->pending_calls == 0)
		ws_server_free_later(client->server, client);
}

void ws_client_free(struct ws_client *client)
{
	evbuffer_free(client->out);
	wslay_frame_context_free(client->writer);
	ws_reader_fini(&client->reader);
	buf_free(&client->rest);
	free(client);
}

void ws_client_ref(struct ws_client *client)
{
	client->pending_calls++;
}

void ws_client_unref(struct ws_client *client)
{
	if (--client->pending_calls == 0 && client->gone)
		ws_server_free_later(client->server, client);
}

/* ---- frames in ---- */

static void on_close_frame(struct ws_client *client, uint16_t code)
{
	client->close_received = true;
	ws_client_close(client, code, NULL);
	ws_server_want_flush(client->server, client);
}

static void on_broken_protocol(struct ws_client *client, const struct ws_item *item)
{
	log_info("window broke the protocol: closing it", "connection", "%s", client->id,
		"code", "%u", item->code, "reason", "%s", item->reason, NULL);
	ws_client_close(client, item->code, item->reason);
}

static void take_items(struct ws_client *client)
{
	struct ws_item item;

	while (!client->gone && !client->pauses) {
		switch (ws_reader_next(&client->reader, &item)) {
		case WS_NEED_DATA:
			return;
		case WS_MESSAGE:
			if (client->state == WS_CLIENT_OPEN)
				client->server->on_message(client, item.data);
			break;
		case WS_PING:
			if (ws_client_takes(client))
				put_control(client, WSLAY_PONG, item.data);
			break;
		case WS_PONG:
			break;
		case WS_CLOSE:
			on_close_frame(client, item.code);
			return;
		case WS_FAIL:
			on_broken_protocol(client, &item);
			return;
		}
	}
}

/* Looks at bytes that were received; what a pause leaves over is kept. */
static void take_input(struct ws_client *client, const void *data, size_t len)
{
	ws_reader_feed(&client->reader, data, len);
	take_items(client);
	if (client->gone || !client->pauses)
		return;
	len = ws_reader_unread(&client->reader);
	if (len > 0)
		buf_add(&client->rest, client->reader.input, len);
	ws_reader_feed(&client->reader, NULL, 0);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct ws_client *client = arg;
	unsigned char *memory = ws_server_read_memory();
	ssize_t n = recv(fd, memory, WS_READ_BYTES, 0);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		ws_client_end(client);
		return;
	}
	ws_liveness_heard(&client->liveness);
	take_input(client, memory, (size_t)n);
}

void ws_client_pause_reading(struct ws_client *client, unsigned reason)
{
	if (client->gone || client->state != WS_CLIENT_OPEN)
		return;
	client->pauses |= 1u << reason;
	event_del(client->read_event);
}

/* What was received before a pause is looked at, and more is read. */
static void go_on(struct ws_client *client)
{
	AUTO_BUF rest = client->rest;

	client->rest = (struct buf){0};
	event_add(client->read_event, NULL);
	if (client->state == WS_CLIENT_OPEN)
		take_input(client, rest.data, rest.len);
}

static void unpause(struct ws_client *client, unsigned reasons)
{
	if (client->gone || !(client->pauses & reasons))
		return;
	client->pauses &= ~reasons;
	if (!client->pauses)
		go_on(client);
}

void ws_client_resume_reading(struct ws_client *client, unsigned reason)
{
	unpause(client, 1u << reason);
}

/* ---- life ---- */

struct ws_client *ws_client_new(struct ws_server *server, int fd)
{
	static const struct wslay_frame_callbacks callbacks = {
		.send_callback = take_frame};
	struct ws_client *client = xcalloc(1, sizeof(*client));

	client->server = server;
	client->fd = fd;
	client->out = evbuffer_new();
	if (!client->out ||
		ws_reader_init(&client->reader, PROTO_MAX_MESSAGE_BYTES) < 0 ||
		wslay_frame_context_init(&client->writer, &callbacks, client) != 0)
		abort();
	client->read_event = alloc_checked(
		event_new(server->base, fd, EV_READ | EV_PERSIST, on_readable, client));
	client->write_event =
		alloc_checked(event_new(server->base, fd, EV_WRITE, on_writable, client));
	client->timer = alloc_checked(event_new(server->base, -1, 0, on_timer, client));
	uuid4(client->id);
	ws_liveness_start(&client->liveness, clock_mono());
	ws_server_add(server, client);
	return client;
}

void ws_client_start(struct ws_client *client, struct str handshake, struct str input)
{
	evbuffer_add(client->out, handshake.ptr, handshake.len);
	ws_client_flush(client);
	if (client->gone)
		return;
	arm_timer(client, WS_PING_INTERVAL_MS);
	event_add(client->read_event, NULL);
	if (input.len > 0)
		take_input(client, input.ptr, input.len);
}
