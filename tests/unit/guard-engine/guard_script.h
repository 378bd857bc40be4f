/*
 * guard_script.h - runs a guard machine by a script and writes down all that happens.
 *
 * A script is lines of text:
 *
 *   kind {config}             the first: makes the instance at time 0
 *   > ms {event}              an event of a client, ms after the creation
 *   ! ms {event}              an event of the engine; "requestSeq" in it goes into its facts
 *   > ms                      time goes on, nothing else happens
 *   > ms wall=ms ...          the wall clock shows something else, ms after the creation
 *   # ...                     a remark
 *
 * Ticks that are due come by themselves. What happens is written below each line of the
 * script, indented.
 */
#pragma once

#include "workers/guard-engine/breakloop/quota.h"
#include "workers/guard-engine/stream/machines.h"
#include "workers/guard-engine/stream/stream.h"

#define SCRIPT_START_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */

struct script {
	struct stream stream;
	struct stream_result result;
	struct arena arena;
	struct buf out;	 /* what happened */
	struct buf rows; /* JSON texts of all rows, each behind the other */
	struct buf list; /* struct script_row each */
	bool quiet;	 /* keep rows only */
};

/* A row as it would be stored; texts by place in `rows`. */
struct script_row {
	int64_t seq, at;
	size_t actor, type, payload;
	size_t actor_len, type_len, payload_len;
};

void script_init(struct script *s, enum guard_kind kind);
void script_fini(struct script *s);

/* Makes the instance; `config` is JSON. */
void script_create(struct script *s, const char *config, int64_t wall_ms);
/* Applies one event (JSON text), ticks before it included. Times in ms after the
 * creation. Returns what stream_decode or stream_apply returned. */
int script_event(struct script *s, enum stream_sender sender, int64_t at_ms,
	int64_t wall_ms, struct str json);
/* Ticks up to a time. */
void script_until(struct script *s, int64_t at_ms, int64_t wall_ms);

/* Runs a whole script; `text` keeps what it says, without what is indented. */
void script_run(struct script *s, const char *text, struct buf *transcript);

size_t script_row_count(const struct script *s);
struct stream_row script_row_at(const struct script *s, size_t i);

/*
 * Checks that hold for every stream: folded from its rows it gives the same rows and the
 * same state; a snapshot taken after any step is read back to the same state, and folding
 * on from it ends the same.
 */
void script_check_replay(const struct script *s);
