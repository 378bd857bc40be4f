/*
 * bus_nng.c - nng 1.5 behind bus_nng.h. Called by the other bus_*.c; with
 * bus_nng_threads.c the only file that includes <nng/nng.h>. Callbacks on nng's threads
 * note what happened and post a task; the one of a lost connection also closes its dialer.
 *
 * Kept in mind (each was measured or read in nng's source):
 * - REQ resends by itself after 60 s and on reconnect unless RESENDTIME is infinite.
 * - A receive must not be cancelled or timed out on REQ and SUB (nng 1523, 1682, 1702).
 * - The reply can be delivered before the send is reported complete: a send is waited for
 *   before its aio is used again. With a reply or reset in hand that wait is short.
 * - An aio without callback completes without a thread switch.
 */
#include "common/bus/nng/bus_nng.h"
#include <assert.h>
#include <errno.h>
#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>
#include <nng/protocol/pubsub0/sub.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#define URL_SCHEME "ipc://"
#define RECONNECT_MIN_MS 5
#define RECONNECT_MAX_MS 50
#define PUB_DEPTH 1024
#define SUB_DEPTH 4096

static int to_errno(int rv)
{
	switch (rv) {
	case NNG_EADDRINUSE:
		return -EADDRINUSE;
	case NNG_EADDRINVAL:
		return -EADDRNOTAVAIL;
	case NNG_ENOMEM:
		return -ENOMEM;
	case NNG_ENOFILES:
		return -EMFILE;
	case NNG_EPERM:
		return -EACCES;
	case NNG_ECONNRESET:
	case NNG_ECLOSED:
		return -ECONNRESET;
	default:
		if (rv & NNG_ESYSERR)
			return -(rv & ~NNG_ESYSERR);
		return rv == 0 ? 0 : -EIO;
	}
}

static int url_of(const char *path, char url[BUS_URL_SIZE])
{
	struct sockaddr_un a;

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	snprintf(url, BUS_URL_SIZE, URL_SCHEME "%s", path);
	return 0;
}

/* ---- messages ---- */

struct nng_msg *bus_message_new(size_t len, char **data)
{
	nng_msg *message;

	if (nng_msg_alloc(&message, len) != 0)
		abort();
	*data = nng_msg_body(message);
	return message;
}

void bus_message_shorten(struct nng_msg *message, size_t excess)
{
	int rv = nng_msg_chop(message, excess);

	assert(rv == 0);
	(void)rv;
}

struct str bus_message_text(struct nng_msg *message)
{
	return (struct str){nng_msg_body(message), nng_msg_len(message)};
}

uint32_t bus_message_pipe(const struct nng_msg *message)
{
	return (uint32_t)nng_pipe_id(nng_msg_get_pipe(message));
}

void bus_message_free(struct nng_msg *message)
{
	if (message)
		nng_msg_free(message);
}

/* ---- listening ---- */

static void listener_connected(nng_pipe pipe, nng_pipe_ev what, void *arg)
{
	struct bus_listener *l = arg;

	(void)pipe;
	(void)what;
	atomic_fetch_add(&l->connections, 1);
	loop_post(l->post, &l->changed);
}

/* Each connection that begins also ends, even when it never gets so far as to be added. */
static void listener_opened(nng_pipe pipe, nng_pipe_ev what, void *arg)
{
	struct bus_listener *l = arg;

	(void)pipe;
	atomic_fetch_add(&l->open, what == NNG_PIPE_EV_ADD_PRE ? 1 : -1);
}

static int listener_listen(struct bus_listener *l)
{
	nng_listener listener;
	int rv = nng_listen((nng_socket){l->socket}, l->url, &listener, 0);

	if (rv == 0)
		l->listener = listener.id;
	return to_errno(rv);
}

int bus_listener_open(struct bus_listener *l, enum bus_listener_kind kind,
	const char *path, struct loop_post *post, void (*changed)(struct loop_task *task))
{
	nng_socket s;
	int r = url_of(path, l->url);
	int rv;

	if (r < 0)
		return r;
	if (l->socket)
		return listener_listen(l); /* another try */
	rv = kind == BUS_LISTEN_REP ? nng_rep0_open(&s) : nng_pub0_open(&s);
	if (rv == 0)
		rv = nng_socket_set_size(s, NNG_OPT_RECVMAXSZ, BUS_RECEIVE_MAX);
	if (rv == 0 && kind == BUS_LISTEN_PUB)
		rv = nng_socket_set_int(s, NNG_OPT_SENDBUF, PUB_DEPTH);
	l->post = post;
	l->changed.run = changed;
	if (rv == 0)
		rv = nng_pipe_notify(s, NNG_PIPE_EV_ADD_POST, listener_connected, l);
	if (rv == 0)
		rv = nng_pipe_notify(s, NNG_PIPE_EV_ADD_PRE, listener_opened, l);
	if (rv == 0)
		rv = nng_pipe_notify(s, NNG_PIPE_EV_REM_POST, listener_opened, l);
	if (rv != 0)
		return to_errno(rv);
	l->socket = s.id;
	return listener_listen(l);
}

int bus_listener_relisten(struct bus_listener *l)
{
	if (l->listener)
		nng_listener_close((nng_listener){l->listener});
	l->listener = 0;
	return listener_listen(l);
}

void bus_listener_publish(struct bus_listener *l, struct nng_msg *message)
{
	if (nng_sendmsg((nng_socket){l->socket}, message, NNG_FLAG_NONBLOCK) != 0)
		nng_msg_free(message);
}

static void reception_received(void *arg)
{
	struct bus_reception *r = arg;

	loop_post(r->post, &r->received);
}

static void reception_answered(void *arg)
{
	struct bus_reception *r = arg;

	atomic_store_explicit(&r->answering, false, memory_order_release);
}

int bus_reception_init(struct bus_reception *r, struct bus_listener *l,
	struct loop_post *post, void (*received)(struct loop_task *task))
{
	nng_ctx context;
	int rv;

	*r = (struct bus_reception){.post = post, .received.run = received};
	if ((rv = nng_ctx_open(&context, (nng_socket){l->socket})) != 0 ||
		(rv = nng_aio_alloc(&r->receive, reception_received, r)) != 0 ||
		(rv = nng_aio_alloc(&r->answer, reception_answered, r)) != 0)
		return to_errno(rv);
	r->context = context.id;
	return 0;
}

void bus_reception_wait(struct bus_reception *r)
{
	nng_ctx_recv((nng_ctx){r->context}, r->receive);
}

struct nng_msg *bus_reception_take(struct bus_reception *r)
{
	nng_msg *message;

	if (nng_aio_result(r->receive) != 0)
		return NULL;
	message = nng_aio_get_msg(r->receive);
	nng_aio_set_msg(r->receive, NULL);
	return message;
}

void bus_reception_answer(struct bus_reception *r, struct nng_msg *message)
{
	atomic_store_explicit(&r->answering, true, memory_order_relaxed);
	nng_aio_set_msg(r->answer, message);
	nng_ctx_send((nng_ctx){r->context}, r->answer);
}

bool bus_reception_free(struct bus_reception *r)
{
	if (atomic_load_explicit(&r->answering, memory_order_acquire))
		return false;
	/* The flag is set by the callback, which may not have returned yet. */
	nng_aio_wait(r->answer);
	if (nng_aio_result(r->answer) != 0 && nng_aio_get_msg(r->answer)) {
		nng_msg_free(nng_aio_get_msg(r->answer));
		nng_aio_set_msg(r->answer, NULL);
	}
	return true;
}

/* ---- dialing ---- */

/* Called before the connection is used: nng may tell of its end before it says that it is used. */
static void dialer_connected(nng_pipe pipe, nng_pipe_ev what, void *arg)
{
	struct bus_dialer *d = arg;

	(void)what;
	atomic_store(&d->pipe, (uint32_t)nng_pipe_id(pipe));
	loop_post(d->post, &d->changed);
}

static void dialer_disconnected(nng_pipe pipe, nng_pipe_ev what, void *arg)
{
	struct bus_dialer *d = arg;
	uint32_t gone = (uint32_t)nng_pipe_id(pipe);
	nng_dialer dialer = nng_pipe_dialer(pipe);
	uint32_t ended = dialer.id;

	(void)what;
	/* Before nng dials again (bus_dial.c). */
	nng_dialer_close(dialer);
	atomic_compare_exchange_strong(&d->dialer, &ended, 0);
	/* The next connection may have been reported before the end of this one. */
	if (atomic_compare_exchange_strong(&d->pipe, &gone, 0))
		loop_post(d->post, &d->changed);
}

static int subscribe_all(struct bus_dialer *d, nng_socket s)
{
	int rv;

	if ((rv = nng_socket_set(s, NNG_OPT_SUB_SUBSCRIBE, "", 0)) != 0 ||
		(rv = nng_socket_set_int(s, NNG_OPT_RECVBUF, SUB_DEPTH)) != 0 ||
		(rv = nng_socket_get_int(s, NNG_OPT_RECVFD, &d->fd)) != 0 ||
		(rv = nng_aio_alloc(&d->receive, NULL, NULL)) != 0)
		return rv;
	nng_aio_set_timeout(d->receive, NNG_DURATION_ZERO);
	return 0;
}

int bus_dialer_open(struct bus_dialer *d, enum bus_dialer_kind kind, const char *path,
	struct loop_post *post, void (*changed)(struct loop_task *task))
{
	nng_socket s;
	int r = url_of(path, d->url);
	int rv;

	if (r < 0)
		return r;
	d->post = post;
	d->changed.run = changed;
	if ((rv = kind == BUS_DIAL_REQ ? nng_req0_open(&s) : nng_sub0_open(&s)) != 0 ||
		(rv = nng_socket_set_size(s, NNG_OPT_RECVMAXSZ, BUS_RECEIVE_MAX)) != 0 ||
		(rv = nng_socket_set_ms(s, NNG_OPT_RECONNMINT, RECONNECT_MIN_MS)) != 0 ||
		(rv = nng_socket_set_ms(s, NNG_OPT_RECONNMAXT, RECONNECT_MAX_MS)) != 0 ||
		(rv = nng_pipe_notify(s, NNG_PIPE_EV_ADD_PRE, dialer_connected, d)) !=
			0 ||
		(rv = nng_pipe_notify(s, NNG_PIPE_EV_REM_POST, dialer_disconnected, d)) !=
			0)
		return to_errno(rv);
	if (kind == BUS_DIAL_REQ)
		rv = nng_socket_set_ms(s, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE);
	else
		rv = subscribe_all(d, s);
	if (rv != 0)
		return to_errno(rv);
	d->socket = s.id;
	return 0;
}

int bus_dialer_dial(struct bus_dialer *d)
{
	uint32_t old = atomic_exchange(&d->dialer, 0);
	nng_dialer dialer;
	int rv;

	if (old)
		nng_dialer_close((nng_dialer){old});
	rv = nng_dialer_create(&dialer, (nng_socket){d->socket}, d->url);
	if (rv == 0) {
		/* Before it can end by itself. */
		atomic_store(&d->dialer, dialer.id);
		rv = nng_dialer_start(dialer, NNG_FLAG_NONBLOCK);
	}
	return to_errno(rv);
}

const char *bus_dialer_path(const struct bus_dialer *d)
{
	return d->url + strlen(URL_SCHEME);
}

bool bus_dialer_dials(const struct bus_dialer *d)
{
	return atomic_load(&d->dialer) != 0;
}

int bus_dialer_fd(const struct bus_dialer *d)
{
	return d->fd;
}

struct nng_msg *bus_dialer_event(struct bus_dialer *d)
{
	nng_msg *message;

	/* A timeout of zero fails before anything is queued, so nothing is cancelled. */
	nng_recv_aio((nng_socket){d->socket}, d->receive);
	nng_aio_wait(d->receive);
	if (nng_aio_result(d->receive) != 0)
		return NULL;
	message = nng_aio_get_msg(d->receive);
	nng_aio_set_msg(d->receive, NULL);
	return message;
}

static void exchange_replied(void *arg)
{
	struct bus_exchange *x = arg;

	loop_post(x->post, &x->replied);
}

int bus_exchange_init(struct bus_exchange *x, struct bus_dialer *d,
	struct loop_post *post, void (*replied)(struct loop_task *task))
{
	nng_ctx context;
	int rv;

	*x = (struct bus_exchange){.post = post, .replied.run = replied};
	if ((rv = nng_ctx_open(&context, (nng_socket){d->socket})) != 0 ||
		(rv = nng_ctx_set_ms(
			 context, NNG_OPT_REQ_RESENDTIME, NNG_DURATION_INFINITE)) != 0 ||
		(rv = nng_aio_alloc(&x->send, NULL, NULL)) != 0 ||
		(rv = nng_aio_alloc(&x->receive, exchange_replied, x)) != 0)
		return to_errno(rv);
	x->context = context.id;
	return 0;
}

void bus_exchange_start(struct bus_exchange *x, struct nng_msg *message)
{
	nng_aio_set_msg(x->send, message);
	nng_ctx_send((nng_ctx){x->context}, x->send);
	nng_ctx_recv((nng_ctx){x->context}, x->receive);
}

int bus_exchange_take(struct bus_exchange *x, struct nng_msg **reply)
{
	nng_aio_wait(x->send);
	if (nng_aio_result(x->send) != 0 && nng_aio_get_msg(x->send)) {
		nng_msg_free(nng_aio_get_msg(x->send));
		nng_aio_set_msg(x->send, NULL);
	}
	if (nng_aio_result(x->receive) != 0)
		return -ECONNRESET;
	*reply = nng_aio_get_msg(x->receive);
	nng_aio_set_msg(x->receive, NULL);
	return 0;
}
