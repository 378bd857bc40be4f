/*
 * weights.h - the weights of a TensorFlow.js model, mapped from its files.
 *
 * model.json names each tensor with its shape, in the order in which they stand in the
 * shards; the shards are mapped one behind the other, so that a tensor may cross from one
 * into the next.
 */
#pragma once

#include <stddef.h>

struct tokenizer;
struct weights;

/* Returns new, or NULL with `*reason` (static text). */
struct weights *weights_open(const char *dir, const char **reason);
void weights_close(struct weights *w);
/* The tensor whose name ends in `suffix`, when it holds at least `count` floats within
 * the files; else NULL. Borrowed. */
const float *weights_find(const struct weights *w, const char *suffix, size_t count);
/* The vocabulary beside the model. Returns new, or NULL. */
struct tokenizer *weights_vocabulary(const char *dir);
