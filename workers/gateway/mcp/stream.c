/* stream.c - see stream.h. */
#include "workers/gateway/mcp/stream.h"
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "workers/gateway/mcp/server.h"
#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>

/* Events kept for resuming. The newest is always kept, whatever its size: it may be the
 * result. */
#define KEEP_EVENTS 64
#define KEEP_BYTES (256u * 1024)
/* How long a stream that was cut, or has ended, can be resumed. */
#define KEEP_MS 300000
#define KEEP_STREAMS 16
/* A client that lets this much wait does not read. */
#define MAX_QUEUED_BYTES (16u * 1024 * 1024)
/* After which a client should come back when its stream breaks off. */
#define RETRY_MS 500
/* Hexadecimal digits at the end of a session's id. */
#define TAG_CHARS 8

struct mcp_event {
	TAILQ_ENTRY(mcp_event) link;
	uint32_t number;
	size_t len;
	char text[];
};

/* ---- writing ---- */

static void write_text(struct mcp_stream *stream, struct str text)
{
	struct evbuffer *out;

	stream->written_at = clock_mono();
	if (!stream->ev)
		return;
	out = alloc_checked(evbuffer_new());
	evbuffer_add(out, text.ptr, text.len);
	evhttp_send_reply_chunk(stream->ev, out);
	evbuffer_free(out);
	if (stream->conn)
		http_conn_handed_over(stream->conn);
	if (stream->conn && http_conn_queued(stream->conn) > MAX_QUEUED_BYTES)
		http_conn_cut(stream->conn);
}

/* An event of one message. Line ends stand between tokens only in JSON, and would end the
 * event. */
static void format_event(const struct mcp_stream *stream, uint32_t number,
	struct str json, struct buf *out)
{
	size_t at;

	if (stream->resumable)
		buf_printf(
			out, "id: %u-%u-%s\n", stream->number, number, stream->request);
	buf_add_str(out, STR_LIT("event: message\ndata: "));
	at = out->len;
	buf_add_str(out, json);
	for (; at < out->len; at++)
		if (out->data[at] == '\n' || out->data[at] == '\r')
			out->data[at] = ' ';
	buf_add_str(out, STR_LIT("\n\n"));
}

static void drop_oldest(struct mcp_stream *stream)
{
	struct mcp_event *event = TAILQ_FIRST(&stream->kept);

	TAILQ_REMOVE(&stream->kept, event, link);
	stream->kept_bytes -= event->len;
	stream->kept_count--;
	free(event);
}

static void keep(struct mcp_stream *stream, uint32_t number, struct str text)
{
	struct mcp_event *event = xmalloc(sizeof(*event) + text.len);

	event->number = number;
	event->len = text.len;
	memcpy(event->text, text.ptr, text.len);
	TAILQ_INSERT_TAIL(&stream->kept, event, link);
	stream->kept_bytes += text.len;
	stream->kept_count++;
	while (stream->kept_count > 1 &&
		(stream->kept_count > KEEP_EVENTS || stream->kept_bytes > KEEP_BYTES))
		drop_oldest(stream);
}

void mcp_stream_send(struct mcp_stream *stream, struct str json)
{
	AUTO_BUF text = {0};

	format_event(stream, ++stream->last_event, json, &text);
	if (stream->resumable)
		keep(stream, stream->last_event, buf_str(&text));
	write_text(stream, buf_str(&text));
}

static void send_comment(struct mcp_stream *stream)
{
	write_text(stream, STR_LIT(": still here\n\n"));
}

/* ---- the connection ---- */

static void end_reply(struct mcp_stream *stream)
{
	struct evhttp_request *ev = stream->ev;
	struct http_conn *conn = stream->conn;

	if (!ev)
		return;
	stream->ev = NULL;
	stream->conn = NULL;
	if (conn)
		conn->on_close = NULL;
	stream->server->metrics->mcp_streams--;
	evhttp_send_reply_end(ev);
	if (conn)
		http_conn_handed_over(conn);
}

static void stream_free(struct mcp_stream *stream)
{
	end_reply(stream);
	while (!TAILQ_EMPTY(&stream->kept))
		drop_oldest(stream);
	if (stream->session)
		LIST_REMOVE(stream, of_session);
	LIST_REMOVE(stream, of_server);
	free(stream);
}

/* Within evhttp's freeing of the connection: the request is ours alone now. */
static void on_closed(void *arg)
{
	struct mcp_stream *stream = arg;

	stream->conn = NULL;
	end_reply(stream);
	stream->written_at = clock_mono();
	if (stream->on_cut)
		stream->on_cut(stream->on_cut_arg); /* may free the stream */
	else if (!stream->resumable && stream->number == 0)
		stream_free(stream);
}

static void start_reply(
	struct mcp_stream *stream, struct evhttp_request *ev, struct http_conn *conn)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(ev);

	stream->ev = ev;
	stream->conn = conn;
	stream->server->metrics->mcp_streams++;
	if (conn)
		http_conn_begin_streaming(conn, on_closed, stream);
	evhttp_add_header(headers, "Content-Type", "text/event-stream");
	evhttp_add_header(headers, "Cache-Control", "no-cache");
	evhttp_add_header(headers, "X-Accel-Buffering", "no");
	http_count_answer(conn ? conn->path : NULL, 200);
	evhttp_send_reply_start(ev, 200, "OK");
}

/* Names the stream before its first message, so that it can be resumed from the start.
 * Only newer clients can read an event without data. */
static void prime(struct mcp_stream *stream)
{
	AUTO_BUF text = {0};

	if (!stream->resumable) {
		send_comment(stream);
		return;
	}
	buf_printf(&text, "id: %u-%u-%s\nretry: %d\ndata: \n\n", stream->number,
		stream->last_event, stream->request, RETRY_MS);
	write_text(stream, buf_str(&text));
}

static struct mcp_stream *stream_new(
	struct mcp_server *server, struct mcp_session *session, uint32_t number)
{
	struct mcp_stream *stream = xcalloc(1, sizeof(*stream));

	stream->server = server;
	stream->session = session;
	stream->number = number;
	stream->resumable = session && session->version == MCP_2025_11_25;
	TAILQ_INIT(&stream->kept);
	LIST_INSERT_HEAD(&server->streams, stream, of_server);
	if (session)
		LIST_INSERT_HEAD(&session->streams, stream, of_session);
	mcp_server_wake(server);
	return stream;
}

/* The streams of a session that wait to be resumed are bounded: the oldest that has ended
 * goes. */
static void make_room(struct mcp_session *session)
{
	struct mcp_stream *stream, *oldest = NULL;
	size_t n = 0;

	LIST_FOREACH(stream, &session->streams, of_session)
	{
		n++;
		if (stream->finished && (!oldest || stream->number < oldest->number))
			oldest = stream;
	}
	if (n >= KEEP_STREAMS && oldest)
		stream_free(oldest);
}

/* What tells a session from others: the end of its id, of TAG_CHARS hexadecimal digits.
 */
static void print_tag(const struct mcp_session *session, char tag[TAG_CHARS + 1])
{
	char id[MCP_SESSION_ID_SIZE];

	mcp_session_id_print(session->id, id);
	memcpy(tag, id + strlen(id) - TAG_CHARS, TAG_CHARS + 1);
}

static void note_request(struct mcp_stream *stream, struct str request)
{
	if (!stream->session || !request.ptr ||
		TAG_CHARS + 2 * request.len >= sizeof(stream->request))
		return;
	print_tag(stream->session, stream->request);
	hex_print(stream->request + TAG_CHARS, request.ptr, request.len);
}

struct mcp_stream *mcp_stream_open(struct mcp_server *server, struct mcp_session *session,
	uint32_t number, struct str request, struct evhttp_request *ev,
	struct http_conn *conn)
{
	struct mcp_stream *stream;

	if (session)
		make_room(session);
	stream = stream_new(server, session, number);
	note_request(stream, request);
	start_reply(stream, ev, conn);
	prime(stream);
	return stream;
}

/* ---- resuming ---- */

/* What an event's id says: "<stream>-<event>-<request>". */
struct event_id {
	unsigned stream, event;
	char request[MCP_STREAM_REQUEST_SIZE];
};

static bool read_event_id(struct str id, struct event_id *out)
{
	char text[32 + MCP_STREAM_REQUEST_SIZE];
	int end = 0;

	*out = (struct event_id){0};
	if (!id.ptr || id.len >= sizeof(text))
		return false;
	memcpy(text, id.ptr, id.len);
	text[id.len] = '\0';
	if (sscanf(text, "%u-%u-%n%128[0-9a-f]%n", &out->stream, &out->event, &end,
		    out->request, &end) < 2)
		return false;
	return end > 0 && (size_t)end == id.len;
}

static struct mcp_stream *find(struct mcp_session *session, uint32_t number)
{
	struct mcp_stream *stream;

	LIST_FOREACH(stream, &session->streams, of_session)
	if (stream->number == number)
		return stream;
	return NULL;
}

/* The stream goes on on another connection, behind an event. */
static void move(struct mcp_stream *stream, uint32_t event, struct evhttp_request *ev,
	struct http_conn *conn)
{
	struct mcp_event *kept;

	end_reply(stream);
	start_reply(stream, ev, conn);
	prime(stream);
	TAILQ_FOREACH(kept, &stream->kept, link)
	if (kept->number > event)
		write_text(stream, (struct str){kept->text, kept->len});
	if (stream->finished)
		end_reply(stream);
}

/* The stream of a call that this process does not know: it ended with an earlier one. */
static void answer_lost(struct mcp_server *server, struct mcp_session *session,
	const struct event_id *id, struct evhttp_request *ev, struct http_conn *conn)
{
	const char *result = server->service->lost_result;
	struct mcp_stream *stream;
	AUTO_BUF request = {0}, message = {0};

	for (const char *hex = id->request + TAG_CHARS; hex[0] && hex[1]; hex += 2) {
		char pair[3] = {hex[0], hex[1], '\0'};

		buf_add_char(&request, (char)strtoul(pair, NULL, 16));
	}
	stream = mcp_stream_open(
		server, session, ++session->last_stream, buf_str(&request), ev, conn);
	buf_printf(&message, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,",
		STR_ARG(buf_str(&request)));
	if (result)
		buf_printf(&message, "\"result\":%s}", result);
	else
		buf_printf(&message,
			"\"error\":{\"code\":%d,\"message\":\"The server was restarted "
			"while this call was under way\"}}",
			MCP_INTERNAL_ERROR);
	mcp_stream_send(stream, buf_str(&message));
	mcp_stream_finish(stream);
}

bool mcp_stream_resume(struct mcp_server *server, struct mcp_session *session,
	struct str last_event_id, struct evhttp_request *ev, struct http_conn *conn)
{
	char tag[TAG_CHARS + 1];
	struct event_id id;
	struct mcp_stream *stream;

	if (!read_event_id(last_event_id, &id))
		return false;
	print_tag(session, tag);
	stream = find(session, id.stream);
	/* Another process may have given the number to another request. */
	if (stream && stream->resumable && strcmp(stream->request, id.request) == 0)
		move(stream, id.event, ev, conn);
	else if (id.stream > 0 && strncmp(id.request, tag, TAG_CHARS) == 0)
		answer_lost(server, session, &id, ev, conn);
	else
		return false;
	return true;
}

void mcp_stream_listen(struct mcp_server *server, struct mcp_session *session,
	struct evhttp_request *ev, struct http_conn *conn)
{
	struct mcp_stream *stream = find(session, 0);

	if (stream)
		move(stream, stream->last_event, ev, conn);
	else
		mcp_stream_open(server, session, 0, (struct str){NULL, 0}, ev, conn);
}

/* ---- ending ---- */

void mcp_stream_break_off(struct mcp_stream *stream)
{
	if (!stream->resumable)
		return;
	stream->written_at = clock_mono();
	end_reply(stream);
}

void mcp_stream_finish(struct mcp_stream *stream)
{
	stream->on_cut = NULL;
	stream->finished = true;
	stream->written_at = clock_mono();
	end_reply(stream);
	if (!stream->resumable)
		stream_free(stream);
}

void mcp_stream_drop(struct mcp_stream *stream)
{
	stream->on_cut = NULL;
	stream_free(stream);
}

void mcp_streams_end(struct mcp_session *session)
{
	struct mcp_stream *stream;

	while ((stream = LIST_FIRST(&session->streams)))
		mcp_stream_drop(stream);
}

void mcp_stream_tick(struct mcp_stream *stream, struct mono now)
{
	int64_t silent_ms = mono_diff_ms(now, stream->written_at);

	if (stream->ev && silent_ms >= MCP_HEARTBEAT_MS - MCP_TICK_MS / 2)
		send_comment(stream);
	else if (!stream->ev && silent_ms >= KEEP_MS &&
		 (stream->finished || stream->number == 0))
		stream_free(stream);
}
