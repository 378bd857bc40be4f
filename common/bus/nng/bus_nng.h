/*
 * bus_nng.h - the part of nng that the bus needs, without nng's own types.
 *
 * Only bus_nng.c includes <nng/nng.h>, so moving to another nng, or away from it, changes
 * one file. Call all functions on the loop; none blocks. What nng reports on its own threads
 * arrives as a task (loop_post.h). Only listeners and dialers that are replaced are ever
 * closed: nng_close can deadlock (nng 1543), so a process ends with _exit.
 *
 * Errors are -errno: -ECONNRESET when the other side went away, -EADDRINUSE,
 * -ENAMETOOLONG, ...
 */
#pragma once

#include "common/base/str.h"
#include "common/loop/loop_post.h"
#include <stdatomic.h>
#include <stdint.h>

/* The longest message of any kind; receivers close the connection if one is longer. */
#define BUS_RECEIVE_MAX (24u * 1024 * 1024)

#define BUS_URL_SIZE 128

/* ---- messages ---- */

struct nng_msg;

/* Returns new with `len` bytes at *data; out of memory ends the process. */
struct nng_msg *bus_message_new(size_t len, char **data);
/* Drops the last `excess` bytes. */
void bus_message_shorten(struct nng_msg *message, size_t excess);
struct str bus_message_text(struct nng_msg *message);
/* Number of the connection on which it was received. */
uint32_t bus_message_pipe(const struct nng_msg *message);
void bus_message_free(struct nng_msg *message);

/* ---- listening: REP and PUB ---- */

struct bus_listener {
	uint32_t socket;
	uint32_t listener;
	char url[BUS_URL_SIZE];
	/* Connections made so far; the task runs after each. */
	_Atomic uint64_t connections;
	/* Connections that nng has begun to accept and not begun to take apart. */
	_Atomic int64_t open;
	struct loop_post *post;
	struct loop_task changed;
};

enum bus_listener_kind { BUS_LISTEN_REP, BUS_LISTEN_PUB };

/* Replaces a socket that an earlier process left behind. May be called again after
 * -EADDRINUSE. */
int bus_listener_open(struct bus_listener *l, enum bus_listener_kind kind,
	const char *path, struct loop_post *post, void (*changed)(struct loop_task *task))
	__attribute__((warn_unused_result));
/* Closes the listener, with the connections it has accepted, and listens again on the
 * same socket. */
int bus_listener_relisten(struct bus_listener *l) __attribute__((warn_unused_result));
/* Takes the message. Never blocks; a slow subscriber loses its oldest messages. */
void bus_listener_publish(struct bus_listener *l, struct nng_msg *message);

/* A place where one request at a time is received and answered. */
struct nng_aio;
struct bus_reception {
	uint32_t context;
	struct nng_aio *receive, *answer;
	struct loop_post *post;
	struct loop_task received;  /* runs when a request arrived or receiving failed */
	_Atomic bool answering;	    /* nng has the answer in hand */
	struct bus_reception *next; /* for the owner's lists */
};

int bus_reception_init(struct bus_reception *r, struct bus_listener *l,
	struct loop_post *post, void (*received)(struct loop_task *task))
	__attribute__((warn_unused_result));
/* Waits for the next request; an unanswered one is forgotten. */
void bus_reception_wait(struct bus_reception *r);
/* After the task: the request, which the caller takes, or NULL when receiving failed. */
struct nng_msg *bus_reception_take(struct bus_reception *r);
/* Takes the message. Do not wait for another request before bus_reception_free is true. */
void bus_reception_answer(struct bus_reception *r, struct nng_msg *message);
/* True when nng is done with the last answer. */
bool bus_reception_free(struct bus_reception *r);

/* ---- dialing: REQ and SUB ---- */

struct bus_dialer {
	uint32_t socket;
	_Atomic uint32_t dialer; /* 0 when nobody dials and there is no connection */
	_Atomic uint32_t pipe;	 /* of the connection, 0 when there is none */
	char url[BUS_URL_SIZE];
	struct loop_post *post;
	struct loop_task changed;
	/* SUB only */
	int fd;
	struct nng_aio *receive;
};

enum bus_dialer_kind { BUS_DIAL_REQ, BUS_DIAL_SUB };

/* Does not dial. `changed` runs when a connection comes up or goes down. */
int bus_dialer_open(struct bus_dialer *d, enum bus_dialer_kind kind, const char *path,
	struct loop_post *post, void (*changed)(struct loop_task *task))
	__attribute__((warn_unused_result));
/* Dials, and hangs up what there is. nng tries until there is a connection, and not again
 * when it is lost; it gives up for good when the peer dies between the connection and the
 * greeting. */
int bus_dialer_dial(struct bus_dialer *d) __attribute__((warn_unused_result));
/* Of the owner's socket. Borrowed. */
const char *bus_dialer_path(const struct bus_dialer *d);
/* True while nng dials, has given up, or is connected. */
bool bus_dialer_dials(const struct bus_dialer *d);
/* SUB: readable while events wait; and the next event, which the caller takes, or NULL.
 */
int bus_dialer_fd(const struct bus_dialer *d);
struct nng_msg *bus_dialer_event(struct bus_dialer *d);

/* One request in flight. */
struct bus_exchange {
	uint32_t context;
	struct nng_aio *send, *receive;
	struct loop_post *post;
	struct loop_task
		replied; /* runs when there is a reply or the other side went away */
};

int bus_exchange_init(struct bus_exchange *x, struct bus_dialer *d,
	struct loop_post *post, void (*replied)(struct loop_task *task))
	__attribute__((warn_unused_result));
/* Takes the message. It waits in nng while there is no connection. */
void bus_exchange_start(struct bus_exchange *x, struct nng_msg *message);
/* After the task: 0 and the reply, which the caller takes, or -ECONNRESET. */
int bus_exchange_take(struct bus_exchange *x, struct nng_msg **reply)
	__attribute__((warn_unused_result));
