/* instances.c - which instances are in memory (engine.h): a hash table, and a ring by
 * use. */
#include "common/base/alloc.h"
#include "common/worker/metrics.h"
#include "workers/guard-engine/engine/engine.h"
#include "workers/guard-engine/stream/machines.h"
#include <stdio.h>
#include <stdlib.h>

#define FIRST_BUCKETS 1024

static size_t hash(enum guard_kind kind, struct str id)
{
	uint64_t h = 1469598103934665603u + (uint64_t)kind;

	for (size_t i = 0; i < id.len; i++)
		h = (h ^ (unsigned char)id.ptr[i]) * 1099511628211u;
	return (size_t)(h ^ h >> 32);
}

static struct instances *bucket(
	const struct engine *e, enum guard_kind kind, struct str id)
{
	return &e->buckets[hash(kind, id) % e->bucket_count];
}

struct instance *instances_find(struct engine *e, enum guard_kind kind, struct str id)
{
	struct instance *i = e->bucket_count ? LIST_FIRST(bucket(e, kind, id)) : NULL;

	while (i && (i->kind != kind || !str_is(id, i->id)))
		i = LIST_NEXT(i, link);
	return i;
}

static void grow(struct engine *e)
{
	size_t old_count = e->bucket_count;
	struct instances *old = e->buckets;

	e->bucket_count = old_count ? old_count * 4 : FIRST_BUCKETS;
	e->buckets = xcalloc(e->bucket_count, sizeof(*e->buckets));
	for (size_t b = 0; b < old_count; b++) {
		while (!LIST_EMPTY(&old[b])) {
			struct instance *i = LIST_FIRST(&old[b]);

			LIST_REMOVE(i, link);
			LIST_INSERT_HEAD(bucket(e, i->kind, str_of(i->id)), i, link);
		}
	}
	free(old);
}

static void count_machine(enum guard_kind kind, int n)
{
	struct metric_labels labels = {.len = 0};

	metric_label(&labels, "kind", guard_kind_enumeration()->names[kind]);
	metric_add(METRIC_GUARD_MACHINES, &labels, n);
}

struct instance *instances_add(struct engine *e, enum guard_kind kind, struct str id)
{
	struct instance *i = xcalloc(1, sizeof(*i));

	if (e->instance_count >= e->bucket_count)
		grow(e);
	i->engine = e;
	i->kind = kind;
	i->stream.machine = i->next_stream.machine = machine_of(kind);
	TAILQ_INIT(&i->ops);
	memcpy(i->id, id.ptr, id.len < sizeof(i->id) ? id.len : sizeof(i->id) - 1);
	/* By the same bytes as when it is looked for and when it leaves. */
	LIST_INSERT_HEAD(bucket(e, kind, str_of(i->id)), i, link);
	e->instance_count++;
	count_machine(kind, 1);
	return i;
}

static void leave_ring(struct instance *i)
{
	if (!i->newer)
		return;
	i->newer->older = i->older;
	i->older->newer = i->newer;
	i->newer = i->older = NULL;
	i->engine->loaded--;
}

void instances_unload(struct instance *i)
{
	leave_ring(i);
	free(i->stream.state);
	free(i->next_stream.state);
	i->stream.state = i->next_stream.state = NULL;
	stream_result_free(&i->result);
	arena_free(&i->arena);
	free(i->problem);
	i->problem = NULL;
	i->phase = INSTANCE_KNOWN;
}

void instances_drop(struct instance *i)
{
	struct engine *e = i->engine;

	LIST_REMOVE(i, link);
	e->instance_count--;
	count_machine(i->kind, -1);
	clocks_set(&e->clocks, i->stream.machine->clock, &i->alarm, MACHINE_NEVER);
	instances_unload(i);
	free(i);
}

/* Nothing of it is under way: its memory can go, and it itself too, when no timer wants
 * it. */
static bool is_at_rest(const struct instance *i)
{
	return (i->phase == INSTANCE_READY || i->phase == INSTANCE_BROKEN) &&
	       TAILQ_EMPTY(&i->ops) && !i->appending && i->asked_count == 0;
}

static void make_room(struct engine *e)
{
	struct instance *i = e->newest.newer;

	/* The ring's head stands between the newest and the oldest; the newest is in use.
	 */
	while (e->loaded > ENGINE_MAX_LOADED && i != e->newest.older) {
		struct instance *next = i->newer;

		if (is_at_rest(i)) {
			if (i->alarm.place)
				instances_unload(i);
			else
				instances_drop(i);
		}
		i = next;
	}
}

void instances_touch(struct instance *i)
{
	struct engine *e = i->engine;

	if (!e->newest.newer)
		e->newest.newer = e->newest.older = &e->newest;
	leave_ring(i);
	i->newer = &e->newest;
	i->older = e->newest.older;
	i->older->newer = i;
	e->newest.older = i;
	e->loaded++;
	if (e->loaded > ENGINE_MAX_LOADED)
		make_room(e);
}
