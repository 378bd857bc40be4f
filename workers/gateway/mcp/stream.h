/*
 * stream.h - answers that are streams of events (text/event-stream).
 *
 * A stream carries the events of one call or, if opened by GET, of a session. In revision
 * 2025-11-25 events have ids, and a client that was disconnected can resume its stream, so
 * closing a stream cancels nothing. In the modern era closing it cancels the call.
 *
 * Called by mcp_call.c, legacy.c, listen.c and session.c.
 */
#pragma once

#include "common/base/clock.h"
#include "workers/gateway/http/http.h"
#include "workers/gateway/mcp/session.h"

struct mcp_server;

struct mcp_event;

#define MCP_STREAM_REQUEST_SIZE 129

struct mcp_stream {
	LIST_ENTRY(mcp_stream) of_session;
	LIST_ENTRY(mcp_stream) of_server;
	struct mcp_server *server;
	struct mcp_session *session; /* NULL in the modern era */
	uint32_t number;	     /* within the session; 0 is the one opened by GET */
	/* The end of the session's id, then the JSON of the id of the answered request, in
	 * hexadecimal. The ids of its events contain it, so that a later process can still
	 * answer. "": no request, or too long. */
	char request[MCP_STREAM_REQUEST_SIZE];
	bool resumable;		   /* its events have ids and are kept for a while */
	bool finished;		   /* nothing more will be sent */
	struct evhttp_request *ev; /* NULL while it is disconnected */
	struct http_conn *conn;
	uint32_t last_event;
	struct mono written_at; /* last write, disconnection or end */
	TAILQ_HEAD(, mcp_event) kept;
	size_t kept_bytes, kept_count;
	void (*on_cut)(void *arg); /* the client disconnected before the end */
	void *on_cut_arg;
};

/* Answers the request with the beginning of a stream. `request` is the JSON of its id,
 * absent for the stream that a GET opens. */
struct mcp_stream *mcp_stream_open(struct mcp_server *server, struct mcp_session *session,
	uint32_t number, struct str request, struct evhttp_request *ev,
	struct http_conn *conn) __attribute__((returns_nonnull));

/* Sends one message as an event. */
void mcp_stream_send(struct mcp_stream *stream, struct str json);
/* Closes the connection but not the stream, if it can be resumed. */
void mcp_stream_break_off(struct mcp_stream *stream);
/* Ends the stream, and frees it at once or when it can no longer be resumed. */
void mcp_stream_finish(struct mcp_stream *stream);

/*
 * Continues the stream that `last_event_id` names, after that event, on another connection. A
 * call that this process does not know gets the service's lost_result, because nobody else
 * will answer it. False for an id that is not ours.
 */
bool mcp_stream_resume(struct mcp_server *server, struct mcp_session *session,
	struct str last_event_id, struct evhttp_request *ev, struct http_conn *conn);

/* Opens the session's own stream; a newer connection replaces an older one. */
void mcp_stream_listen(struct mcp_server *server, struct mcp_session *session,
	struct evhttp_request *ev, struct http_conn *conn);

/* Ends all streams of a session. */
void mcp_streams_end(struct mcp_session *session);
/* Ends a stream without sending what waits. */
void mcp_stream_drop(struct mcp_stream *stream);

void mcp_stream_tick(struct mcp_stream *stream, struct mono now);
