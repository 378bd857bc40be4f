/*
 * bus_keys.h - the keys by which a worker knows who calls it.
 *
 * At each start of the daemon the supervisor makes a key for each ordered pair of workers
 * and gives a worker only the keys of its own pairs. A caller sends the key of the pair with
 * every request. So a compromised worker knows the keys that others use with it, but cannot
 * pass for another worker anywhere else.
 */
#pragma once

#include "common/base/buf.h"
#include "proto/tables/workers.h"
#include <stdbool.h>
#include <stdint.h>

struct bus_key {
	uint64_t high, low;
};

/* What one worker knows. */
struct bus_keys {
	struct bus_key to[WORKER_COUNT];   /* sent to each that it calls */
	struct bus_key from[WORKER_COUNT]; /* expected from each that calls it */
};

bool bus_key_equal(const struct bus_key *a, const struct bus_key *b);
/* Appends hexadecimal digits, the value of PAIGE_BUS_KEYS. */
void bus_keys_print(const struct bus_keys *keys, struct buf *out);
/* 0, or -EINVAL with *out undefined. */
int bus_keys_parse(const char *text, struct bus_keys *out)
	__attribute__((warn_unused_result));
