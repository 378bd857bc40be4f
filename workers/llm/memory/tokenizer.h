/*
 * tokenizer.h - SentencePiece unigram tokeniser with a fixed vocabulary.
 *
 * Splits text into the vocabulary's pieces so that the sum of their scores is greatest
 * (Viterbi), the way the reference implementation of the sentence encoder does. Pure once
 * loaded.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/str.h"
#include <stddef.h>

#define TOKENIZER_MAX_TOKENS 128

struct tokenizer;

/* Reads `[["piece", score], ...]`. Returns new, or NULL when the text is not of that
 * form. */
struct tokenizer *tokenizer_new(struct str vocabulary_json);
void tokenizer_free(struct tokenizer *p);
/* Number of entries; ids are below it. */
size_t tokenizer_count(const struct tokenizer *p);
/*
 * Token ids of `text` (valid UTF-8; NFKC-normalised here), at most TOKENIZER_MAX_TOKENS: the
 * rest of a longer text is left out. Returns how many; 0 for empty text.
 */
size_t tokenizer_split(const struct tokenizer *p, struct str text, struct arena *arena,
	int ids[TOKENIZER_MAX_TOKENS]);
