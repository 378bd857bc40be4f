/*
 * memory_rank.h - the best of many, and two rankings fused into one. Pure.
 */
#pragma once

#include "common/base/arena.h"
#include <stdint.h>

/* The constant of reciprocal rank fusion: how little the first places differ. */
#define MEMORY_RANK_K 60

struct memory_scored {
	int64_t number;
	double score;
};

/* The best `room` of all that was offered, as a heap with the worst of them in front. */
struct memory_best {
	struct memory_scored *items;
	size_t count, room;
};

void memory_best_init(struct memory_best *best, size_t room, struct arena *arena);
void memory_best_offer(struct memory_best *best, int64_t number, double score);
/* Orders what was kept: the best first, among equals the newest (the higher number). No
 * offer may follow. */
void memory_best_sort(struct memory_best *best);

/*
 * Fuses two rankings (numbers, the best first, none twice): each number gets 1 /
 * (MEMORY_RANK_K + place) from each. The best `room` in order into `out`; equals are
 * ordered as the first ranking has them, then the newest first. Returns how many.
 * Allocates in the arena.
 */
size_t memory_fuse(const struct memory_scored *first, size_t first_count,
	const int64_t *second, size_t second_count, struct memory_scored *out,
	size_t room, struct arena *arena);
