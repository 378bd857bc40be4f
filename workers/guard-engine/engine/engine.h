/*
 * engine.h - everything around the machines: instances, their streams in the store, timers,
 * clients, models.
 *
 * An event is applied to a copy of the state; its rows go to the store; when they are
 * durable the copy becomes the state, effects are published and the answer leaves. One
 * event of an instance is on its way at a time, others wait in order; instances do not
 * wait for each other. All memory can be rebuilt from the streams: after a
 * crash nothing is asked or shown twice, because nothing leaves before it is
 * durable.
 */
#pragma once

#include "common/worker/worker.h"
#include "workers/guard-engine/engine/clocks.h"
#include "workers/guard-engine/engine/guard_id.h"
#include "workers/guard-engine/engine/zone_cache.h"
#include "workers/guard-engine/stream/stream.h"
#include <sys/queue.h>

/* States kept in memory; the ones that were not used for the longest time leave first. */
#define ENGINE_MAX_LOADED 12288
/* Streams that are read from the store at the same time. */
#define ENGINE_MAX_LOADING 64
/* Calls that may wait for one instance. */
#define ENGINE_MAX_WAITING 1000
/* Rows between two snapshots. */
#define ENGINE_SNAPSHOT_ROWS 64
/* A longer stream takes no events of clients, except those that end it. */
#define ENGINE_MAX_ROWS 100000
/* Refused events are written down as long as the stream is shorter than this. */
#define ENGINE_MAX_ROWS_FOR_REFUSALS 50000
/* Pause before a store that failed is asked again; it doubles up to the second. */
#define ENGINE_RETRY_MS 500
#define ENGINE_RETRY_MAX_MS 4000
/* The same at the start, when the store is there and its streams are not. A damaged
 * guard.db stays damaged until somebody replaces it. */
#define ENGINE_STREAMS_AWAY_MS 5000
#define ENGINE_STREAMS_AWAY_MAX_MS 60000

struct engine;
struct instance;

/* A task of an instance. */
struct op {
	TAILQ_ENTRY(op) link;
	struct bus_request *request; /* of a client; NULL: of the engine */
	yyjson_doc *doc;	     /* of the engine: holds `event` */
	yyjson_val *event;	     /* NULL: only a look at the state */
	struct str client_event_id;
	bool has_expected;
	int64_t expected_cursor;
	struct machine_request
		answers; /* of the engine: the request to a model that it answers */
	bool again; /* it was on its way before; nobody knows whether it was stored */
	struct moment came;
};

enum instance_phase {
	INSTANCE_KNOWN,	  /* not in memory; perhaps with an alarm */
	INSTANCE_LOADING, /* waits for the store */
	INSTANCE_READY,
	INSTANCE_BROKEN, /* its stream does not replay: see `problem` */
};

LIST_HEAD(instances, instance);

struct instance {
	LIST_ENTRY(instance) link;	/* in its bucket */
	struct instance *newer, *older; /* loaded ones, by use */
	struct engine *engine;
	enum guard_kind kind;
	char id[GUARD_ID_SIZE];
	enum instance_phase phase;
	char *problem;
	struct alarm alarm;
	struct timeline timeline;
	struct stream stream; /* state NULL unless READY */
	int64_t snapshot_cursor;
	/* A timer or a model waits for it: it is read however long the store is away. */
	bool wanted;
	int failures; /* of the store, in a row */

	TAILQ_HEAD(, op) ops; /* what waits */
	size_t waiting;

	/* the step on its way to the store */
	bool appending;
	bool creating;		   /* it is the first one */
	struct op *current;	   /* NULL: a tick */
	struct stream next_stream; /* the copy; state NULL unless appending */
	struct stream_result result;
	struct arena arena; /* of its event */

	struct machine_request asked[MACHINE_MAX_REQUESTS]; /* of models, under way */
	int asked_count;
};

struct engine {
	struct worker *worker;
	struct bus *bus;
	struct clocks clocks;
	struct machine_defaults defaults;
	char timezone[ZONE_CACHE_NAME_SIZE];
	struct instances *buckets;
	size_t bucket_count, instance_count;
	struct instance newest; /* head of the ring of loaded ones */
	size_t loaded;
	size_t loading;
	struct instance **to_load; /* waits for ENGINE_MAX_LOADING */
	size_t to_load_count, to_load_room;
	size_t appending;
	bool stopping;
	int64_t waiting_after;	     /* at the start: which waiting streams are known */
	struct event *waiting_again; /* pending while the store's next answer is hoped
					for */
	int waiting_refusals;	     /* in a row */
	char waiting_problem[512];
};

/* The pause after so many failures in a row: `first` ms, doubled by each further one up
 * to `max`. */
static inline int engine_pause_ms(int first, int max, int failures)
{
	while (--failures > 0 && first < max)
		first *= 2;
	return first < max ? first : max;
}

/* ---- instances.c: which there are in memory ---- */

/* The instance, or NULL when it is not in memory. */
struct instance *instances_find(struct engine *e, enum guard_kind kind, struct str id);
/* Makes one in phase KNOWN; it must not be there, and the id must be valid. */
struct instance *instances_add(struct engine *e, enum guard_kind kind, struct str id);
/* Forgets one that nothing waits for. */
void instances_drop(struct instance *i);
/* It was used just now; makes room when too many are loaded. */
void instances_touch(struct instance *i);
/* Gives its memory back, the alarm excepted. */
void instances_unload(struct instance *i);

/* ---- load.c: from the store ---- */

/* Reads the stream, now or when others are done; then the instance goes on. */
void load_start(struct instance *i);
/* Reads it again: what is in memory may not be what is stored. */
void load_again(struct instance *i);
/* The same after a pause: the store is away. Waiting clients get an error; if nothing else
 * waits for the instance, it is forgotten. */
void load_later(struct instance *i, const char *problem);
/* It is unusable until the worker restarts or the stream is read again: all waiting calls
 * are answered with `problem`. */
void load_break_off(struct instance *i, const char *problem);

/* ---- ops.c: the queue of an instance ---- */

/* An op of a client, or (`request` NULL) of the engine; `event` borrows the request or is
 * the op's `doc`. It came just now. */
struct op *op_new(struct engine *e, enum guard_kind kind, struct bus_request *request,
	yyjson_val *event);
void op_free(struct op *op);
/* It is done, and its sender has the answer. */
void op_end(struct instance *i, struct op *op);
/* The same, with an error for the client. */
void op_fail(struct instance *i, struct op *op, const char *code, const char *message);
/* Behind what waits. */
void ops_add(struct instance *i, struct op *op);
/* In front of what waits, because it was on its way and came back. */
void ops_put_back(struct instance *i, struct op *op);
/* The first one; there must be one. */
struct op *ops_take(struct instance *i);
/* Answers everything that waits with an error, the step on its way excepted. */
void ops_fail_all(struct instance *i, const char *code, const char *message);
/* The same for what clients wait for; what the engine has to do stays. */
void ops_fail_clients(struct instance *i, const char *code, const char *message);

/* ---- apply.c: one event in one pass ---- */

/* Queues an op and goes on; BUSY is answered when too many wait. */
void apply_enqueue(struct instance *i, struct op *op);
/* Does what can be done now: ticks that are due, the next op. */
void apply_go_on(struct instance *i);
/* The first row of a new instance. `op` is its creation. */
void apply_create(struct instance *i, struct op *op, const struct guard_facts *facts);
/* The time of the instance when the clocks say `now`; it never goes back. */
int64_t apply_time(const struct instance *i, const struct moment *now);
/* What the wall clock and the zone said at the time `at_ms` of the instance, when the
 * clocks say `now`; false when the zone is not known. */
bool apply_facts(const struct instance *i, const struct machine_event *event,
	const struct moment *now, int64_t at_ms, struct guard_facts *facts);

/* ---- answers.c: answers and effects for clients ---- */

/* Of the step that was stored: effects and the new state for those that watch, then the
 * answer for the client that sent the event (NULL: none did). */
void answers_step(const struct instance *i, struct bus_request *request);
/* {cursor, duplicate: true, decision?, effects, state}: the first answer to guard.event
 * once more. */
void answers_again(const struct stream *s, struct str id, const struct stream_result *r,
	struct bus_request *request);
/* {state, cursor, serverNow, nextDeadline} for guard.get. */
void answers_look(const struct instance *i, struct bus_request *request);

/* ---- requests.c: models ---- */

/* Asks what the machine wants to know and nobody asks yet. */
void requests_sync(struct instance *i);
/* Does the machine still wait for the answer? */
bool requests_open(const struct instance *i, const struct machine_request *request);
/* The event with the answer is dealt with. */
void requests_forget(struct instance *i, const struct machine_request *request);

/* ---- waiting.c: at the start ---- */

/* Learns from the store which streams wait for a timer or a model, and sets their alarms;
 * then the worker is ready. It is ready too, and degraded, while the store has no streams
 * to give: then it asks again, more and more seldom. */
void waiting_ask(struct engine *e);
/* The store has given a stream: what it refused before is asked for at once. */
void waiting_store_answers(struct engine *e);

/* ---- serve.c ---- */

void serve_init(struct engine *e);
