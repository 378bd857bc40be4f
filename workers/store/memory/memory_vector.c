/* memory_vector.c - vectors of embedders (memory_vector.h). */
#include "workers/store/memory/memory_vector.h"
#include <errno.h>
#include <math.h>
#include <openssl/evp.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "vectors are kept as this machine has them, which messages promise to be little-endian"
#endif

/* Columns begin at any address. */
typedef float lanes __attribute__((vector_size(16), aligned(1), may_alias));

#define LANES 4
/* Four sums at once, so that one need not wait for another. */
#define STRIDE (4 * LANES)

static float sum_of(lanes v)
{
	return (v[0] + v[1]) + (v[2] + v[3]);
}

float memory_vector_cosine(const struct memory_vector *vector, const void *floats)
{
	const float *a = vector->values;
	const char *b = floats;
	lanes sums[4] = {{0}};
	float sum;
	size_t i = 0;

	for (; i + STRIDE <= vector->size; i += STRIDE)
		for (size_t k = 0; k < 4; k++) {
			size_t at = i + k * LANES;

			sums[k] += *(const lanes *)(const void *)(a + at) *
				   *(const lanes *)(const void *)(b + at * sizeof(float));
		}
	sum = sum_of((sums[0] + sums[1]) + (sums[2] + sums[3]));
	for (; i < vector->size; i++) {
		float one;

		memcpy(&one, b + i * sizeof(float), sizeof(one));
		sum += a[i] * one;
	}
	return sum;
}

static int bring_to_length_1(struct memory_vector *vector)
{
	double squares = 0;

	for (size_t i = 0; i < vector->size; i++)
		squares += (double)vector->values[i] * (double)vector->values[i];
	if (!isfinite(squares) || squares <= 0)
		return -EINVAL;
	for (size_t i = 0; i < vector->size; i++)
		vector->values[i] = (float)(vector->values[i] / sqrt(squares));
	return 0;
}

int memory_vector_read(struct str base64, struct arena *arena, struct memory_vector *out)
{
	struct memory_vector vector;
	unsigned char *bytes;
	size_t len;
	int decoded;

	if (base64.len == 0 || base64.len % 4 != 0 ||
		base64.len > (MEMORY_VECTOR_MAX * sizeof(float) + 2) / 3 * 4)
		return -EINVAL;
	bytes = arena_alloc(arena, base64.len / 4 * 3);
	decoded = EVP_DecodeBlock(
		bytes, (const unsigned char *)base64.ptr, (int)base64.len);
	if (decoded < 0)
		return -EINVAL;
	/* Padding is decoded as zeros. */
	len = (size_t)decoded - (base64.ptr[base64.len - 1] == '=') -
	      (base64.ptr[base64.len - 2] == '=');
	if (len == 0 || len % sizeof(float) != 0)
		return -EINVAL;
	vector = (struct memory_vector){(float *)(void *)bytes, len / sizeof(float)};
	if (vector.size > MEMORY_VECTOR_MAX || bring_to_length_1(&vector) < 0)
		return -EINVAL;
	*out = vector;
	return 0;
}
