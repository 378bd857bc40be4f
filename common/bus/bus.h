/*
 * bus.h - typed messages between workers: call, serve, publish, subscribe.
 *
 * Nothing else in Paige uses nng. Everything runs on the worker's own libevent loop, and
 * each callback runs exactly once.
 *
 * Calls go over req/rep to the methods of proto/catalogue/methods.def. Calls that a worker
 * makes to the same owner in one turn of its loop share one nng message if the method
 * allows it (METHOD_BATCH), and so do the replies, so a burst costs one wake-up. nng never
 * resends a request by itself. The bus repeats a call after a reset, or while the owner is
 * away, until the deadline of the call, but only if the method says that this is safe:
 *   METHOD_READ   changes nothing: repeated freely
 *   METHOD_KEYED  changes something once per key: repeated with the same key
 *   METHOD_ONCE   never repeated
 *
 * A caller proves who it is with a key (common/bus/rules/bus_keys.h) and may call only what
 * methods.def allows. The bus accepts an event only from the worker that owns its topic
 * (topics.def).
 *
 * Publishers number their events within an epoch, so a subscriber learns of gaps.
 *
 * Messages are lines of text and JSON bodies; common/bus/rules/bus_wire.h has the format.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/bus/rules/bus_keys.h"
#include "proto/codec/codec.h"
#include "proto/tables/methods.h"
#include "proto/tables/workers.h"
#include <event2/event.h>

struct bus;

/* Opens the bus without connecting. You may serve and subscribe now; calls are queued until
 * bus_start. NULL with errno on failure (ENAMETOOLONG: runtime_dir leaves no room for the
 * names of the sockets). */
struct bus *bus_open(struct event_base *base, enum worker_id self,
	const char *runtime_dir, uint64_t epoch);
/* Sets the keys that prove who calls; without them every key is 0. Call before bus_start. */
void bus_set_keys(struct bus *bus, const struct bus_keys *keys);
/* Listens at RUNTIME_DIR/<self>/rep and pub, and dials each worker that this one calls or is
 * subscribed to. This is the first call into nng, so nng's threads inherit the signal mask
 * and the confinement. 0 or -errno (-EADDRINUSE: an earlier process still listens, try
 * again). */
int bus_start(struct bus *bus) __attribute__((warn_unused_result));
/* Starts to answer calls, which wait until then. Call after bus_start. */
void bus_start_serving(struct bus *bus);
/* Takes no more calls, answers those in flight and flushes. Calls `done` within 500 ms. */
void bus_drain(struct bus *bus, void (*done)(void *arg), void *arg);

/* ---- calling ---- */

enum bus_status {
	BUS_OK,
	BUS_ERROR,   /* the owner answered with an error: code, message, context */
	BUS_TIMEOUT, /* no answer before the deadline */
	BUS_RESET,   /* the owner went away, and the method may not be repeated */
	BUS_REFUSED, /* BUS_MAX_CALLS or BUS_MAX_BYTES are in flight to the owner */
	BUS_STOPPED, /* the owner is stopped (bus_set_stopped) */
	BUS_NOT_ENABLED, /* the owner runs only with a setting, which is empty (bus_set_enabled) */
	BUS_TOO_BIG, /* request or answer over BUS_BODY_MAX, or the owner says TOO_BIG */
};

#define BUS_MAX_CALLS 4096
#define BUS_MAX_BYTES (128u * 1024 * 1024)
#define BUS_BODY_MAX (20u * 1024 * 1024) /* bytes of a request, an answer, an event */
/* Replies of one owner that have come and wait for the loop, while that is busy: one to each
 * message under way. A reply to a call that travels alone holds one answer. A reply to a
 * batch ends with the answer that passes 2 MiB, and the owner is asked for the next one when
 * that has been delivered. So together they have at most BUS_MAX_REPLIES times 24 MiB
 * (BUS_RECEIVE_MAX). There is no lower bound in bytes, because nothing tells how long an
 * answer will be before it is there. What on_reply keeps of it is its own to bound. */
#define BUS_MAX_REPLIES 130

struct bus_kept;

/* Borrowed until the callback returns. If the status is not BUS_OK, code and message are
 * set: those of the owner, or a fixed text that names the owner ("The file worker did not
 * answer in time"). */
struct bus_reply {
	enum bus_status status;
	struct str body; /* JSON, on BUS_OK */
	struct str code; /* enum error_code name, "FILE_ERROR" */
	struct str message;
	struct str context;    /* JSON object or absent */
	struct bus_kept *kept; /* for bus_reply_keep */
};

/* Keeps the body of a reply where it is, beyond the callback, until bus_kept_release. NULL: it is short, or
 * has come with much else; copy it. */
struct bus_kept *bus_reply_keep(const struct bus_reply *reply);
void bus_kept_release(struct bus_kept *kept);

typedef void bus_reply_fn(void *arg, const struct bus_reply *reply);

/*
 * Calls a method with a JSON body, which is copied. `key`: a UUID that the caller makes for a
 * METHOD_KEYED method, absent for others. `deadline_ms` 0 means the method's own deadline.
 * on_reply may be NULL for METHOD_KEYED and METHOD_ONCE; it never runs inside this call.
 */
void bus_call(struct bus *bus, enum method method, struct str key, struct str body,
	int64_t deadline_ms, bus_reply_fn *on_reply, void *arg);
/* Like bus_call, for a large body: it lies in `owner`, whose memory the bus takes over
 * instead of copying it, unless the call is refused. */
void bus_call_taking(struct bus *bus, enum method method, struct str key, struct str body,
	struct buf *owner, int64_t deadline_ms, bus_reply_fn *on_reply, void *arg);
/* Like bus_call, but encodes a struct of the method's request type. */
void bus_call_message(struct bus *bus, enum method method, struct str key,
	const void *request, int64_t deadline_ms, bus_reply_fn *on_reply, void *arg);
/* Called on another thread of the process (a flow of llm). Blocks; the reply lies in the
 * arena. */
struct bus_reply bus_call_wait(struct bus *bus, enum method method, struct str key,
	const void *request, int64_t deadline_ms, struct arena *arena);
/* Decodes the body of a reply into a struct of the method's reply type. 0, or -EINVAL with
 * *error. The JSON document is freed with the arena. */
int bus_reply_decode(enum method method, const struct bus_reply *reply,
	struct arena *arena, void *out, struct proto_error *error)
	__attribute__((warn_unused_result));

/*
 * An owner answers METHOD_BATCH calls of one caller in the order in which they were made,
 * even across a restart of the owner. Other calls have no order; a caller that needs one
 * waits for the answer.
 *
 * bus_congested is true while more than BUS_CONGESTED_CALLS or BUS_CONGESTED_BYTES wait for
 * `owner`: stop reading from the clients whose messages cause the calls. `on_uncongested`
 * (one per bus) is called when that is over.
 */
#define BUS_CONGESTED_CALLS 1024
#define BUS_CONGESTED_BYTES (16u * 1024 * 1024)
bool bus_congested(const struct bus *bus, enum worker_id owner);
void bus_on_uncongested(struct bus *bus,
	void (*on_uncongested)(void *arg, enum worker_id owner), void *arg);

/* Calls to `owner` end with BUS_STOPPED at once, instead of waiting for somebody who will not come. Those that were made before keep
 * their deadlines. */
void bus_set_stopped(struct bus *bus, enum worker_id owner, bool stopped);
/* Calls to an owner that is not enabled, since the setting that it needs is empty, end with BUS_NOT_ENABLED at once. The supervisor
 * knows it; a worker may not know the setting, which can be a secret. Until this is called every owner is enabled. */
void bus_set_enabled(struct bus *bus, enum worker_id owner, bool enabled);

/* ---- serving ---- */

/* A longer body is parsed and decoded on a thread, so that the loop stays free. The order of
 * the calls is kept. */
#define BUS_READ_AT_ONCE_BYTES (256u * 1024)

/* A call that is being served. Its arena and everything decoded live until it is answered.
 * Exactly one bus_answer_… must follow, at once or later. */
struct bus_request {
	enum method method;
	enum worker_id caller;
	struct str key;	      /* absent unless METHOD_KEYED */
	struct str body;      /* JSON as received */
	yyjson_val *json;     /* the body, parsed */
	struct mono deadline; /* an answer after it is thrown away */
	struct arena arena;
	struct bus *bus;
	struct bus_request_private *private_;
};

/* `message`: a struct of the method's request type, or NULL if the method has none. The bus
 * itself answers INVALID_MESSAGE if the body does not decode. */
typedef void bus_serve_fn(void *arg, struct bus_request *request, const void *message);

void bus_serve(struct bus *bus, enum method method, bus_serve_fn *fn, void *arg);
/* True when the method has a handler. */
bool bus_serves(const struct bus *bus, enum method method);
void bus_answer(struct bus_request *request, struct str body);
/* Like bus_answer, but takes over the memory of the body, for large ones. */
void bus_answer_taking(struct bus_request *request, struct buf *body);
/* Like bus_answer, but encodes a struct of the method's reply type. */
void bus_answer_message(struct bus_request *request, const void *reply);
/* `context` is a JSON object or absent. */
void bus_answer_error(struct bus_request *request, const char *code, struct str context,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- events ---- */

/* Copies topic and JSON body. Never blocks and never fails; drops are counted. */
void bus_publish(struct bus *bus, const char *topic, struct str body);

struct bus_event {
	enum worker_id from;
	struct str topic;
	struct str body;
	uint64_t epoch; /* of the publisher's process: new after each start */
	uint64_t seq;	/* from 1 within it */
};

typedef void bus_event_fn(void *arg, const struct bus_event *event);
typedef void bus_gap_fn(void *arg, enum worker_id from, uint64_t missed);

/* Subscribes to the topics of `from` that begin with `prefix`. Call before the loop runs. */
void bus_subscribe(struct bus *bus, enum worker_id from, const char *prefix,
	bus_event_fn *fn, void *arg);
/* Calls `fn` when events of `from` were missed, and with `missed` 0 whenever a connection to
 * it comes up, including the first. Events from before a connection are lost; after it, every
 * loss is reported. Ask `from` for a snapshot in both cases. */
void bus_on_gap(struct bus *bus, enum worker_id from, bus_gap_fn *fn, void *arg);

/* Logs what is wrong with an event, at most once a second, so that a compromised worker
 * cannot fill the logs of others. */
void bus_complain_of_event(
	struct bus *bus, const char *what, const struct bus_event *event);

/* Calls `fn` once: when every publisher that this worker subscribed to was heard, or after
 * `limit_ms`. Events from before are lost, so a worker is not ready earlier. Call once,
 * after the last bus_subscribe. */
void bus_when_heard(struct bus *bus, int limit_ms, void (*fn)(void *arg), void *arg);

/* ---- observing ---- */

/* More connections to its two sockets no worker has: eight others with at most 16 to each,
 * and the looks of itself. Above this nng 1.5 has stopped for ever to take apart those that
 * have ended: it loses the read of a connection that it closes between the head and the
 * body of a message, as when a peer dies that has more requests under way, and its one
 * thread for that waits for the read. Then every further connection costs a descriptor, and
 * only a new process helps. */
#define BUS_CONNECTIONS_MAX 1024

struct bus_stats {
	uint64_t calls, replies, timeouts, resets, repeats, published, received, gaps,
		deaf_relistens;
	size_t in_flight;
	int64_t connections; /* open, to the worker's own two sockets */
};
/* The calls to one owner: how long they took until the answer or the failure, those that have ended. */
#define BUS_TOOK_LIMIT_COUNT 12
extern const int64_t bus_took_limits_us[BUS_TOOK_LIMIT_COUNT];
struct bus_owner_stats {
	uint64_t count, refused;
	int64_t total_us;
	uint64_t within[BUS_TOOK_LIMIT_COUNT]; /* by the lowest limit that it keeps */
	size_t waiting;			       /* at the moment */
};
void bus_get_owner_stats(
	const struct bus *bus, enum worker_id owner, struct bus_owner_stats *out);
/* Writes a line of JSON (type tapped) to a pipe for each call that this worker receives,
 * answers or fails to make, and for each event it publishes. Takes over `fd` and closes an
 * earlier one. Never blocks: lines that do not fit are dropped and counted. Ends when the
 * other end is closed. */
void bus_tap(struct bus *bus, int fd);
void bus_get_stats(const struct bus *bus, struct bus_stats *out);
