/* feature_hash.c - text to a vector by hashing (feature_hash.h). */
#include "workers/llm/memory/feature_hash.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <utf8proc.h>

#define SHORTEST_GRAM 3
#define LONGEST_GRAM 5
#define WORD_MAX 64 /* code points; the rest of a longer word is left out */
#define WORD_WEIGHT 2.0f

static uint64_t hash_points(const utf8proc_int32_t *points, size_t n, uint64_t seed)
{
	uint64_t h =
		14695981039346656037u ^ seed; /* FNV-1a, then a finaliser to spread it */

	for (size_t i = 0; i < n; i++)
		for (int shift = 0; shift < 32; shift += 8)
			h = (h ^ (uint64_t)((points[i] >> shift) & 0xFF)) *
			    1099511628211u;
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdu;
	h ^= h >> 33;
	return h;
}

static void add_feature(
	const utf8proc_int32_t *points, size_t n, uint64_t seed, float weight, float *out)
{
	uint64_t h = hash_points(points, n, seed);

	out[h % FEATURE_HASH_SIZE] += (h >> 63) ? weight : -weight;
}

/* `word` has room for a mark on either side, so that beginnings and ends differ from
 * middles. */
static void add_word(utf8proc_int32_t *word, size_t n, float *out)
{
	if (n == 0)
		return;
	add_feature(word + 1, n, 1, WORD_WEIGHT, out);
	word[0] = '<';
	word[n + 1] = '>';
	for (size_t size = SHORTEST_GRAM; size <= LONGEST_GRAM; size++)
		for (size_t i = 0; i + size <= n + 2; i++)
			add_feature(word + i, size, 2, 1.0f, out);
}

/* Letters and numbers of any script. */
static bool is_word(utf8proc_int32_t point)
{
	const char *category = utf8proc_category_string(point);

	return category[0] == 'L' || category[0] == 'N';
}

void feature_hash(struct str text, float out[FEATURE_HASH_SIZE])
{
	utf8proc_int32_t word[WORD_MAX + 2];
	utf8proc_uint8_t *folded = NULL;
	utf8proc_ssize_t len, at = 0;
	float length = 0;
	size_t n = 0;

	memset(out, 0, sizeof(float) * FEATURE_HASH_SIZE);
	if (text.len == 0)
		return;
	len = utf8proc_map((const utf8proc_uint8_t *)text.ptr, (utf8proc_ssize_t)text.len,
		&folded,
		UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD);
	while (at < len) {
		utf8proc_int32_t point;
		utf8proc_ssize_t step = utf8proc_iterate(folded + at, len - at, &point);

		if (step <= 0)
			break;
		at += step;
		if (!is_word(point)) {
			add_word(word, n, out);
			n = 0;
		} else if (n < WORD_MAX) {
			word[1 + n++] = point;
		}
	}
	add_word(word, n, out);
	free(folded);
	for (int i = 0; i < FEATURE_HASH_SIZE; i++)
		length += out[i] * out[i];
	length = sqrtf(length);
	for (int i = 0; i < FEATURE_HASH_SIZE && length > 0; i++)
		out[i] /= length;
}
