/* http_conn.c - see http_conn.h. */
#include "workers/gateway/http/http_conn.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "workers/gateway/http/sockdiag.h"
#include <errno.h>
#include <event2/buffer.h>
#include <event2/listener.h>
#include <malloc.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define SWEEP_SECONDS 5
/* Requests and answers that held so much together leave memory behind that is given back. */
#define TIDY_BYTES (16u * 1024 * 1024)
#define RELIEF_MS 250
#define MAX_LISTENERS 8
#define READ_BYTES (256 * 1024)
/* Between two looks at the clients that have ended their side. */
#define HALF_CLOSED_MS 250

struct http_conns {
	struct event_base *base;
	int limit;
	struct http_conn **by_fd; /* `limit` + 1 places */
	void (*on_head)(void *arg, struct http_conn *conn);
	void *on_head_arg;
	int diag_fd;
	const struct access_policy *policy;
	LIST_HEAD(, http_conn) all;
	TAILQ_HEAD(, http_conn) arrived;
	struct event *arrival;		   /* of those */
	TAILQ_HEAD(, http_conn) strangers; /* the oldest first */
	size_t stranger_count;
	size_t stranger_held;
	TAILQ_HEAD(, http_conn)
	unread_by;     /* who has read nothing for the longest time first */
	size_t unread; /* of all connections */
	size_t cut_readers, cut_bytes; /* since the last look */
	struct event *sweep;
	struct event *half_closed; /* pending while there is such a client */
	struct event *relief;
	bool paused;
	bool stopping; /* connections end with the answer that is under way */
	struct evconnlistener *listeners[MAX_LISTENERS];
	size_t listener_count;
	size_t held;	  /* of all connections */
	size_t held_most; /* with unread, since memory was last given back */
	uint64_t *connections;
	uint64_t *slow;
};

/* Static: there is one server in a process, and an evbuffer callback has one argument,
 * the bufferevent. */
static struct http_conns *the_conns;

/* The request is gone from memory. */
static void drop_conn(struct http_conns *conns, struct http_conn *conn)
{
	conns->held -= conn->held;
	if (conn->stranger)
		conns->stranger_held -= conn->held;
	conn->held = 0;
}

static void note_most(struct http_conns *conns)
{
	if (conns->held + conns->unread > conns->held_most)
		conns->held_most = conns->held + conns->unread;
}

static void hold(struct http_conns *conns, struct http_conn *conn, size_t bytes)
{
	conn->held += bytes;
	conns->held += bytes;
	note_most(conns);
	if (conn->stranger)
		conns->stranger_held += bytes;
}

static void cut(struct http_conns *conns, struct http_conn *conn)
{
	if (!conn->refused)
		++*conns->slow;
	conn->reading = false;
	conn->serving = true; /* whatever still comes is not looked at */
	drop_conn(conns, conn);
	shutdown(conn->fd, SHUT_RDWR);
}

static bool overdue(const struct http_conn *conn)
{
	int64_t ms = mono_diff_ms(clock_mono(), conn->reading_since);

	if (conn->refused)
		return ms > HTTP_REFUSED_MS;
	if (conn->stranger && !conn->serving && ms > HTTP_STRANGER_DEADLINE_MS)
		return true;
	return conn->reading && ms > HTTP_REQUEST_DEADLINE_MS;
}

/* The allocator would keep what many large requests and answers took. */
static void tidy(struct http_conns *conns)
{
	const size_t now = conns->held + conns->unread;

	if (conns->held_most < TIDY_BYTES || now > conns->held_most / 4)
		return;
	conns->held_most = now;
	malloc_trim(0);
}

static void cut_unread(struct http_conns *conns);
static void tell_cut_readers(struct http_conns *conns);

static void on_sweep(EVENT_UNUSED, void *arg)
{
	struct http_conns *conns = arg;
	struct http_conn *conn;

	LIST_FOREACH(conn, &conns->all, link)
	if (overdue(conn))
		cut(conns, conn);
	cut_unread(conns);
	tell_cut_readers(conns);
	tidy(conns);
	if (LIST_EMPTY(&conns->all))
		event_del(conns->sweep);
}

/* The lowest free descriptor tells how many are in use, without counting anything. */
static bool exhausted(const struct http_conns *conns)
{
	int probe = dup(STDERR_FILENO);

	if (probe < 0)
		return true;
	close(probe);
	return probe >= conns->limit;
}

static void set_paused(struct http_conns *conns, bool paused)
{
	conns->paused = paused;
	for (size_t i = 0; i < conns->listener_count; i++) {
		if (paused)
			evconnlistener_disable(conns->listeners[i]);
		else
			evconnlistener_enable(conns->listeners[i]);
	}
}

static void on_relief(EVENT_UNUSED, void *arg)
{
	struct http_conns *conns = arg;

	if (exhausted(conns))
		return;
	event_del(conns->relief);
	set_paused(conns, false);
	log_info("accepting connections again", NULL);
}

static void pause_accepting(struct http_conns *conns)
{
	if (conns->paused)
		return;
	log_warn(
		"too many connections; new ones wait", "limit", "%d", conns->limit, NULL);
	set_paused(conns, true);
	event_add_ms(conns->relief, RELIEF_MS);
}

/* ---- answers that are not read ---- */

/* So many bytes of the answer are left. Its body lies in one piece, which is there as a whole
 * until the last byte is gone. */
static void note_unread(struct http_conns *conns, struct http_conn *conn, size_t left)
{
	const size_t size = left > 0 && left < conn->unread ? conn->unread : left;

	if (conn->unread > 0)
		TAILQ_REMOVE(&conns->unread_by, conn, unread_link);
	if (size > 0)
		TAILQ_INSERT_TAIL(&conns->unread_by, conn, unread_link);
	conns->unread += size;
	conns->unread -= conn->unread;
	conn->unread = size;
	conn->unread_since = clock_mono();
	note_most(conns);
}

static void forget(struct http_conns *conns, struct http_conn *conn)
{
	http_conn_prove(conns, conn);
	drop_conn(conns, conn);
	note_unread(conns, conn, 0);
	event_free(conn->watch);
	http_head_free(&conn->head);
	conns->by_fd[conn->fd] = NULL;
	LIST_REMOVE(conn, link);
	--*conns->connections;
	free(conn);
}

static void on_connection_closed(struct evhttp_connection *ev, void *arg)
{
	struct http_conns *conns = arg;
	int fd = bufferevent_getfd(evhttp_connection_get_bufferevent(ev));
	struct http_conn *conn = fd >= 0 && fd <= conns->limit ? conns->by_fd[fd] : NULL;

	if (!conn)
		return;
	if (conn->on_close)
		conn->on_close(conn->on_close_arg);
	forget(conns, conn);
}

static void ask_peer(const struct http_conns *conns, struct http_conn *conn)
{
	struct sockaddr_storage peer = {0};
	socklen_t len = sizeof(peer);

	conn->peer.loopback =
		getpeername(conn->fd, (struct sockaddr *)&peer, &len) == 0 &&
		sockdiag_is_loopback(&peer);
	conn->peer.address = sockdiag_address(&peer);
	conn->peer.uid_known =
		conn->peer.loopback &&
		sockdiag_peer_uid(conns->diag_fd, conn->fd, &conn->peer.uid) == 0;
}

/* ---- strangers ---- */

/* Nothing is left of the connection, in the kernel neither. */
static void turn_away(struct http_conns *conns, struct http_conn *conn)
{
	const struct linger at_once = {.l_onoff = 1};

	(void)setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	http_conn_prove(conns, conn);
	conn->refused = true;
	cut(conns, conn);
}

static void cut_reader(struct http_conns *conns, struct http_conn *conn)
{
	conns->cut_readers++;
	conns->cut_bytes += conn->unread;
	++*conns->slow;
	note_unread(conns, conn, 0);
	turn_away(conns, conn);
}

/* Anybody can make us cut many, so they are logged together. */
static void tell_cut_readers(struct http_conns *conns)
{
	if (conns->cut_readers == 0)
		return;
	log_warn("clients that did not read their answers were disconnected", "clients",
		"%zu", conns->cut_readers, "bytes", "%zu", conns->cut_bytes, NULL);
	conns->cut_readers = conns->cut_bytes = 0;
}

/* Those who have read nothing for too long. */
static void cut_unread(struct http_conns *conns)
{
	const struct mono now = clock_mono();
	struct http_conn *conn;

	while ((conn = TAILQ_FIRST(&conns->unread_by)) &&
		mono_diff_ms(now, conn->unread_since) > HTTP_UNREAD_SECONDS * 1000)
		cut_reader(conns, conn);
}

/* An answer was added, or the kernel has taken some of it. A stream has bounds of its own. */
static void on_output(
	struct evbuffer *output, const struct evbuffer_cb_info *info, void *arg)
{
	struct http_conns *conns = the_conns;
	struct bufferevent *bev = arg;
	int fd = bufferevent_getfd(bev);
	struct http_conn *conn;

	(void)info;
	if (!conns || fd < 0 || fd > conns->limit)
		return;
	conn = conns->by_fd[fd];
	if (!conn || conn->refused)
		return;
	note_unread(conns, conn, conn->streaming ? 0 : evbuffer_get_length(output));
	while (conns->unread > HTTP_MAX_UNREAD_BYTES &&
		TAILQ_FIRST(&conns->unread_by) != conn)
		cut_reader(conns, TAILQ_FIRST(&conns->unread_by));
}

/* The one that came first goes, unless it is being answered. */
static void make_room(struct http_conns *conns)
{
	struct http_conn *conn;

	TAILQ_FOREACH(conn, &conns->strangers, stranger_link)
	if (!conn->serving) {
		turn_away(conns, conn);
		return;
	}
}

static void note_stranger(struct http_conns *conns, struct http_conn *conn)
{
	conn->stranger = true;
	conns->stranger_count++;
	TAILQ_INSERT_TAIL(&conns->strangers, conn, stranger_link);
	if (conns->stranger_count > HTTP_MAX_STRANGERS)
		make_room(conns);
}

void http_conn_prove(struct http_conns *conns, struct http_conn *conn)
{
	if (!conn->stranger)
		return;
	conns->stranger_held -= conn->held;
	conns->stranger_count--;
	TAILQ_REMOVE(&conns->strangers, conn, stranger_link);
	conn->stranger = false;
}

/* ---- the life of a connection ---- */

/* The client waits for the rest, as far as the kernel of this machine knows. */
static bool still_waits(const struct http_conns *conns, const struct http_conn *conn)
{
	uid_t uid;

	return conn->peer.loopback &&
	       sockdiag_peer_uid(conns->diag_fd, conn->fd, &uid) == 0;
}

static void let_evhttp_see_the_end(struct http_conn *conn)
{
	conn->half_closed = false;
	conn->gone = true;
	bufferevent_enable(evhttp_connection_get_bufferevent(conn->ev), EV_READ);
}

/* Something came while a stream is being sent: more requests, or an end. */
static void look_for_end(struct http_conns *conns, struct http_conn *conn)
{
	char c;
	ssize_t n = recv(conn->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n > 0)
		return;
	if (n < 0 && errno == EAGAIN) {
		event_add(conn->watch, NULL);
	} else if (n == 0 && still_waits(conns, conn)) {
		conn->half_closed = true;
		event_add_ms(conns->half_closed, HALF_CLOSED_MS);
	} else {
		let_evhttp_see_the_end(conn);
	}
}

static void on_half_closed(EVENT_UNUSED, void *arg)
{
	struct http_conns *conns = arg;
	struct http_conn *conn;
	bool any = false;

	LIST_FOREACH(conn, &conns->all, link)
	{
		if (conn->half_closed && !still_waits(conns, conn))
			let_evhttp_see_the_end(conn);
		any |= conn->half_closed;
	}
	if (!any)
		event_del(conns->half_closed);
}

/*
 * evhttp stops to read while it has a request, and each time epoll would have to be told
 * twice. An event beside evhttp's keeps the descriptor watched, until something comes
 * while nothing is read.
 */
static void on_watched(EVENT_UNUSED, void *arg)
{
	struct http_conn *conn = arg;

	if (conn->serving && !conn->served_now) {
		event_del(conn->watch);
		if (conn->streaming)
			look_for_end(the_conns, conn);
	}
	conn->served_now = false;
}

/* False when it is none of ours. */
static bool attach(struct http_conns *conns, struct http_conn *conn)
{
	void *ev = NULL;

	bufferevent_getcb(conn->arrived, NULL, NULL, NULL, &ev);
	conn->ev = ev;
	conn->fd = bufferevent_getfd(conn->arrived);
	if (!ev || conn->fd < 0 || conn->fd > conns->limit)
		return false;
	conn->watch =
		event_new(conns->base, conn->fd, EV_READ | EV_PERSIST, on_watched, conn);
	if (!conn->watch || event_add(conn->watch, NULL) < 0)
		abort();
	evhttp_connection_set_closecb(ev, on_connection_closed, conns);
	if (LIST_EMPTY(&conns->all))
		event_add_ms(conns->sweep, SWEEP_SECONDS * 1000);
	LIST_INSERT_HEAD(&conns->all, conn, link);
	conns->by_fd[conn->fd] = conn;
	++*conns->connections;
	conn->reading_since = clock_mono();
	ask_peer(conns, conn);
	if (!access_trusts_peer(conns->policy, &conn->peer) &&
		!access_is_proxy(conns->policy, &conn->peer))
		note_stranger(conns, conn);
	return true;
}

/*
 * evhttp tells nobody of a new connection. Its descriptor and the connection, which is
 * the argument of the callbacks of its bufferevent, are there once it has been accepted:
 * later in the same turn, before anything is read.
 */
static void on_arrival(EVENT_UNUSED, void *arg)
{
	struct http_conns *conns = arg;
	struct http_conn *conn;

	while ((conn = TAILQ_FIRST(&conns->arrived))) {
		struct bufferevent *bev = conn->arrived;

		TAILQ_REMOVE(&conns->arrived, conn, arrived_link);
		if (!attach(conns, conn))
			free(conn);
		else
			conn->arrived = NULL;
		bufferevent_decref(bev);
	}
}

/* ---- what evhttp is about to see ---- */

static void answer_fault(const struct http_conn *conn)
{
	AUTO_BUF body = {0}, out = {0};

	buf_add_str(&body, STR_LIT("{\"error\":"));
	buf_add_json_string(&body, str_of(conn->head.reason));
	buf_add_char(&body, '}');
	buf_printf(&out,
		"HTTP/1.1 %d Refused\r\nContent-Type: application/json\r\n"
		"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
		"Content-Length: %zu\r\nConnection: close\r\n\r\n%.*s",
		conn->head.status, body.len, STR_ARG(buf_str(&body)));
	/* Nothing else is being sent; what the kernel does not take is lost. */
	(void)!send(conn->fd, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* The client is told, and evhttp sees neither the rest of this request nor another one.
 */
static void refuse(
	struct http_conns *conns, struct http_conn *conn, struct evbuffer *input)
{
	if (http_conn_queued(conn) == 0)
		answer_fault(conn);
	evbuffer_drain(input, evbuffer_get_length(input));
	shutdown(conn->fd, SHUT_WR);
	drop_conn(conns, conn);
	conn->refused = true;
	conn->reading = false;
	conn->reading_since = clock_mono();
}

/* Looks at what lies in `input` from `from` on, up to the end of the request. */
static void look(struct http_conns *conns, struct http_conn *conn, struct evbuffer *input,
	size_t from)
{
	struct http_head *h = &conn->head;
	size_t len = evbuffer_get_length(input);

	while (from < len && h->state != HTTP_HEAD_DONE && h->state != HTTP_HEAD_FAULTY) {
		struct evbuffer_iovec piece;
		struct evbuffer_ptr at;
		bool was_complete = h->complete;

		if (evbuffer_ptr_set(input, &at, from, EVBUFFER_PTR_SET) < 0 ||
			evbuffer_peek(input, -1, &at, &piece, 1) < 1)
			break;
		from += http_head_take(
			h, piece.iov_base, piece.iov_len, HTTP_MAX_BODY_BYTES);
		if (h->complete && !was_complete && h->state != HTTP_HEAD_FAULTY &&
			conns->on_head)
			conns->on_head(conns->on_head_arg, conn);
	}
	if (h->state == HTTP_HEAD_FAULTY)
		refuse(conns, conn, input);
}

static void look_at_new(struct http_conns *conns, struct http_conn *conn,
	struct evbuffer *input, const struct evbuffer_cb_info *info)
{
	/* A long body is not walked through. */
	if (conn->head.state == HTTP_HEAD_BODY)
		http_head_take(&conn->head, NULL, info->n_added, HTTP_MAX_BODY_BYTES);
	else
		look(conns, conn, input, info->orig_size);
}

static void on_input(
	struct evbuffer *input, const struct evbuffer_cb_info *info, void *arg)
{
	struct http_conns *conns = the_conns;
	struct bufferevent *bev = arg;
	int fd = bufferevent_getfd(bev);
	struct http_conn *conn;

	if (info->n_added == 0 || !conns || fd < 0 || fd > conns->limit)
		return;
	conn = conns->by_fd[fd];
	if (conn && conn->refused)
		evbuffer_drain(input, evbuffer_get_length(input));
	if (!conn || conn->serving || conn->refused)
		return;
	hold(conns, conn, info->n_added);
	if (!conn->reading) {
		conn->reading = true;
		if (!conn->stranger)
			conn->reading_since = clock_mono();
	} else if (overdue(conn) || conns->held > HTTP_MAX_HELD_BYTES ||
		   (conn->stranger && conns->stranger_held > HTTP_MAX_STRANGER_BYTES)) {
		cut(conns, conn);
		return;
	}
	look_at_new(conns, conn, input, info);
}

void http_conns_on_head(struct http_conns *conns,
	void (*on_head)(void *arg, struct http_conn *conn), void *arg)
{
	conns->on_head = on_head;
	conns->on_head_arg = arg;
}

struct bufferevent *http_conns_make_bufferevent(struct event_base *base, void *arg)
{
	struct http_conns *conns = arg;
	struct bufferevent *bev =
		alloc_checked(bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE));
	struct http_conn *conn = xcalloc(1, sizeof(*conn));

	if (exhausted(conns))
		pause_accepting(conns);
	bufferevent_incref(bev);
	conn->arrived = bev;
	TAILQ_INSERT_TAIL(&conns->arrived, conn, arrived_link);
	event_active(conns->arrival, EV_TIMEOUT, 0);
	bufferevent_set_max_single_read(bev, READ_BYTES);
	bufferevent_set_max_single_write(bev, READ_BYTES);
	evbuffer_add_cb(bufferevent_get_input(bev), on_input, bev);
	evbuffer_add_cb(bufferevent_get_output(bev), on_output, bev);
	return bev;
}

struct http_conn *http_conns_of(struct evhttp_request *request)
{
	struct evhttp_connection *ev = evhttp_request_get_connection(request);
	int fd;

	if (!ev || !the_conns)
		return NULL;
	fd = bufferevent_getfd(evhttp_connection_get_bufferevent(ev));
	return fd >= 0 && fd <= the_conns->limit ? the_conns->by_fd[fd] : NULL;
}

static void set_streaming(struct http_conn *conn, bool streaming)
{
	const struct timeval idle = {.tv_sec = HTTP_IDLE_SECONDS};
	const struct timeval stall = {.tv_sec = HTTP_STALL_SECONDS};

	struct bufferevent *bev = evhttp_connection_get_bufferevent(conn->ev);

	conn->streaming = streaming;
	if (streaming) {
		event_add(conn->watch, NULL);
		note_unread(the_conns, conn, 0);
	}
	bufferevent_set_timeouts(
		bev, streaming ? NULL : &idle, streaming ? &stall : &idle);
}

/* evhttp closes the connection behind this answer. */
static bool is_last(struct evhttp_request *request)
{
	const char *asked = evhttp_find_header(
		evhttp_request_get_input_headers(request), "Connection");
	const char *said = evhttp_find_header(
		evhttp_request_get_output_headers(request), "Connection");

	return (asked && strcasecmp(asked, "close") == 0) ||
	       (said && strcasecmp(said, "close") == 0);
}

static void on_answered(struct evhttp_request *request, void *arg)
{
	struct http_conn *conn = http_conns_of(request);
	struct evbuffer *input;

	if (!conn || conn->refused)
		return;
	input = bufferevent_get_input(evhttp_connection_get_bufferevent(conn->ev));
	conn->serving = conn->half_closed = false;
	event_add(conn->watch, NULL);
	conn->on_close = NULL;
	if (conn->streaming)
		set_streaming(conn, false);
	drop_conn(arg, conn);
	conn->reading = evbuffer_get_length(input) > 0;
	conn->reading_since = clock_mono();
	http_head_restart(&conn->head);
	if (is_last(request))
		evbuffer_drain(input, evbuffer_get_length(input));
	else
		look(arg, conn, input, 0);
	if (the_conns->stopping)
		http_conn_cut(conn);
}

void http_conn_begin_serving(struct http_conn *conn, struct evhttp_request *request)
{
	conn->reading = false;
	conn->serving = conn->served_now = true;
	evhttp_request_set_on_complete_cb(request, on_answered, the_conns);
}

void http_conn_begin_streaming(
	struct http_conn *conn, void (*on_close)(void *arg), void *arg)
{
	conn->on_close = on_close;
	conn->on_close_arg = arg;
	if (!conn->streaming)
		set_streaming(conn, true);
}

/* evhttp would take the end of the client's side for the end of the connection, and what
 * is being sent would be lost. */
void http_conn_handed_over(struct http_conn *conn)
{
	if (!conn->gone)
		bufferevent_disable(evhttp_connection_get_bufferevent(conn->ev), EV_READ);
}

size_t http_conn_queued(const struct http_conn *conn)
{
	return evbuffer_get_length(
		bufferevent_get_output(evhttp_connection_get_bufferevent(conn->ev)));
}

void http_conn_cut(struct http_conn *conn)
{
	shutdown(conn->fd, SHUT_RDWR);
}

/* evhttp shuts down the descriptor it knows when it frees the connection. */
int http_conn_take_socket(struct http_conns *conns, struct http_conn *conn,
	struct evhttp_connection **remains)
{
	int fd = conn->fd;

	*remains = conn->ev;
	forget(conns, conn);
	bufferevent_setfd(evhttp_connection_get_bufferevent(*remains), -1);
	return fd;
}

void http_conns_add_listener(struct http_conns *conns, struct evconnlistener *listener)
{
	if (conns->listener_count < MAX_LISTENERS)
		conns->listeners[conns->listener_count++] = listener;
}

void http_conns_stop_accepting(struct http_conns *conns)
{
	struct http_conn *conn;

	set_paused(conns, true);
	event_del(conns->relief);
	conns->listener_count = 0;
	conns->stopping = true;
	LIST_FOREACH(conn, &conns->all, link)
	if (!conn->serving && !conn->reading)
		http_conn_cut(conn);
}

struct http_conns *http_conns_new(struct event_base *base, int limit, int diag_fd,
	const struct access_policy *policy, uint64_t *connections, uint64_t *slow)
{
	struct http_conns *conns = xcalloc(1, sizeof(*conns));

	*conns = (struct http_conns){
		.base = base,
		.limit = limit,
		.diag_fd = diag_fd,
		.policy = policy,
		.by_fd = xcalloc((size_t)limit + 1, sizeof(struct http_conn *)),
		.sweep = alloc_checked(event_new(base, -1, EV_PERSIST, on_sweep, conns)),
		.relief =
			alloc_checked(event_new(base, -1, EV_PERSIST, on_relief, conns)),
		.half_closed = alloc_checked(
			event_new(base, -1, EV_PERSIST, on_half_closed, conns)),
		.arrival = alloc_checked(event_new(base, -1, 0, on_arrival, conns)),
		.connections = connections,
		.slow = slow,
	};
	LIST_INIT(&conns->all);
	TAILQ_INIT(&conns->arrived);
	TAILQ_INIT(&conns->strangers);
	TAILQ_INIT(&conns->unread_by);
	the_conns = conns;
	return conns;
}
