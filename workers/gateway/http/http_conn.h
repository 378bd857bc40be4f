/*
 * http_conn.h - the state of each HTTP connection beside evhttp's own: how long the request
 * in progress has taken, who owns the other end (asked when it is accepted), and the
 * callback for its end.
 *
 * A request that is faulty or refused by its header is answered here and evhttp never
 * sees the end of it; the connection is closed.
 *
 * Called by http.c and by the parts that stream. evhttp bounds what a request may hold
 * but not how long it may take, and accepts without limit; both are done here. Must never
 * free a connection itself: it shuts the socket down and lets evhttp notice.
 */
#pragma once

#include "common/base/clock.h"
#include "proto/codec/codec.h"
#include "workers/gateway/http/access.h"
#include "workers/gateway/http/http_head.h"
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <stdbool.h>
#include <sys/queue.h>

/* From the first byte of a request to its last. */
#define HTTP_REQUEST_DEADLINE_MS 30000
/* Between two bytes of a request, and between two requests of a connection. */
#define HTTP_IDLE_SECONDS 120
/* How long a client of a stream may not read. */
#define HTTP_STALL_SECONDS 60
/* Bytes of all requests together that are being received or answered: who may connect is
 * judged when a request is complete, and until then anybody may send one. */
#define HTTP_MAX_HELD_BYTES (128u * 1024 * 1024)
/* Bytes of all plain answers together that the kernel has not taken as a whole, because their
 * clients do not read; above it the client goes that has read nothing for the longest time.
 * evhttp answers the next request of a connection after that, so each has one answer. What
 * comes over the bus and is no answer here yet is not in it: see BUS_MAX_REPLIES. */
#define HTTP_MAX_UNREAD_BYTES (64u * 1024 * 1024)
/* How long a client may read nothing of an answer that waits for it. */
#define HTTP_UNREAD_SECONDS 20

struct http_conn {
	LIST_ENTRY(http_conn) link;
	TAILQ_ENTRY(http_conn) arrived_link;
	struct bufferevent *arrived;  /* accepted in this turn, not looked at yet; held */
	struct evhttp_connection *ev; /* evhttp's */
	int fd;
	bool reading;	 /* a request has begun and is not complete */
	bool serving;	 /* a request is complete and not answered */
	bool served_now; /* and was completed by bytes that on_watched has not seen yet */
	bool half_closed; /* the client has ended its side and waits for the answer */
	bool gone;	  /* the client has gone while it was being sent a stream */
	bool streaming;	  /* its answer is a stream */
	const char *path; /* of the route that serves it, for metrics; NULL: none */
	struct mono reading_since;
	size_t held;   /* bytes of the request that is being received or answered */
	size_t unread; /* bytes of a plain answer of which the kernel has not taken all */
	struct mono unread_since;	    /* the kernel took some, or the answer came */
	TAILQ_ENTRY(http_conn) unread_link; /* while there are such bytes */
	struct event *watch;		    /* see on_watched */
	struct http_head head;		    /* of the request that is being received */
	bool refused; /* answered already, and nothing more is read of it */
	struct access_peer peer;
	bool stranger; /* nothing proves yet that it may connect */
	TAILQ_ENTRY(http_conn) stranger_link;
	void (*on_close)(void *arg); /* called once, while evhttp frees the connection */
	void *on_close_arg;
};

struct http_conns;

/*
 * Strangers are connections of which neither the kernel nor a token has proved that they
 * may be there. They have a share of their own, so that they cannot take the place of
 * those who may: when there are too many the one that came first makes room.
 */
#define HTTP_MAX_STRANGERS 64
#define HTTP_MAX_STRANGER_BYTES (16u * 1024 * 1024)
/* From accepting, or from an answer, to the end of a request. */
#define HTTP_STRANGER_DEADLINE_MS 10000
/* Time for a client to read why it was refused, before the connection is cut. */
#define HTTP_REFUSED_MS 2000
#define HTTP_MAX_BODY_BYTES PROTO_MAX_MESSAGE_BYTES

/* At most `limit` descriptors of this process are used before accepting pauses.
 * `diag_fd` is that of sockdiag.h, `policy` tells who is no stranger, both borrowed.
 * `connections` and `slow` are counters to keep. */
struct http_conns *http_conns_new(struct event_base *base, int limit, int diag_fd,
	const struct access_policy *policy, uint64_t *connections, uint64_t *slow);

/* Called with each complete header, before its body comes; it may refuse it
 * (http_head_refuse). */
void http_conns_on_head(struct http_conns *conns,
	void (*on_head)(void *arg, struct http_conn *conn), void *arg);

/* For evhttp_set_bevcb; `arg` is the struct http_conns. */
struct bufferevent *http_conns_make_bufferevent(struct event_base *base, void *arg);

/* A listener to pause while too much is open. */
void http_conns_add_listener(struct http_conns *conns, struct evconnlistener *listener);
/* Final: the listeners are not used again. Connections kept open for another request
 * end, at once or after the answer under way, so that their clients reconnect to the
 * next process. */
void http_conns_stop_accepting(struct http_conns *conns);

/* The connection of a request that is being handled. NULL once the client is gone. */
struct http_conn *http_conns_of(struct evhttp_request *request);

/* A complete request is in the caller's hands, until it is answered. */
void http_conn_begin_serving(struct http_conn *conn, struct evhttp_request *request);

/* The answer is a stream that may be silent for long: the timeouts of requests do not
 * hold for it. `on_close` is called when the connection ends before the answer does. */
void http_conn_begin_streaming(
	struct http_conn *conn, void (*on_close)(void *arg), void *arg);

/* A request proved that the client may connect: it is no longer a stranger. */
void http_conn_prove(struct http_conns *conns, struct http_conn *conn);

/* Call it after an answer, or a piece of a stream, was handed to evhttp. */
void http_conn_handed_over(struct http_conn *conn);

/* Bytes that wait because the client does not read. */
size_t http_conn_queued(const struct http_conn *conn);

/* See http_take_socket. */
int http_conn_take_socket(struct http_conns *conns, struct http_conn *conn,
	struct evhttp_connection **remains);

/* Cuts the connection, later in the turn. */
void http_conn_cut(struct http_conn *conn);
