/*
 * bus_private.h - the state of one bus. Only bus*.c includes it.
 *
 *   bus.c            open, start, drain, the tick, statistics
 *   bus_call.c       calls: made, refused, delivered
 *   bus_peer.c       the connection to one owner, its queue, repeats and deadlines
 *   bus_dial.c       when an owner is dialed
 *   bus_outgoing.c   one message in flight to an owner, and its reply
 *   bus_wait.c       calls from other threads
 *   bus_reply_slot.c where requests arrive and replies leave
 *   bus_serve.c      requests: read, put in order, started
 *   bus_answer.c     replies: collected, sent
 *   bus_publish.c    our events
 *   bus_subscribe.c  the events of others
 *   bus_canary.c     checks that our listeners still accept connections
 *   bus_tap.c        copies of messages for `paigectl tap`
 *   bus_affinity.c   where and how soon the loop runs
 *
 * These have no state of the bus: bus_nng.c and bus_nng_threads.c (nng), loop_post.c (threads to
 * the loop), and the pure bus_order.c, bus_retry.c, bus_seq.c, bus_wire.c.
 */
#pragma once

#include "common/base/buf.h"
#include "common/bus/bus.h"
#include "common/bus/bus_dial.h"
#include "common/bus/nng/bus_nng.h"
#include "common/bus/rules/bus_order.h"
#include "common/bus/rules/bus_seq.h"
#include "common/bus/rules/bus_wire.h"
#include "common/loop/jobs.h"
#include "common/loop/loop_post.h"
#include "proto/worker.h"

#define BUS_TICK_MS 1000
/* At rest; that of the worker's heartbeats, so that they come together. */
#define BUS_REST_TICK_MS WORKER_HEARTBEAT_MS

/* Limits that every caller keeps and every owner enforces: calls in one batch, and calls
 * outside batches in flight to one owner. */
#define BUS_BATCH_CALLS 256
#define BUS_ALONE_MAX 128

/* ---- calling ---- */

struct bus_call {
	struct bus_call *next; /* in the list in which it waits */
	enum method method;
	enum bus_status failed; /* what to deliver when it never left */
	struct mono begun, deadline;
	struct str key; /* in this allocation, as the body */
	struct str body;
	struct buf owner; /* or the body lies in here */
	bus_reply_fn *on_reply;
	void *arg;
};

/* A message with replies, and who uses it: bus_outgoing.c while it delivers them, and who keeps one. */
struct bus_kept {
	struct nng_msg *message;
	unsigned refs;
};

/* Zero is a valid empty list. */
struct bus_calls {
	struct bus_call *first, *last;
	unsigned count;
};

/* A message in flight to an owner: a batch, or a call that travels alone. */
struct bus_outgoing {
	struct bus_exchange exchange;
	struct bus_peer *peer;
	enum { BUS_OUTGOING_IDLE, BUS_OUTGOING_SENT, BUS_OUTGOING_BROKEN } state;
	uint64_t seq; /* 0: alone */
	uint32_t part;
	uint64_t first_id;	 /* of calls[0]; the others follow */
	struct bus_call **calls; /* NULL where the call was delivered */
	unsigned count, room, left;
	struct bus_outgoing *next; /* in alone or idle */
};

/* The connection to one owner and the queue of calls to it. */
struct bus_peer {
	struct bus *bus;
	enum worker_id owner;
	bool opened;
	struct bus_dialer dialer;
	uint32_t pipe; /* as last seen */
	struct bus_dial dial;
	struct bus_calls waiting; /* METHOD_BATCH */
	struct bus_calls waiting_alone;
	struct bus_outgoing *window[BUS_WINDOW]; /* by seq modulo */
	struct bus_outgoing *alone, *idle;
	unsigned alone_count;
	uint64_t base, next_seq, next_id;
	unsigned failures;	   /* resets in a row */
	struct mono resume;	   /* nothing is sent before */
	struct mono next_deadline; /* no call has an earlier one; INT64_MAX: none */
	struct event *timer;
	struct event *next_turn; /* when much was sent in this one */
	size_t turn_bytes;	 /* sent in this turn, when it is much */
	size_t calls, bytes;	 /* not delivered yet */
	bool congested;
	bool stopped;	  /* bus_set_stopped */
	bool not_enabled; /* bus_set_enabled */
	struct bus_owner_stats stats;
};

/* ---- serving ---- */

/* The answer to one call of a batch, in the order of the calls. */
struct bus_answer {
	uint64_t id;
	bool answered, ok;
	size_t at, len;	  /* of the body, in bus_batch.bodies */
	struct buf large; /* instead, when it has memory */
};

struct bus_batch {
	struct bus *bus;
	struct bus_caller *caller; /* NULL: alone, or the caller has given up */
	struct bus_head head;
	struct nng_msg *message;
	struct str rest;		  /* records not begun */
	struct bus_reception *reply_slot; /* where to reply; NULL until the caller asks */
	struct bus_batch *next;		  /* in server.yielded */
	bool held;			  /* comes after one that has not come yet */
	bool yielded; /* used up its slice of the loop; continues in the next turn */
	bool reading; /* waits for the thread to decode a large call */
	bool running, begun;	    /* in its loop; every record was begun */
	unsigned pending;	    /* begun and not answered */
	struct bus_answer *answers; /* of the calls begun, answered or not */
	size_t answer_count, answer_room;
	struct buf bodies;	     /* of the answers, as they came */
	size_t bytes_waiting;	     /* of answers that are in no part yet */
	size_t part_first, part_end; /* the answers in the last part */
	unsigned calls;		     /* begun so far */
	uint32_t part;		     /* the next to be sent */
	bool finished;		     /* the last part was sent */
};

/* What this owner knows about one caller. */
struct bus_caller {
	struct bus_order order;
	/* Of all its unfinished calls, including those of its earlier process. */
	size_t bytes;
	unsigned calls, alone;
	struct bus_batch *batches[BUS_WINDOW]; /* by seq modulo */
};

struct bus_request_private {
	struct bus_request *request;
	struct bus_batch *batch;
	size_t index; /* of its answer */
	yyjson_doc *document;
	void *message; /* decoded */
	struct proto_error error;
	bool understood; /* else `error` says why not */
	struct job job;	 /* that reads it */
};

struct bus_method {
	bus_serve_fn *fn;
	void *arg;
};

struct bus_server {
	struct bus_listener listener;
	bool serving, draining;
	struct bus_reception *answered,
		*answered_last; /* nng may still have the answer */
	unsigned receptions, listening;
	struct bus_method methods[METHOD_COUNT];
	struct bus_caller callers[WORKER_COUNT];
	unsigned open_requests;
	uint64_t replies_sent;
	struct bus_batch *yielded, *yielded_last;
	struct event *go_on;
	struct event *hold;   /* runs while batches are held */
	struct jobs *readers; /* of large calls */
};

/* ---- events ---- */

struct bus_publisher {
	struct bus_listener listener;
	uint64_t seq;
	bool quiet;	    /* a beacon was sent since the last event */
	struct buf waiting; /* events of this turn, as they will travel */
};

struct bus_subscription {
	struct bus_subscription *next;
	struct str prefix; /* in this allocation */
	bus_event_fn *fn;
	bus_gap_fn *on_gap; /* instead of fn */
	void *arg;
};

/* The events of one publisher. */
struct bus_feed {
	struct bus *bus;
	enum worker_id from;
	bool wanted, opened;
	struct bus_dialer dialer;
	uint32_t pipe;
	struct bus_dial dial;
	struct event *readable;
	uint32_t heard_pipe; /* on which the last message came */
	struct bus_seq seq;
	struct bus_subscription *subscriptions;
};

/* ---- canary ---- */

struct bus_canary {
	struct bus *bus;
	struct bus_listener *listener;
	const char *suffix;   /* "rep", "pub" */
	unsigned short proto; /* of the peer that it plays */
	int fd;
	uint64_t connections; /* of the listener when it connected */
	struct event *timer;
	unsigned misses;
	bool deaf;
};

struct bus {
	struct event_base *base;
	enum worker_id self;
	uint64_t epoch, incarnation;
	struct bus_keys keys;
	struct {
		struct mono since;
		unsigned count; /* not logged since */
	} complaints;
	char runtime_dir[108];
	bool started;
	struct loop_post post;
	struct event *flush;
	bool flush_asked;
	struct bus_calls failed;
	struct mono sent_at; /* the last message handed to nng */
	struct bus_peer peers[WORKER_COUNT];
	struct bus_server server;
	struct bus_publisher publisher;
	struct bus_feed feeds[WORKER_COUNT];
	struct bus_canary canaries[2];
	struct event *tick;
	unsigned ticks;
	struct {
		struct mono since; /* the last connection that was lost */
		struct event *look;
	} down;
	struct {
		struct mono since;
		int64_t connections; /* at the last tick */
		uint64_t sent;	     /* until then */
	} rest;
	struct {
		struct event *event;
		void (*done)(void *arg);
		void *arg;
		struct mono end;
	} drain;
	struct {
		struct event *limit;
		void (*done)(void *arg); /* NULL: nobody waits */
		void *arg;
	} heard;
	void (*on_uncongested)(void *arg, enum worker_id owner);
	void *on_uncongested_arg;
	struct {
		bool bound; /* to the processor of nng's threads */
		bool large; /* a large request since the last tick */
	} affinity;
	int tap_fd; /* -1: nobody looks */
	uint64_t tap_dropped;
	struct bus_stats stats;
};

/* bus.c */
/* RUNTIME_DIR/<worker>/<suffix>; checked in bus_open, so it fits. */
void bus_socket_path(
	const struct bus *bus, enum worker_id worker, const char *suffix, char out[108]);

/* A connection is wanted: it is looked for in the next turn and often from then on, and the
 * ticks come every BUS_TICK_MS again. */
void bus_end_rest(struct bus *bus);
/* True if a peer's mistake may be logged now, at most once a second, so that a compromised
 * worker cannot fill the logs of others. *more: how many were suppressed since. */
bool bus_may_complain(struct bus *bus, unsigned *more);

/* bus_call.c */
void bus_call_flush(struct bus *bus);
/* Ends the call with a status that the bus made, or with a reply. Frees it. */
void bus_call_fail(struct bus_peer *peer, struct bus_call *call, enum bus_status status);
void bus_call_deliver(struct bus_peer *peer, struct bus_call *call,
	const struct bus_reply_record *record, struct bus_kept *kept);
void bus_calls_append(struct bus_calls *list, struct bus_call *call);
struct bus_call *bus_calls_take(struct bus_calls *list);
/* bus_call_flush in this turn of the loop. */
void bus_call_ask_flush(struct bus *bus);

/* bus_peer.c */
int bus_peer_init(struct bus_peer *peer, struct bus *bus, enum worker_id owner);
void bus_peer_add(struct bus_peer *peer, struct bus_call *call);
void bus_peer_send(struct bus_peer *peer);
/* Dials the owner if it may be there. False while it is wanted and not connected. */
bool bus_peer_look(struct bus_peer *peer, struct mono now);

/* bus_outgoing.c */
/* An idle one, with room for `count` calls. */
struct bus_outgoing *bus_outgoing_get(struct bus_peer *peer, unsigned count);
void bus_outgoing_put(struct bus_outgoing *outgoing);
void bus_outgoing_send(struct bus_outgoing *outgoing, struct mono now);

/* bus_affinity.c */
/* Before anything of nng is opened. */
void bus_affinity_start(const struct bus *bus);
/* For each message with calls that goes to `with` or comes from it. */
void bus_affinity_request(struct bus *bus, enum worker_id with, size_t request_bytes);
void bus_affinity_tick(struct bus *bus);

/* bus_reply_slot.c */
void bus_serve_start(struct bus *bus);
/* Keeps enough reply slots waiting for requests. Call at each tick, and whenever one is
 * taken. */
void bus_serve_tick(struct bus *bus);
/* Gives a reply slot back without a reply; NULL does nothing. */
void bus_serve_drop_reply_slot(struct bus *bus, struct bus_reception *reply_slot);
/* The reply was handed to nng. */
void bus_serve_answered(struct bus *bus, struct bus_reception *reply_slot);

/* bus_serve.c */
int bus_serve_open(struct bus *bus);
/* A request has arrived; takes both. */
void bus_serve_take(
	struct bus *bus, struct nng_msg *message, struct bus_reception *reply_slot);
/* Starts the remaining calls of the batch, until a part of the reply is full or its slice of
 * time is over. */
void bus_batch_run(struct bus_batch *batch);
void bus_batch_free(struct bus_batch *batch);
/* The request is not needed any more. */
void bus_batch_drop_message(struct bus_batch *batch);
/* One of its calls was answered. */
void bus_batch_call_over(struct bus_batch *batch);

/* bus_answer.c */
/* Room for the answer to one more call; its index. */
size_t bus_answer_expect(struct bus_batch *batch, uint64_t id);
/* Sends what is due of the reply. May free the batch. */
void bus_batch_flush(struct bus_batch *batch);
/* Asks the caller to send the batch again. */
void bus_batch_send_back(struct bus_batch *batch);
/* Sends the last part again. */
void bus_batch_repeat(struct bus_batch *batch);
/* The last part has arrived: frees what was kept for repeating it. */
void bus_batch_forget_sent(struct bus_batch *batch);
void bus_answer_late(struct bus_request *request);

/* bus_publish.c */
int bus_publish_open(struct bus *bus);
void bus_publish_tick(struct bus *bus);
/* Sends the queued events. Call before sending answers and calls that were made later. */
void bus_publish_flush(struct bus *bus);

#define BUS_BEACON "bus/beacon"

/* bus_subscribe.c */
int bus_subscribe_open(struct bus *bus);
/* The same for all publishers. */
bool bus_subscribe_look(struct bus *bus, struct mono now);

/* bus_tap.c; each does nothing while no tap is open. */
void bus_tap_call(const struct bus_request *request, struct str method);
void bus_tap_answer(const struct bus_request *request, bool ok, struct str body);
void bus_tap_failure(
	struct bus *bus, const struct bus_call *call, enum bus_status status);
void bus_tap_event(struct bus *bus, struct str topic, struct str body);

/* bus_canary.c */
int bus_canary_init(struct bus *bus);
void bus_canary_tick(struct bus *bus);
/* A listener has a new connection. */
void bus_canary_connected(struct bus *bus);
