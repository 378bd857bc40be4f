/*
 * row_ids.h - the ids of rows, made from the key of the call that writes them.
 *
 * A caller's key names what it wants written once. The first row of a call has the key as
 * its id, further rows have ids derived from it, so whoever repeats the call, also after
 * a crash, meets its own rows (bus rule 2). Keys are time-ordered UUIDs, which keeps
 * inserts at the end of the index; rows show them as version 4, which is what clients
 * were promised (P2.15). Pure.
 */
#pragma once

#include "common/base/ids.h"

/* The id of row `n` of the call with this key. 0, or -EINVAL when the key is no UUID. */
int row_id(struct str key, unsigned n, char out[UUID_SIZE])
	__attribute__((warn_unused_result));

/* When a time-ordered key was made, to the millisecond. 0, or -EINVAL for any other key.
 */
int row_key_time(struct str key, struct wall *made) __attribute__((warn_unused_result));
