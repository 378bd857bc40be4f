/* pathmap.c - the table of pathmap.h: linear probing, deletion by shifting back. */
#include "workers/fswatch/disk/pathmap.h"
#include "common/base/alloc.h"
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#define FIRST_CAP 16

static uint64_t hash_of(struct str key)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < key.len; i++)
		h = (h ^ (unsigned char)key.ptr[i]) * 1099511628211u;
	return h ^ h >> 32;
}

/* The slot of the key, or the free slot where it belongs. The table has a free slot. */
static size_t find(const struct pathmap *map, struct str key, uint64_t hash)
{
	size_t mask = map->cap - 1;
	size_t i = hash & mask;

	while (map->slots[i].value &&
		!(map->slots[i].hash == hash && str_eq(map->slots[i].key, key)))
		i = (i + 1) & mask;
	return i;
}

static void grow(struct pathmap *map)
{
	struct pathmap old = *map;

	map->cap = old.cap ? old.cap * 2 : FIRST_CAP;
	map->slots = xcalloc(map->cap, sizeof(*map->slots));
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].value)
			map->slots[find(map, old.slots[i].key, old.slots[i].hash)] =
				old.slots[i];
	free(old.slots);
}

void *pathmap_get(const struct pathmap *map, struct str key)
{
	return map->count ? map->slots[find(map, key, hash_of(key))].value : NULL;
}

void pathmap_put(struct pathmap *map, struct str key, void *value)
{
	uint64_t hash = hash_of(key);

	assert(value);
	if ((map->count + 1) * 4 > map->cap * 3)
		grow(map);

	struct pathmap_slot *slot = &map->slots[find(map, key, hash)];

	map->count += slot->value == NULL;
	*slot = (struct pathmap_slot){key, hash, value};
}

void *pathmap_remove(struct pathmap *map, struct str key)
{
	if (map->count == 0)
		return NULL;

	size_t mask = map->cap - 1;
	size_t hole = find(map, key, hash_of(key));
	void *value = map->slots[hole].value;

	if (!value)
		return NULL;
	/* Whatever probed past the hole moves back into it. */
	for (size_t i = (hole + 1) & mask; map->slots[i].value; i = (i + 1) & mask) {
		size_t home = map->slots[i].hash & mask;

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole] = (struct pathmap_slot){.value = NULL};
	map->count--;
	return value;
}

void *pathmap_next(const struct pathmap *map, size_t *at)
{
	while (*at < map->cap) {
		void *value = map->slots[(*at)++].value;

		if (value)
			return value;
	}
	return NULL;
}

void pathmap_fini(struct pathmap *map)
{
	free(map->slots);
	*map = (struct pathmap){.slots = NULL};
}
