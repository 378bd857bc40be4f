/* nearest.h - which of some known names a misspelt word may mean. */
#pragma once

#include "common/base/str.h"
#include <stdbool.h>

/* A longer word, in bytes, means none, so that the work is bounded whatever it comes from. */
#define NEAREST_WORD_MAX 64

/* Letters to change, add or take away to make one word of the other (Levenshtein); SIZE_MAX when one is longer than
 * NEAREST_WORD_MAX. `fold`: upper and lower case of ASCII are the same. */
size_t nearest_distance(struct str a, struct str b, bool fold);

/* Begins as {.word = ...}, which is borrowed. */
struct nearest {
	struct str word;
	const char *name; /* the nearest of those offered so far, or NULL: none is near */
	size_t distance; /* letters to change, add or take away to come from `word` to `name` */
};

/* Keeps the name if it is nearer than those before it. One letter may be wrong, and one more for every four of the word, but
 * never all of them. `name` is borrowed. */
void nearest_offer(struct nearest *n, const char *name);
