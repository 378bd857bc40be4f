/*
 * rogue_make.h - what a worker that was taken over puts on the bus: messages that are
 * right, nearly right, and wrong. Pure: the same random numbers make the same bytes. Used
 * by bus_rogue.c alone.
 */
#pragma once

#include "common/bus/rules/bus_wire.h"
#include "proto/tables/methods.h"
#include "tests/unit/proto/sample.h"

struct rogue {
	enum worker_id self;
	uint64_t epoch, incarnation;
	struct bus_keys keys;
	struct rng rng;
	uint64_t next_seq[WORKER_COUNT]; /* of our batches to each */
	uint64_t event_seq;
	struct str said; /* the answer to every call while calm; absent: an error */
};

/* One in `n`. */
bool rogue_chance(struct rogue *r, unsigned n);
/* Appends a body for `type` (NULL: any JSON), whole, changed or broken. */
void rogue_body(struct rogue *r, const struct type *type, struct buf *out);
/* Appends a message with calls to `to`, without the bytes of nng. `batch` gets its
 * number. */
void rogue_request(struct rogue *r, enum worker_id to, int64_t now_us, struct buf *out);
/* Appends a message with one call as it should be, with a key of its own. */
void rogue_call(struct rogue *r, enum worker_id to, const char *method, const char *body,
	int64_t now_us, struct buf *out);
/* Every row that rogue_row asks the store to write has an id that begins so: fuzz_bus.mjs
 * knows by it who wrote a row. */
#define ROGUE_ROW_ID "badc0de5-"

/* Appends a message to the store that is right in all but, most often, who may log the
 * row: action.append with one row of any type, made at `created_at` (ISO 8601). */
void rogue_row(struct rogue *r, const char *created_at, int64_t now_us, struct buf *out);
/* Appends a reply to the request `message`. With `calm` whole, with what
 * is `said`. */
void rogue_reply(struct rogue *r, struct str message, bool calm, struct buf *out);
/* Appends a message with events. With `calm` a beacon alone. */
void rogue_events(struct rogue *r, bool calm, struct buf *out);
