/*
 * prompts.h - the prompts of a session that no turn has ended for.
 *
 * A program reads them when it likes: several may wait behind a running turn, and several
 * may become one turn. With --replay-user-messages it repeats each that it takes up, with
 * the uuid it was given. What it did not take up before it was ended for an abort can be
 * sent again; of what it did take up nobody knows how far it got. Pure.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/ids.h"
#include <stdbool.h>
#include <sys/queue.h>

/* Content that is kept for a session. */
#define PROMPTS_MAX_BYTES (16u * 1024 * 1024)

struct prompt {
	TAILQ_ENTRY(prompt) link;
	unsigned refs; /* one of the list, others of who still writes the content */
	char uuid[UUID_SIZE];
	bool read;	/* the program has repeated it */
	bool aborted;	/* the turn that it is in, or is to begin, was interrupted */
	bool unwritten; /* the program has closed its input; behind all that were written */
	char from[UUID_SIZE]; /* unwritten: the client to be told, or "" */
	struct buf content;   /* JSON: a string or an array of blocks */
};

TAILQ_HEAD(prompt_list, prompt);

struct prompts {
	struct prompt_list list; /* in the order in which they were written */
	size_t bytes;
};

void prompts_init(struct prompts *p);
/* Takes the memory of the content. NULL: too much is queued, and nothing is taken. */
struct prompt *prompts_add(struct prompts *p, struct buf *content);
/* Takes and drops a reference: the content stays where it is until the last one is dropped. */
struct prompt *prompt_ref(struct prompt *one);
void prompt_unref(struct prompt *one);
/* Forgets one. */
void prompts_drop(struct prompts *p, struct prompt *one);
/* `to` gets all of them. */
void prompts_move(struct prompts *p, struct prompts *to);
/* The program has repeated the one with this uuid, if there is one. */
void prompts_read(struct prompts *p, struct str uuid);
/* The running turn is being interrupted. */
void prompts_abort(struct prompts *p);
/* A turn has ended: forgets all that were read; the first one that was written when none was. How many. */
size_t prompts_turn_ended(struct prompts *p);
/* The program has ended: forgets the prompts that it had read or that were interrupted. */
void prompts_keep_unread(struct prompts *p);
/* Whether the running turn was asked to stop and has not. */
bool prompts_aborting(const struct prompts *p);
void prompts_clear(struct prompts *p);
