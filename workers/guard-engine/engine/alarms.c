/* alarms.c - see alarms.h. */
#include "workers/guard-engine/engine/alarms.h"
#include "common/base/alloc.h"
#include <stdlib.h>

static void put(struct alarms *heap, size_t place, struct alarm *a)
{
	heap->items[place] = a;
	a->place = place;
}

static void rise(struct alarms *heap, struct alarm *a)
{
	size_t place = a->place;

	while (place > 1 && heap->items[place / 2]->at_ms > a->at_ms) {
		put(heap, place, heap->items[place / 2]);
		place /= 2;
	}
	put(heap, place, a);
}

static void sink(struct alarms *heap, struct alarm *a)
{
	size_t place = a->place;

	for (;;) {
		size_t child = 2 * place;

		if (child > heap->count)
			break;
		if (child < heap->count &&
			heap->items[child + 1]->at_ms < heap->items[child]->at_ms)
			child++;
		if (heap->items[child]->at_ms >= a->at_ms)
			break;
		put(heap, place, heap->items[child]);
		place = child;
	}
	put(heap, place, a);
}

void alarms_set(struct alarms *heap, struct alarm *a, int64_t at_ms)
{
	a->at_ms = at_ms;
	if (!a->place) {
		if (heap->count + 1 >= heap->room) {
			heap->room = heap->room ? 2 * heap->room : 64;
			heap->items = xrealloc(
				heap->items, heap->room * sizeof(struct alarm *));
		}
		put(heap, ++heap->count, a);
	}
	rise(heap, a);
	sink(heap, a);
}

void alarms_clear(struct alarms *heap, struct alarm *a)
{
	struct alarm *last;

	if (!a->place)
		return;
	last = heap->items[heap->count--];
	if (last != a) {
		put(heap, a->place, last);
		rise(heap, last);
		sink(heap, last);
	}
	a->place = 0;
}

struct alarm *alarms_first(const struct alarms *heap)
{
	return heap->count ? heap->items[1] : NULL;
}

void alarms_fini(struct alarms *heap)
{
	free(heap->items);
	*heap = (struct alarms){0};
}
