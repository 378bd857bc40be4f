/* serve.c - from the bus to handlers and back (serve.h). */
#include "workers/store/service/serve.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "common/worker/worker.h"
#include "proto/codec/messages.h"
#include "workers/store/service/kept.h"
#include "workers/store/service/store.h"
#include "workers/store/service/tool_calls.h"
#include "workers/store/service/upkeep.h"
#include <errno.h>
#include <stdlib.h>

/* One method as the bus knows it. */
struct served {
	struct store *store;
	const struct service *service;
};

struct serve {
	const struct serve_beside *beside;
	/* Pending while calls wait: at once, or the pause of a lock. */
	struct event *turn;
	int pause_ms; /* 0: the database is not locked */
	struct mono locked_since;
	bool locked_told;
	unsigned long unlogged; /* since the last warning */
	struct mono warn_after;
	struct kept *kept;
};

/* Of those that were kept, so many join the queue at a time. */
#define KEPT_AT_ONCE 256

static void schedule(struct serve *serve, int ms)
{
	event_add_ms(serve->turn, ms);
}

/* Nobody waits for the answer of a log row, so that it failed is said here, now and then.
 */
static void note_unlogged(struct serve *serve, const struct call *call)
{
	struct mono now = clock_mono();

	if (!serve)
		return;
	serve->unlogged++;
	if (now.us < serve->warn_after.us)
		return;
	log_warn("rows not logged", "calls", "%lu", serve->unlogged, "method", "%s",
		method_infos[call->method].name, "code", "%s", call->outcome.error->name,
		"message", "%.*s", STR_ARG(call->outcome.message), NULL);
	serve->unlogged = 0;
	serve->warn_after = mono_add_ms(now, SERVE_UNLOGGED_WARN_MS);
}

void serve_answer(struct store *store, struct call *call)
{
	struct call_outcome *o = &call->outcome;
	struct bus_request *request = call->request;

	if (o->error) {
		if (call->service->flags & SERVICE_LATE)
			note_unlogged(store->serve, call);
		bus_answer_error(request, o->error->name, (struct str){0}, "%.*s",
			STR_ARG(o->message));
		return;
	}
	if (call->key.ptr && !(call->service->flags & SERVICE_LATE))
		keys_remember(store->keys, call->key, (int)call->method, o->answer);
	bus_answer(request, o->answer);
}

static void on_done(struct store *store, struct call *call)
{
	if (call->outcome.committed && !call->outcome.error)
		call->outcome.committed(store, call);
	/* Windows hear of it before the caller can act on the answer. */
	for (struct publication *p = call->outcome.first; p && !call->outcome.error;
		p = p->next)
		bus_publish(store->bus, p->topic, p->body);
	if (!call->request)
		kept_done(store->serve->kept, call, store->group.error);
	else if (call->outcome.after && !call->outcome.error)
		call->outcome.after(store, call);
	else if (call->outcome.error && store->serve &&
		 kept_take(store->serve->kept, call, store->group.error))
		bus_answer(call->request, (struct str){0});
	else
		serve_answer(store, call);
}

/* There is room: what was kept joins the queue, a part at a time. */
static void take_kept(struct store *store)
{
	struct call *call;

	for (int n = 0; n < KEPT_AT_ONCE && (call = kept_next(store->serve->kept)); n++)
		group_add(&store->group, call);
}

void serve_wake(struct store *store)
{
	if (store->serve)
		schedule(store->serve, 0);
}

static void note_locked(struct store *store, struct serve *serve)
{
	struct mono now = clock_mono();

	if (serve->pause_ms == 0) {
		serve->locked_since = now;
		serve->pause_ms = SERVE_RETRY_MIN_MS;
	} else if (serve->pause_ms < SERVE_RETRY_MAX_MS) {
		serve->pause_ms *= 2;
	}
	if (!serve->locked_told &&
		mono_diff_ms(now, serve->locked_since) >= SERVE_LOCKED_WARN_MS) {
		serve->locked_told = true;
		log_warn("another process has the database locked; calls wait", "path",
			"%s", store->db.path, "waiting", "%zu", store->group.waiting,
			NULL);
	}
	schedule(serve, serve->pause_ms);
}

static void note_unlocked(struct store *store, struct serve *serve)
{
	if (serve->locked_told)
		log_info("the database is no longer locked", "path", "%s", store->db.path,
			"ms", "%lld",
			(long long)mono_diff_ms(clock_mono(), serve->locked_since), NULL);
	serve->locked_told = false;
	serve->pause_ms = 0;
}

static void on_turn(EVENT_UNUSED, void *arg)
{
	struct store *store = arg;
	struct serve *serve = store->serve;
	int result = group_run(store, on_done);

	if (result == -EBUSY) {
		note_locked(store, serve);
		return;
	}
	note_unlocked(store, serve);
	upkeep_after_group(store, result);
	if (result == 0 && !store->health.failing)
		take_kept(store);
	/* One group a turn, so that the bus and the timers get theirs. */
	if (store->group.waiting > 0)
		schedule(serve, 0);
}

/* Reads that need not keep their place among others do not wait for a lock that only
 * writers need. */
static void run_past_lock(struct store *store, struct call *call)
{
	struct group waiting = store->group;
	int result;

	store->group = (struct group){0};
	group_add(&store->group, call);
	result = group_run(store, on_done);
	store->group = waiting;
	if (result == -EBUSY)
		group_add(&store->group, call);
}

/* A call has joined the queue. */
static void want_turn(struct serve *serve)
{
	if (!event_pending(serve->turn, EV_TIMEOUT, NULL))
		schedule(serve, 0);
}

/* Calls that are queued in one place or the other. guard.db has no memories. */
static size_t waiting(const struct store *store)
{
	size_t memories = store->beside ? 0 : store->serve->beside->memory_waiting(store);

	return store->group.waiting + memories;
}

/* Makes a call of a request, in its arena. NULL: the arguments of a tool are wrong, and
 * the request was answered so. */
static struct call *make_call(
	const struct served *served, struct bus_request *request, const void *message)
{
	bool keyed = method_infos[request->method].flags & METHOD_KEYED;
	struct call *call = arena_alloc(&request->arena, sizeof(*call));
	struct proto_error error;

	*call = (struct call){
		.method = request->method,
		.service = served->service,
		.key = keyed ? request->key : (struct str){0},
		.message = message,
		.arrived = clock_wall(),
		.deadline = request->deadline,
		.arena = &request->arena,
		.request = request,
	};
	if (!(served->service->flags & SERVICE_TOOL) || tool_call_read(call, &error) == 0)
		return call;
	bus_answer_error(request, error_code_infos[ERROR_INVALID_MESSAGE].name,
		(struct str){0}, "%s", error.text);
	return NULL;
}

static void on_request(void *arg, struct bus_request *request, const void *message)
{
	struct served *served = arg;
	struct store *store = served->store;
	unsigned flags = method_infos[request->method].flags;
	struct call *call;

	if (!store->serve) {
		bus_answer_error(
			request, "UNAVAILABLE", (struct str){0}, "The store is stopping");
		return;
	}
	if (store->beside && !store->serve->beside->streams_ready(store)) {
		bus_answer_error(request, "STORAGE_FAILED", (struct str){0},
			"Guards are unavailable: %s", store->health.problem.text);
		return;
	}
	if ((flags & METHOD_KEYED) && !uuid_valid(request->key)) {
		bus_answer_error(request, "INVALID_MESSAGE", (struct str){0},
			"%s needs a UUID as its key", method_infos[request->method].name);
		return;
	}
	if (waiting(store) >= SERVE_MAX_WAITING) {
		bus_answer_error(request, "BUSY", (struct str){0},
			"The database is locked by another process and too many calls "
			"wait");
		return;
	}
	call = make_call(served, request, message);
	if (!call)
		return;
	if (served->service->flags & SERVICE_MEMORY) {
		store->serve->beside->memory_take(store, call);
		return;
	}
	if (store->serve->pause_ms > 0 && (flags & METHOD_READ) &&
		!(flags & METHOD_BATCH)) {
		run_past_lock(store, call);
		return;
	}
	group_add(&store->group, call);
	want_turn(store->serve);
}

static void open_one(struct store *store, const struct serve_beside *beside)
{
	struct serve *serve = xcalloc(1, sizeof(*serve));

	store->serve = serve;
	serve->beside = beside;
	serve->kept = kept_new();
	serve->turn = alloc_checked(evtimer_new(store->worker->base, on_turn, store));
}

void serve_open(struct store *store, const struct serve_beside *beside)
{
	struct served *served = xcalloc(
		services_count, sizeof(*served)); /* for the life of the process */

	open_one(store, beside);
	open_one(store->streams, beside);
	for (size_t i = 0; i < services_count; i++) {
		bool on_streams = services[i].flags & SERVICE_STREAMS;

		served[i] = (struct served){.store = on_streams ? store->streams : store,
			.service = &services[i]};
		bus_serve(store->bus, services[i].method, on_request, &served[i]);
	}
}

void serve_close(struct store *store)
{
	if (!store->serve)
		return;
	/* The bus keeps what it was given at serve_open; calls are refused from now on.
	 */
	event_free(store->serve->turn);
	kept_free(store->serve->kept);
	free(store->serve);
	store->serve = NULL;
}
