/*
 * bus.h - typed messages between workers: call, serve, publish, subscribe.
 *
 * The only user of nng.
 * Everything happens on the worker's own libevent loop; each callback runs exactly once.
 *
 * Calls go to methods of proto/catalogue/methods.def over req/rep. Calls made in one turn of the loop to the same
 * worker travel together in one nng message where the method allows it (METHOD_BATCH), and so do their
 * replies: a burst costs one wake-up. REQ never resends by itself; the bus repeats a call after a reset
 * or while the owner is away, until its deadline, only when the method says that is safe:
 *   METHOD_READ   changes nothing: repeated freely
 *   METHOD_KEYED  changes something, once per key: repeated with the same key
 *   METHOD_ONCE   never repeated
 *
 * A caller proves who it is with a key (common/bus/rules/bus_keys.h), and may call what methods.def says. An event
 * is taken only from the worker that owns its topic (topics.def): no other can listen in its place.
 *
 * Events are numbered by their publisher within an epoch; a subscriber that sees a gap is told.
 *
 * Messages are lines of text and JSON bodies, framed as common/bus/rules/bus_wire.h says.
 */
#ifndef PAIGE_COMMON_BUS_BUS_H
#define PAIGE_COMMON_BUS_BUS_H

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/bus/rules/bus_keys.h"
#include "proto/codec/codec.h"
#include "proto/tables/methods.h"
#include "proto/tables/workers.h"
#include <event2/event.h>

struct bus;

/* Nothing is connected yet; serve and subscribe may be called, calls wait. NULL with errno on failure
 * (ENAMETOOLONG when runtime_dir leaves no room for the sockets in it). */
struct bus *bus_open(struct event_base *base, enum worker_id self,
	const char *runtime_dir, uint64_t epoch);
/* What proves who calls whom; without it every key is 0. Before bus_start. */
void bus_set_keys(struct bus *bus, const struct bus_keys *keys);
/* `self` listens at RUNTIME_DIR/<name>/rep and pub and dials whoever it calls or is subscribed to. The
 * first call into nng: its threads inherit signal mask and confinement. 0 or -errno (-EADDRINUSE while
 * an earlier process has not left yet: try again). */
int bus_start(struct bus *bus) __attribute__((warn_unused_result));
/* Lets the calling thread run on every processor that the process may use. Threads that the loop's thread
 * makes need this, because that one may be bound to one processor (`affinity` of workers.def). */
void bus_thread_roams(void);
/* Starts to answer calls; before it they wait. After bus_start. */
void bus_start_serving(struct bus *bus);
/* Stops taking calls, answers those in flight, flushes; calls `done` within 500 ms at most. */
void bus_drain(struct bus *bus, void (*done)(void *arg), void *arg);

/* ---- calling ---- */

enum bus_status {
	BUS_OK,
	BUS_ERROR,   /* the owner answered with an error: code, message, context */
	BUS_TIMEOUT, /* no answer before the deadline */
	BUS_RESET, /* the owner went away before answering, and the call may not be repeated */
	BUS_REFUSED, /* BUS_MAX_CALLS or BUS_MAX_BYTES are in flight to the owner */
	BUS_TOO_BIG, /* request or answer over BUS_BODY_MAX, or the owner says TOO_BIG */
};

#define BUS_MAX_CALLS 4096
#define BUS_MAX_BYTES (128u * 1024 * 1024)
#define BUS_BODY_MAX (20u * 1024 * 1024) /* bytes of a request, an answer, an event */

/* Borrowed until the callback returns. For a status other than BUS_OK, code and message are set: the
 * owner's own, or a fixed text that names the owner ("The file worker did not answer in time"). */
struct bus_reply {
	enum bus_status status;
	struct str body; /* JSON, on BUS_OK */
	struct str code; /* enum error_code name, "FILE_ERROR" */
	struct str message;
	struct str context; /* JSON object or absent */
};

typedef void bus_reply_fn(void *arg, const struct bus_reply *reply);

/*
 * Calls a method with a JSON body (copied before return). `key`: for METHOD_KEYED, a UUID made by the
 * caller, absent otherwise. `deadline_ms` 0 takes the method's. on_reply may be NULL for METHOD_KEYED
 * and METHOD_ONCE. The callback never runs inside this call.
 */
void bus_call(struct bus *bus, enum method method, struct str key, struct str body,
	int64_t deadline_ms, bus_reply_fn *on_reply, void *arg);
/* The same with a body that lies in `owner`, whose memory is taken over unless
 * the call is refused: a large body is not copied. */
void bus_call_taking(struct bus *bus, enum method method, struct str key, struct str body,
	struct buf *owner, int64_t deadline_ms, bus_reply_fn *on_reply, void *arg);
/* The same as bus_call, encoding the method's request type. */
void bus_call_message(struct bus *bus, enum method method, struct str key,
	const void *request, int64_t deadline_ms, bus_reply_fn *on_reply, void *arg);
/* From another thread of the same process (llm's flows): blocks; the result is in the arena. */
struct bus_reply bus_call_wait(struct bus *bus, enum method method, struct str key,
	const void *request, int64_t deadline_ms, struct arena *arena);
/* Decodes a reply body by the method's reply type. 0, or -EINVAL with *error. The document is kept in
 * the arena's keeping (freed with it). */
int bus_reply_decode(enum method method, const struct bus_reply *reply,
	struct arena *arena, void *out, struct proto_error *error)
	__attribute__((warn_unused_result));

/*
 * Calls to one owner are answered in the order in which they were made where both are METHOD_BATCH, also
 * across a restart of the owner; of others no order is promised: who needs one waits for the answer.
 * True when more than BUS_CONGESTED_CALLS or BUS_CONGESTED_BYTES wait for `owner`: the caller should stop
 * reading from whoever makes it call. `on_uncongested` (one per bus) is called when that is over.
 */
#define BUS_CONGESTED_CALLS 1024
#define BUS_CONGESTED_BYTES (16u * 1024 * 1024)
bool bus_congested(const struct bus *bus, enum worker_id owner);
void bus_on_uncongested(struct bus *bus,
	void (*on_uncongested)(void *arg, enum worker_id owner), void *arg);

/* ---- serving ---- */

/* A longer body is parsed and decoded on a thread, so that the loop goes on meanwhile; calls are still
 * begun in their order. */
#define BUS_READ_AT_ONCE_BYTES (256u * 1024)

/* One call being served. The arena and everything decoded live until it is answered. Exactly one
 * bus_answer_… must follow, at once or later. */
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

/* `message` is the decoded request type of the method (a wrong one was answered INVALID_MESSAGE by the
 * bus itself), or NULL when the method has none. */
typedef void bus_serve_fn(void *arg, struct bus_request *request, const void *message);

void bus_serve(struct bus *bus, enum method method, bus_serve_fn *fn, void *arg);
/* True when the method has a handler. */
bool bus_serves(const struct bus *bus, enum method method);
void bus_answer(struct bus_request *request, struct str body);
/* The same with a body that is taken over, which spares a copy of a large one. */
void bus_answer_taking(struct bus_request *request, struct buf *body);
/* Encodes the method's reply type. */
void bus_answer_message(struct bus_request *request, const void *reply);
/* `context` is a JSON object or absent. */
void bus_answer_error(struct bus_request *request, const char *code, struct str context,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- events ---- */

/* Topic and JSON body are copied. Never blocks, never fails; counts what is dropped. */
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

/* All topics of `from` that begin with `prefix`. Call during init, before the loop runs. */
void bus_subscribe(struct bus *bus, enum worker_id from, const char *prefix,
	bus_event_fn *fn, void *arg);
/* Told when events of `from` were missed (`missed` of them), and with `missed` 0 whenever a connection to
 * it has come up, also the first: what was published before is lost, from now on nothing is lost
 * untold. Ask it for a snapshot. */
void bus_on_gap(struct bus *bus, enum worker_id from, bus_gap_fn *fn, void *arg);

/* Logs what is wrong with an event, at most once a second: a worker that was taken over must not fill
 * the logs of others. */
void bus_complain_of_event(
	struct bus *bus, const char *what, const struct bus_event *event);

/* Calls `fn` once, when every worker that is subscribed to was heard, or after `limit_ms`: what
 * happens before is lost, so a worker is not ready earlier. Call once, after the last bus_subscribe. */
void bus_when_heard(struct bus *bus, int limit_ms, void (*fn)(void *arg), void *arg);

/* ---- looking ---- */

struct bus_stats {
	uint64_t calls, replies, timeouts, resets, repeats, published, received, gaps,
		deaf_relistens;
	size_t in_flight;
};
/* Writes a line of JSON (type tapped) to a pipe for each message that this worker answers, is asked,
 * publishes or fails to get through. Takes `fd`, in place of an earlier one. Never blocks: what does not
 * fit is dropped and counted; ends by itself when nobody reads. */
void bus_tap(struct bus *bus, int fd);
void bus_get_stats(const struct bus *bus, struct bus_stats *out);

#endif
