/*
 * resume.h - which broadcasts a returning window missed, from the last seq it saw.
 *
 * Broadcasts are numbered from 1 for all windows together; messages are numbered (seq)
 * for each connection. Nearly every message of a connection is a live broadcast, so a
 * connection only notes the others: runs of direct messages, and runs of broadcasts that
 * it was sent again. From those the number that belongs to a seq is computed. Called by
 * ws_client.c (noting) and hello.c (asking). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define RESUME_MAX_RUNS 32
#define RESUME_MAX_RANGES 16

struct resume_run {
	uint64_t first_seq;
	uint64_t count;
	uint64_t first_broadcast; /* of broadcasts sent again; 0 for direct messages */
};

/* Kept by each connection, and for a while after its end. */
struct resume_log {
	uint64_t base;		  /* number of the last broadcast before the connection */
	uint64_t last_seq;	  /* seq of the last message sent to it */
	uint64_t forgotten;	  /* messages of runs that had to be dropped */
	uint64_t forgotten_until; /* and the last seq in them: earlier seqs cannot be
				     resumed */
	unsigned run_count;
	struct resume_run runs[RESUME_MAX_RUNS];
};

void resume_start(struct resume_log *log, uint64_t last_broadcast);

/* Each notes one message that is being sent, and returns its seq. */
uint64_t resume_note_live(struct resume_log *log);
uint64_t resume_note_direct(struct resume_log *log);
uint64_t resume_note_again(struct resume_log *log, uint64_t broadcast);

struct resume_range {
	uint64_t first, last; /* both included */
};

/*
 * The broadcasts up to `last_broadcast` that a client whose last seq is `seq` has not
 * received, as ranges in ascending order. Their number, or -1 when that can no longer be
 * told.
 */
int resume_missed(const struct resume_log *log, uint64_t seq, uint64_t last_broadcast,
	struct resume_range out[RESUME_MAX_RANGES]);
