/*
 * embedder.h - text to the vector under which a memory is kept and found (P8.1, P8.8).
 *
 * With the sentence encoder's model: meaning and identifiers in one vector of 1024.
 * Without it: the feature hash alone, 512. Vectors of different embedders must not be
 * mixed: a collection carries the embedder's name and size.
 */
#pragma once

#include "common/base/str.h"

#define EMBEDDING_MAX 1024

struct embedder;

/*
 * `model_dir` may be NULL. A model that cannot be opened is logged once and done without.
 * Never NULL.
 */
struct embedder *embedder_open(const char *model_dir);
void embedder_close(struct embedder *e);
/* "use-lite+hash-1" or "hash-1". */
const char *embedder_name(const struct embedder *e);
int embedder_size(const struct embedder *e);
/* A vector of length 1, for any text: what has no features gets a fixed one. `out` holds
 * embedder_size() floats. One caller at a time. */
void embed(struct embedder *e, struct str text, float *out);
