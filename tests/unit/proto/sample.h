/*
 * sample.h - random messages of a type, made from its table: for tests and for the corpus
 * of the fuzzer.
 *
 * A sample is exactly what the codec writes for the message that it stands for: fields in
 * table order, null for an absent nullable field, levels as numbers. So encoding what was
 * decoded must give it again.
 */
#pragma once

#include "common/base/buf.h"
#include "proto/codec/codec.h"

/* The same seed gives the same numbers on every machine. */
struct rng {
	uint64_t state;
	int depth; /* of the type being made; deep ones get no more items */
};

uint64_t rng_next(struct rng *rng);
/* 0 to bound - 1. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

/* Appends a sample of `type`; `full` has every field, otherwise each optional one is
 * tossed for. */
void sample_add(struct rng *rng, const struct type *type, bool full, struct buf *out);
