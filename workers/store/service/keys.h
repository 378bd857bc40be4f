/*
 * keys.h - the answers to the last keyed calls, so that one repeated soon is answered and
 * not done again.
 *
 * Only a shortcut: after a restart the rows themselves show what was done
 * (row_ids.h). Bounded in number and bytes; the oldest goes first. One thread.
 */
#pragma once

#include "common/base/ids.h"
#include "common/base/str.h"

#define KEYS_MAX 4096	       /* answers kept */
#define KEYS_MAX_BYTES 2097152 /* of their texts together */

struct keys;

struct keys *keys_new(void) __attribute__((returns_nonnull));
void keys_free(struct keys *keys);
/* Remembers the answer of `method` (enum method) to `key`, both copied. An answer too
 * large for the whole memory, or a key that is no UUID, is not kept. */
void keys_remember(struct keys *keys, struct str key, int method, struct str answer);
/* The answer, valid until the next keys_remember, or absent. */
struct str keys_recall(const struct keys *keys, struct str key, int method);
