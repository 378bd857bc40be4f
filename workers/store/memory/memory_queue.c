/* memory_queue.c - calls to memory.db, one after the other, in slices (memory.h). */
#include "common/base/alloc.h"
#include "common/loop/timer.h"
#include "common/worker/worker.h"
#include "workers/store/memory/memory.h"
#include "workers/store/service/serve.h"
#include "workers/store/service/store.h"
#include <errno.h>
#include <stdlib.h>

static void schedule(struct memory *m, int ms)
{
	event_add_ms(m->turn, ms);
}

/* As a service. */
static int run(struct store *store, struct call *call)
{
	struct str known = keys_recall(store->keys, call->key, (int)call->method);

	if (known.ptr) {
		call_answer_text(call, arena_str(call->arena, known));
		return 0;
	}
	if (!call->progress && clock_mono().us > call->deadline.us)
		return call_refuse(call, ERROR_TIMEOUT, "%s came to its turn too late",
			method_infos[call->method].name);
	if (!memory_ready(store))
		return call_refuse(call, ERROR_STORAGE_FAILED,
			"Memories are unavailable: %s", store->health.memory.text);
	return call->service->handler(store, call);
}

static void on_turn(EVENT_UNUSED, void *arg)
{
	struct store *store = arg;
	struct memory *m = store->memory;
	struct call *call = m->queue.first;
	int result = run(store, call);

	if (result == -EBUSY || result == 1) {
		schedule(m, result == 1 ? 0 : MEMORY_LOCKED_MS);
		return;
	}
	serve_answer(store, group_take(&m->queue));
	if (m->queue.first)
		schedule(m, 0);
}

void memory_take(struct store *store, struct call *call)
{
	struct memory *m = store->memory;

	if (!m->turn)
		m->turn = alloc_checked(evtimer_new(store->worker->base, on_turn, store));
	group_add(&m->queue, call);
	if (m->queue.first == call)
		schedule(m, 0);
}

size_t memory_waiting(const struct store *store)
{
	return store->memory->queue.waiting;
}
