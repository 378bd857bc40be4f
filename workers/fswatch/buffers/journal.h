/*
 * journal.h - DATA_DIR/buffers/journal: open files, and rows not yet in the action log.
 *
 * The records of one turn of the loop make one frame: a length, a checksum and the records,
 * written with one write(2). The next start cuts off what a killed process left of a frame.
 * A journal that has grown is rewritten with the records that still count, under another
 * name first.
 *
 * The journal does not know what records mean; open_files.h and action_queue.h write and
 * restore them.
 */
#pragma once

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

/* Above this the journal is rewritten. */
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
 * Opens or makes the journal in a directory and calls `record` for each record. A journal
 * that cannot be read is renamed to journal.broken, with a warning. 0 or -errno.
 */
int journal_open(struct journal *journal, int dir_fd, journal_record_fn *record,
	void *arg) __attribute__((warn_unused_result));
void journal_close(struct journal *journal);

/* Adds a record, `head` followed by `rest`, to the frame of this turn. */
void journal_add(struct journal *journal, enum journal_type type, struct str head,
	struct str rest);
/* Writes the frame, if there is one. 0, or -errno: then it is kept for the next commit. */
int journal_commit(struct journal *journal) __attribute__((warn_unused_result));

/*
 * Rewriting: commit first; call journal_restart, add every record that counts, then call
 * journal_replace, which puts them in place of the old journal. 0, or -errno: then the old
 * one still counts.
 */
void journal_restart(struct journal *journal);
int journal_replace(struct journal *journal) __attribute__((warn_unused_result));
