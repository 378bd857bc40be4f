/* nearest.c - see nearest.h. Called by settings_files.c, by the codec and, for command lines, by the supervisor's programs. */
#include "common/settings/nearest.h"

#include <stdint.h>

static bool same(char a, char b, bool fold)
{
	return fold ? (a | 0x20) == (b | 0x20) : a == b;
}

size_t nearest_distance(struct str a, struct str b, bool fold)
{
	size_t row[NEAREST_WORD_MAX + 1];

	if (a.len > NEAREST_WORD_MAX || b.len > NEAREST_WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= b.len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.len; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b.len; j++) {
			size_t best = corner + !same(a.ptr[i - 1], b.ptr[j - 1], fold);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[b.len];
}

void nearest_offer(struct nearest *n, const char *name)
{
	size_t distance;

	if (n->word.len == 0 || strlen(name) >= NEAREST_WORD_MAX)
		return;
	distance = nearest_distance(n->word, str_of(name), false);
	if (distance > n->word.len / 4 + 1 || distance >= n->word.len)
		return;
	if (n->name && distance >= n->distance)
		return;
	n->name = name;
	n->distance = distance;
}
