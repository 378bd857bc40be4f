/*
 * memory_vector.h - vectors of embedders: from a message, into a column, and how near two
 * of them are. Pure.
 *
 * Vectors are kept with length 1, so that the cosine of two is their dot product.
 */
#pragma once

#include "common/base/arena.h"

/* Longer ones are refused. */
#define MEMORY_VECTOR_MAX 8192

struct memory_vector {
	float *values;
	size_t size;
};

/*
 * Reads base64 of little-endian floats and brings them to length 1, in the arena. 0, or
 * -EINVAL when it is no base64, has no or too many numbers, or no length (zero, infinite,
 * not a number).
 */
int memory_vector_read(struct str base64, struct arena *arena, struct memory_vector *out)
	__attribute__((warn_unused_result));

/* The cosine of a vector and `size` floats at any address. */
float memory_vector_cosine(const struct memory_vector *vector, const void *floats);
