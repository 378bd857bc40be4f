/*
 * journal.h - DATA_DIR/buffers/journal: open files, and rows not yet in the action log.
 *
 * A list of records, written in frames: all records of one turn of the loop go out with
 * one write(2), as a length, a checksum and the records. What a killed process left of a
 * frame is cut off at the next start. When the file has grown it is written anew with
 * what still counts, under another name first.
 *
 * Knows no meaning: open_files.h and action_queue.h make the records and take them in again.
 */
#ifndef PAIGE_FSWATCH_BUFFERS_JOURNAL_H
#define PAIGE_FSWATCH_BUFFERS_JOURNAL_H

#include "common/base/buf.h"
#include <stdbool.h>
#include <stdint.h>

/* Numbers are never reused. */
enum journal_type {
	JOURNAL_OPEN = 1,  /* int64_t characters, path */
	JOURNAL_CLOSE = 2, /* path */
	JOURNAL_CLEAR = 3, /* no file is open any more; read, no longer written */
	JOURNAL_ROW = 4,   /* JSON of an action_row */
	JOURNAL_SENT =
		5, /* uint64_t: so many rows from the front are in the action log */
	JOURNAL_SESSION = 6, /* id of the coaching session that is active; empty: none */
};

/* Worth writing anew above this. */
#define JOURNAL_LONG_BYTES (4u * 1024 * 1024)
#define JOURNAL_MAX_BYTES (256u * 1024 * 1024)

struct journal {
	int dir_fd; /* borrowed */
	int fd;
	uint64_t bytes;	  /* on disk, whole frames */
	struct buf frame; /* records of this turn, behind room for the frame's head */
	bool unsynced;	  /* something was written since the last sync */
};

typedef void journal_record_fn(void *arg, enum journal_type type, struct str data);

/*
 * Opens or makes the journal in a directory and reads it: one call for each record. What
 * is no file is renamed to journal.broken with a warning. 0 or -errno.
 */
int journal_open(struct journal *journal, int dir_fd, journal_record_fn *record,
	void *arg) __attribute__((warn_unused_result));
void journal_close(struct journal *journal);

/* Adds a record to the frame of this turn; two pieces make one record. */
void journal_add(struct journal *journal, enum journal_type type, struct str head,
	struct str rest);
/* Writes the frame, if there is one. 0, or -errno: it is kept for the next time. */
int journal_commit(struct journal *journal) __attribute__((warn_unused_result));

/*
 * Writing anew: after journal_restart add everything that counts, then journal_replace
 * puts it in the place of all that was there. What was added before must be committed.
 * 0 or -errno; then the old one counts on.
 */
void journal_restart(struct journal *journal);
int journal_replace(struct journal *journal) __attribute__((warn_unused_result));

#endif
