/*
 * ws_server.h - all windows together: broadcasting, the replay buffer, and the shared
 * buffers.
 *
 * Called by the parts that have something to say to every window, and by ws_client.c. One
 * serialisation per broadcast: the windows' messages differ in the envelope only.
 */
#pragma once

#include "workers/gateway/http/metrics.h"
#include "workers/gateway/ws/replay.h"
#include "workers/gateway/ws/ws_client.h"

#define WS_MAX_CLIENTS 256

struct ws_server {
	struct event_base *base;
	struct gateway *gateway;
	struct gateway_metrics *metrics;
	TAILQ_HEAD(ws_clients, ws_client) clients;
	TAILQ_HEAD(, ws_client) to_flush;
	TAILQ_HEAD(, ws_client) dead; /* freed at the end of the turn */
	struct event *flush;
	size_t count;
	struct replay replay;
	bool stopping;
	void (*on_drained)(void *arg);
	void *on_drained_arg;
	/* A message arrived. */
	void (*on_message)(struct ws_client *client, struct str text);
	/* Optional. Something was written to a window. */
	void (*on_written)(struct ws_client *client);
	/* Optional. A window has gone; its memory goes after the call. */
	void (*on_close)(struct ws_client *client);
};

struct ws_server *ws_server_new(
	struct gateway *g, void (*on_message)(struct ws_client *client, struct str text));

/* To every window, also those that have not said hello. `sender` gets `id`
 * with it; both may be absent. `type` must live for ever. */
void ws_broadcast(struct ws_server *server, struct str type, struct payload *payload,
	const struct ws_client *sender, struct str id);
/* To every window, but those that list directories get `listing` in its place. Without a
 * payload in `text` to nobody else. */
void ws_broadcast_either(struct ws_server *server, const struct replay_text *text,
	const struct replay_text *listing);
/* Whether a window is of this audience, one of those that windows ask for. */
bool ws_is_followed(const struct ws_server *server, enum ws_audience audience);
/* To those whom the catalogue names: all windows, or the ones that follow it. Of the latter, who comes later
 * does not get it. */
void ws_tell(
	struct ws_server *server, const struct ws_info *message, struct payload *payload);
/* To one window. */
void ws_answer(struct ws_client *client, struct str type, struct payload *payload,
	struct str id);
/* The same for text that only this window gets. */
void ws_answer_text(
	struct ws_client *client, struct str type, struct str payload, struct str id);

/* Sends a broadcast of the replay buffer to one window again. False: it was only for windows
 * that list directories, so that the tree that this one knows is out of date. */
bool ws_send_again(struct ws_client *client, const struct replay_item *item);

/* Windows that stopped reading because of `owner` read again. */
void ws_server_resume_reading(struct ws_server *server, enum worker_id owner);

/* Closes every window with 1001 and tells `on_drained` when all are gone, within
 * WS_DRAIN_MS. */
#define WS_DRAIN_MS 2000
void ws_server_stop(struct ws_server *server, void (*on_drained)(void *arg), void *arg);

/* For ws_client.c. */
void ws_server_add(struct ws_server *server, struct ws_client *client);
void ws_server_remove(struct ws_server *server, struct ws_client *client);
void ws_server_want_flush(struct ws_server *server, struct ws_client *client);
void ws_server_free_later(struct ws_server *server, struct ws_client *client);
/* Memory for one read of a socket, shared by all. */
#define WS_READ_BYTES (256u * 1024)
unsigned char *ws_server_read_memory(void);
