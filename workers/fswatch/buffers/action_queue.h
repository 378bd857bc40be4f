/*
 * action_queue.h - rows on their way to the action log (FR-041).
 *
 * The queue gives a row its id and writes it to the journal before anybody hears of what the
 * row logs. Then it sends rows to the store, many in one call, and drops them from the
 * journal once the store has them. If either side is killed in between, the row is sent again
 * with the same id, so the log has it once. If the store refuses a call, the queue halves it
 * until it finds the bad row, and drops only that. The store decides whether a session is
 * active.
 */
#pragma once

#include "common/bus/bus.h"
#include "proto/tables/actions.h"
#include "workers/fswatch/buffers/journal.h"

/* Limits of the queue, in memory and in the journal. Above them whatever makes rows waits. */
#define ACTION_QUEUE_MAX_ROWS 20000
#define ACTION_QUEUE_MAX_BYTES (16u * 1024 * 1024)

struct action_queue_row {
	struct action_queue_row *next;
	size_t len;
	char json[];
};

/* action_queue_init makes a zeroed one a valid empty queue. */
struct action_queue {
	struct bus *bus;
	struct journal *journal;
	struct event *retry;
	struct action_queue_row *first, *last;
	size_t count, bytes;
	size_t most;	/* rows in the next call at most; 0: as many as fit */
	size_t sending; /* rows in the call in flight; 0: none */
	int64_t pause_ms;
	struct mono sent_at; /* the last call */
	struct buf row;	     /* scratch, as is the arena */
	struct arena arena;
	void (*on_sent)(void *arg);
	void *arg;
};

/* Borrows bus and journal. Calls `on_sent` whenever rows have left the queue. */
void action_queue_init(struct action_queue *action_queue, struct event_base *base,
	struct bus *bus, struct journal *journal, void (*on_sent)(void *arg), void *arg);
void action_queue_fini(struct action_queue *action_queue);

/* True when the queue is so full that nothing should be done that adds a row. */
bool action_queue_full(const struct action_queue *action_queue);
/*
 * Adds a row with the time of now. `id`: the key of the call that causes it, so that a
 * repeated call gives the same row; absent: a new id. `data` is of the type that actions.def
 * names.
 */
void action_queue_add(struct action_queue *action_queue, struct str id,
	enum action action, const void *data);
/* Sends queued rows unless a call is in flight. Commit the journal before. */
void action_queue_send(struct action_queue *action_queue);

/* Adds the queued rows to a journal that is being rewritten. */
void action_queue_record(const struct action_queue *action_queue);
/* Takes a record that was read from the journal: JOURNAL_ROW or JOURNAL_SENT. */
void action_queue_restore(
	struct action_queue *action_queue, enum journal_type type, struct str data);
