/*
 * catch_up.h - which rows of the action log the Observer has counted, and whether it must
 * ask the store for some. Pure; used by missed.c and main.c.
 *
 * The store publishes each row with its number, but what it publishes while the Observer
 * is not connected is lost. So rows are asked for after every gap in the events, and when
 * a session begins to be watched. Until the answer is there, rows that events tell of are
 * left to it: so each row counts once and in order, whichever way it comes.
 *
 * An answer has every row that was heard of before it was asked for. When others were heard
 * of meanwhile, it is asked again: no more often than something is heard.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct catch_up {
	int64_t position; /* rows up to this number are counted, or need not be */
	/* A row behind the position counts if it has this number or a higher one, or
	 * happened at this time or later. Others may have been counted by an earlier
	 * process, or belong to a time when nobody was watched. */
	int64_t unseen_from;
	int64_t since_ms;
	int64_t heard; /* the highest number of an event */
	int64_t heard_at_asking;
	bool fresh;  /* nothing of the session is counted yet */
	bool behind; /* rows may be missing */
	bool missed; /* again, since they were asked for */
	bool asking;
};

enum catch_up_verdict {
	CATCH_UP_COUNTED, /* it counts already */
	CATCH_UP_COUNTS,
	CATCH_UP_PAST, /* it is what the learner did before, and calls for nothing any more */
	CATCH_UP_LATER, /* the answer of the store will have it */
};

/* At the start of the process. */
void catch_up_init(struct catch_up *c, int64_t now_ms);
/* A session begins to be watched: its rows are needed. */
void catch_up_begin(struct catch_up *c);
/* Nobody is watched: what is written until somebody is does not count. */
void catch_up_idle(struct catch_up *c, int64_t now_ms);
/* Events were lost. */
void catch_up_missed(struct catch_up *c);

/* An event of the row with this number. */
enum catch_up_verdict catch_up_event(struct catch_up *c, int64_t number);
/* A row of the store's answer; `at_ms`: when it happened. All are compared with the
 * position from before the answer, which catch_up_answered moves. */
enum catch_up_verdict catch_up_row(
	const struct catch_up *c, int64_t number, int64_t at_ms);

/* True when the store has to be asked now: one of the next two follows. */
bool catch_up_ask(struct catch_up *c);
/* All rows of the answer were looked at; `newest` is the highest number, 0 without any. */
void catch_up_answered(struct catch_up *c, int64_t newest);
/* There was no answer, or it is of no use any more. */
void catch_up_unanswered(struct catch_up *c);
