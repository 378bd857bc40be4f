/* memory_rank.c - the best of many, and two rankings fused into one (memory_rank.h). */
#include "workers/store/memory/memory_rank.h"
#include <stdbool.h>
#include <stdlib.h>

static bool worse(const struct memory_scored *a, const struct memory_scored *b)
{
	return a->score < b->score || (a->score == b->score && a->number < b->number);
}

void memory_best_init(struct memory_best *best, size_t room, struct arena *arena)
{
	*best = (struct memory_best){
		.items = arena_array(arena, room, sizeof(*best->items)), .room = room};
}

static void swap(struct memory_scored *a, struct memory_scored *b)
{
	struct memory_scored kept = *a;

	*a = *b;
	*b = kept;
}

static void sink(struct memory_best *best, size_t at)
{
	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1;
			child <= 2 * at + 2 && child < best->count; child++)
			if (worse(&best->items[child], &best->items[least]))
				least = child;
		if (least == at)
			return;
		swap(&best->items[at], &best->items[least]);
		at = least;
	}
}

static void rise(struct memory_best *best, size_t at)
{
	while (at > 0 && worse(&best->items[at], &best->items[(at - 1) / 2])) {
		swap(&best->items[at], &best->items[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

void memory_best_offer(struct memory_best *best, int64_t number, double score)
{
	struct memory_scored one = {number, score};

	if (best->count < best->room) {
		best->items[best->count] = one;
		rise(best, best->count++);
	} else if (best->room > 0 && worse(&best->items[0], &one)) {
		best->items[0] = one;
		sink(best, 0);
	}
}

static int best_first(const void *a, const void *b)
{
	return worse(a, b) - worse(b, a);
}

void memory_best_sort(struct memory_best *best)
{
	qsort(best->items, best->count, sizeof(*best->items), best_first);
}

/* ---- fusion ---- */

struct fused {
	struct memory_scored sum;
	size_t place; /* in the first ranking, behind its end when it is not there */
};

static int by_number(const void *a, const void *b)
{
	const struct fused *x = a, *y = b;

	return (x->sum.number > y->sum.number) - (x->sum.number < y->sum.number);
}

static int by_score(const void *a, const void *b)
{
	const struct fused *x = a, *y = b;

	if (x->sum.score != y->sum.score)
		return x->sum.score < y->sum.score ? 1 : -1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return -by_number(a, b);
}

static double share_of(size_t place)
{
	return 1.0 / (double)(MEMORY_RANK_K + 1 + place);
}

/* Entries with the same number become one. They are ordered by number. */
static size_t merge(struct fused *all, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (n > 0 && all[n - 1].sum.number == all[i].sum.number) {
			all[n - 1].sum.score += all[i].sum.score;
			if (all[i].place < all[n - 1].place)
				all[n - 1].place = all[i].place;
		} else {
			all[n++] = all[i];
		}
	}
	return n;
}

size_t memory_fuse(const struct memory_scored *first, size_t first_count,
	const int64_t *second, size_t second_count, struct memory_scored *out,
	size_t room, struct arena *arena)
{
	struct fused *all =
		arena_array(arena, first_count + second_count + 1, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < first_count; i++)
		all[n++] = (struct fused){{first[i].number, share_of(i)}, i};
	for (size_t i = 0; i < second_count; i++)
		all[n++] = (struct fused){{second[i], share_of(i)}, first_count};
	qsort(all, n, sizeof(*all), by_number);
	n = merge(all, n);
	qsort(all, n, sizeof(*all), by_score);
	if (n > room)
		n = room;
	for (size_t i = 0; i < n; i++)
		out[i] = all[i].sum;
	return n;
}
