/*
 * ws_client.h - one editor window: its socket, its output queue, its liveness.
 *
 * Called by ws_upgrade.c (a window connected), ws_server.c (broadcasts) and whoever
 * answers a window. Knows envelopes, not messages: what comes in goes to `on_message` of
 * the server. A window that does not read is closed with 1013 once 8 MiB wait for it behind
 * the longest message that does, and nobody else is affected.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/ids.h"
#include "proto/tables/workers.h"
#include "proto/tables/ws.h"
#include "workers/gateway/ws/payload.h"
#include "workers/gateway/ws/resume.h"
#include "workers/gateway/ws/ws_liveness.h"
#include "workers/gateway/ws/ws_reader.h"
#include <event2/event.h>
#include <event2/http.h>
#include <sys/queue.h>

/* A message may be added while less than this is queued behind the longest of those that are;
 * then the window is too slow. A message alone never makes it that. */
#define WS_MAX_QUEUED_BYTES (8u * 1024 * 1024)
/* How long a closing handshake, or the flushing of the queue before it, may take. */
#define WS_CLOSE_DEADLINE_MS 10000

#define WS_CODE_TRY_AGAIN_LATER 1013

struct ws_server;

enum ws_client_state {
	WS_CLIENT_OPEN,
	WS_CLIENT_CLOSING, /* our close frame is queued: nothing more is sent */
};

struct ws_client {
	TAILQ_ENTRY(ws_client) link;
	TAILQ_ENTRY(ws_client) flush_link;
	struct ws_server *server;
	char id[UUID_SIZE]; /* connectionId */
	int fd;
	/* What remains of the HTTP connection; NULL for a socket that was none. */
	struct evhttp_connection *http;
	enum ws_client_state state;
	bool close_received;
	bool flush_wanted; /* in the server's list to_flush */
	bool dead_listed;  /* in the server's list dead */
	unsigned
		pauses; /* of reading: a bit for each reason of ws_client_pause_reading */
	bool greeted;	/* connection:init was sent */
	bool lists_directories; /* asks for what is in directories, and gets no whole tree */
	bool operates;		/* may do what paigectl may (access_is_operator) */
	unsigned follows;	/* 1 << enum ws_audience, what it asked for */
	unsigned pending_calls; /* calls that will answer this window */
	bool gone;		/* the socket is closed; freed when pending_calls is 0 */
	int cols, rows;		/* terminal size (P5.24) */
	struct event *read_event;
	struct event *write_event;
	struct event *timer;
	struct evbuffer *out;
	size_t longest;	  /* message since `out` was empty */
	size_t in_pieces; /* bytes of the message of which the end is still to come */
	size_t untold; /* agents.c: bytes of events that the worker does not know to be read */
	wslay_frame_context_ptr writer;
	struct payload *writing_payload; /* while its frame is put together */
	struct ws_reader reader;
	struct buf rest; /* received and not looked at while reading is paused */
	struct ws_liveness liveness;
	struct resume_log log;
};

/* Takes the connected, non-blocking socket. Ends the process when out of memory. */
struct ws_client *ws_client_new(struct ws_server *server, int fd)
	__attribute__((returns_nonnull));

/* Sends `handshake`, then begins to read; `input` is what was received already. Both are
 * copied. */
void ws_client_start(struct ws_client *client, struct str handshake, struct str input);

/* Whether a message may be queued now. Closes the window when it is too slow. */
bool ws_client_takes(struct ws_client *client);

struct ws_envelope {
	struct str type;
	struct str id; /* JSON of the id of the message that is answered, or absent */
	int64_t timestamp_ms;
	uint64_t seq;
};

/* Queues one message; only when ws_client_takes said yes. */
void ws_client_send(struct ws_client *client, const struct ws_envelope *envelope,
	struct payload *payload);

/* The same for a message that is the whole text, without an envelope. */
void ws_client_send_text(struct ws_client *client, struct str text);

/* A piece of such a message; ws_client_takes says yes before the first, and nothing but control frames
 * comes in between. */
void ws_client_send_piece(struct ws_client *client, struct str piece, bool last);

/* Starts the closing handshake; what is queued is sent before. Nothing when it has begun.
 */
void ws_client_close(struct ws_client *client, uint16_t code, const char *reason);

/* Stops reading until ws_client_resume_reading for the same reason: a worker has more to do than
 * it can (its id), what comes next depends on an answer, or a large message is being
 * parsed beside the loop. */
enum ws_pause { WS_PAUSED_FOR_ANSWER = WORKER_COUNT, WS_PAUSED_FOR_PARSING };
void ws_client_pause_reading(struct ws_client *client, unsigned reason);
void ws_client_resume_reading(struct ws_client *client, unsigned reason);

/* Takes and drops a reference. Each call whose answer goes to this window has one, so that the window's memory stays
 * until the last of them has ended. */
void ws_client_ref(struct ws_client *client);
void ws_client_unref(struct ws_client *client);

/* Writes what is queued, as far as the socket takes it, and the rest when it takes more. Called by
 * ws_server.c at the end of a turn in which something was queued, unless there is such a rest. */
void ws_client_flush(struct ws_client *client);

/* Cuts the connection. The memory is freed by ws_server.c, later in the turn. */
void ws_client_end(struct ws_client *client);
/* For ws_server.c alone. */
void ws_client_free(struct ws_client *client);

static inline bool ws_client_follows(
	const struct ws_client *client, enum ws_audience audience)
{
	return client->follows & 1u << audience;
}

static inline void ws_client_follow(
	struct ws_client *client, enum ws_audience audience, bool on)
{
	client->follows &= ~(1u << audience);
	client->follows |= (unsigned)on << audience;
}
