/* nearest.c - see nearest.h. Called by settings_files.c and, for command lines, by the supervisor's programs. */
#include "common/settings/nearest.h"

#include <stdint.h>

/* Letters to change, add or take away to make one name of the other (Levenshtein). */
static size_t distance_between(struct str a, const char *b)
{
	size_t row[NEAREST_WORD_MAX];
	size_t n = strlen(b);

	if (n >= NEAREST_WORD_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.len; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = corner + (a.ptr[i - 1] != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

void nearest_offer(struct nearest *n, const char *name)
{
	size_t distance;

	if (n->word.len == 0 || n->word.len > NEAREST_WORD_MAX)
		return;
	distance = distance_between(n->word, name);
	if (distance > n->word.len / 4 + 1 || distance >= n->word.len)
		return;
	if (n->name && distance >= n->distance)
		return;
	n->name = name;
	n->distance = distance;
}
