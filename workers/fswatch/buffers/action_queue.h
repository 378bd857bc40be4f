/*
 * action_queue.h - rows on their way to the action log (FR-041).
 *
 * A row gets its id here and is a record of the journal before anybody is told of what it
 * logs; then it goes to the store, many in one call, and leaves the journal when the
 * store has it. Whoever is killed in between: it is sent again with the same id, so it is
 * in the log once. A row that the store refuses is found by halves and dropped alone.
 * Whether a session is active is for the store to say, when it has the row.
 */
#ifndef PAIGE_FSWATCH_BUFFERS_ACTION_QUEUE_H
#define PAIGE_FSWATCH_BUFFERS_ACTION_QUEUE_H

#include "common/bus/bus.h"
#include "proto/tables/actions.h"
#include "workers/fswatch/buffers/journal.h"

/* Rows that may wait, in memory and in the journal. Above it whoever makes rows waits. */
#define ACTION_QUEUE_MAX_ROWS 20000
#define ACTION_QUEUE_MAX_BYTES (16u * 1024 * 1024)

struct action_queue_row {
	struct action_queue_row *next;
	size_t len;
	char json[];
};

/* Zero but for what action_queue_init sets is a valid empty action queue. */
struct action_queue {
	struct bus *bus;
	struct journal *journal;
	struct event *retry;
	struct action_queue_row *first, *last;
	size_t count, bytes;
	size_t most;	/* rows that the next call may have; 0: as many as fit */
	size_t sending; /* rows of the call under way; 0: none */
	int64_t pause_ms;
	struct mono sent_at; /* the last call */
	struct buf row;	     /* scratch, as is the arena */
	struct arena arena;
	void (*on_sent)(void *arg);
	void *arg;
};

/* Borrows bus and journal. `on_sent` is told whenever rows have left. */
void action_queue_init(struct action_queue *action_queue, struct event_base *base,
	struct bus *bus, struct journal *journal, void (*on_sent)(void *arg), void *arg);
void action_queue_fini(struct action_queue *action_queue);

/* True when so much waits that nothing more that leaves a row should be done. */
bool action_queue_full(const struct action_queue *action_queue);
/*
 * Adds a row about now. `id`: the key of the call that made it, so that a repeated call
 * makes the same row; absent: a new one. `data` is of the type that actions.def names.
 */
void action_queue_add(struct action_queue *action_queue, struct str id,
	enum action action, const void *data);
/* Sends what waits, unless a call is under way. After the journal was committed. */
void action_queue_send(struct action_queue *action_queue);

/* Writes the waiting rows into a journal that is written anew. */
void action_queue_record(const struct action_queue *action_queue);
/* Takes in a record that was read: JOURNAL_ROW, JOURNAL_SENT. */
void action_queue_restore(
	struct action_queue *action_queue, enum journal_type type, struct str data);

#endif
