/*
 * commit.h - the end of a turn: what handlers did is written down, then told.
 *
 * Handlers change open files, buffers and the action queue, and give their answers to
 * commit_answer. When all that the loop had to do in this turn is done, one write puts the
 * records into the journal, each buffer that changed goes into the buffer store once, and only
 * then the answers leave. So an answer is never ahead of what a crash would leave, and a
 * burst costs little. Long buffers are written beside the loop: until they are there no answer
 * leaves, also of those that are given meanwhile, which are of the next end of a turn.
 *
 * Once a second what was written is brought to the disk, on the thread of jobs.h: that is
 * for the loss of power, which a process need not fear for what it wrote. When that fails
 * the kernel may have dropped what was written and say nothing of it the next time: it is
 * written once more before it is synced again, a buffer as a new record, the journal as a
 * new file.
 */
#pragma once

#include "common/base/buf.h"
#include "common/bus/bus.h"

struct fswatch;
struct commit_answer;

struct commit {
	struct event *end;
	struct event *sync_timer;
	struct event *tidy_timer;
	struct commit_answer *first, *last;
	size_t bytes;	 /* of the answers that wait, and of the edits of this turn */
	int error;	 /* why the last turn could not be written; 0 */
	int sync_error;	 /* why the last round did not bring all to the disk; 0 */
	bool write_anew; /* the journal: what it holds may be lost */
	bool syncing;
	unsigned sync_round;
	bool writing; /* what the turn before has done is being written beside the loop */
	bool again;   /* and there is more to be written */
};

void commit_init(struct fswatch *fs);
/* Something was done that is to be written. */
void commit_work(struct fswatch *fs);
/* Answers a request at the end of the turn. Takes the memory of `body`. */
void commit_answer(struct fswatch *fs, struct bus_request *request, struct buf *body);
/* The same, encoding the method's reply type. */
void commit_answer_message(
	struct fswatch *fs, struct bus_request *request, const void *reply);
/* Publishes at the end of the turn, before the answers that are given later. `topic`
 * lives for ever. Takes the memory of `body`. */
void commit_publish(struct fswatch *fs, const char *topic, struct buf *body);
/* Much memory was in use: what is free is given back when things have calmed down. */
void commit_tidy(struct fswatch *fs);
/* Ends the turn now, and waits until all is written. */
void commit_finish(struct fswatch *fs);
