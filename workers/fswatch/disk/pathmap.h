/*
 * pathmap.h - a table from text to pointer: buffers by path, watches by directory.
 *
 * Owns only its slots: keys are borrowed from the values they lead to (or from whatever
 * outlives the entry), values are the caller's. Open addressing, grown to stay at most
 * three quarters full; out of memory ends the process, as in common/base/buf.
 */
#pragma once

#include "common/base/str.h"
#include <stdint.h>

struct pathmap_slot {
	struct str key;
	uint64_t hash;
	void *value; /* NULL: the slot is free */
};

/* Zero is a valid empty table. */
struct pathmap {
	struct pathmap_slot *slots;
	size_t cap; /* 0 or a power of two */
	size_t count;
};

/* The value of a key, or NULL. */
void *pathmap_get(const struct pathmap *map, struct str key);
/* Adds or replaces; `value` is not NULL and `key` is borrowed while the entry stands. */
void pathmap_put(struct pathmap *map, struct str key, void *value);
/* Takes an entry out and returns its value, or NULL when there is none. */
void *pathmap_remove(struct pathmap *map, struct str key);
/*
 * Walks over the values in no particular order: start with *at 0 and go on until NULL.
 * The table must not change in between.
 */
void *pathmap_next(const struct pathmap *map, size_t *at);
/* Forgets all entries and frees the slots. */
void pathmap_fini(struct pathmap *map);
