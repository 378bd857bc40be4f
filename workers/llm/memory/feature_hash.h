/*
 * feature_hash.h - text to a vector by hashing its words and parts of words.
 *
 * Knows no meaning but finds exact identifiers and their variants: every word, and every
 * run of 3 to 5 characters of a word, adds or subtracts at a place that its hash names.
 * Deterministic on every machine.
 */
#pragma once

#include "common/base/str.h"

#define FEATURE_HASH_SIZE 512

/* The vector of `text` (UTF-8), of length 1; all zeros when it holds no letter and no
 * digit. */
void feature_hash(struct str text, float out[FEATURE_HASH_SIZE]);
