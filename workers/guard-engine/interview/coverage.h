/*
 * coverage.h - which dimensions an answer covers, by the words in it (IV-6.2).
 *
 * The light evaluator: no model, the same answer for the same words. Pure; called by
 * interview.c and by artifacts.c, which quotes the words that were found.
 */
#pragma once

#include "proto/codec/messages.h"
#include "workers/guard-engine/interview/interview_schema.h"

/* How far `text` covers the dimension: one of its strong words covers it, a weak one
 * touches it. */
enum interview_level coverage_judge(const struct interview_dimension *d, struct str text);

/* Is one of the words in the text? A word of the list counts at the beginning of a word
 * of the text, =word as a whole word, *word anywhere; case of ASCII letters does not
 * matter. */
bool coverage_mentions(struct str text, const char *words);

/* Is there enough in it to count as an answer (IV-6.4)? Twelve letters or
 * digits; every character beyond ASCII counts as a letter. */
#define COVERAGE_MIN_LETTERS 12
bool coverage_is_substantive(struct str text);
