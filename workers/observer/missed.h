/*
 * missed.h - asks the store which session is active, and for the rows of its action log
 * that no event told of.
 *
 * Called by main.c and observer.c. What counts is decided in catch_up.c. One question at a
 * time; at most so many rows as observer.context gives, the newest.
 */
#pragma once

#include "workers/observer/observer.h"

/* Asks when something may be missing and nobody asks yet. Called after a gap, and again
 * when something is heard or the timer of idleness ends, should the store have refused. */
void missed_ask(struct observer *o);
/* The rows of the session that begins to be watched, which is known to be active. */
void missed_ask_rows(struct observer *o);

void missed_ask_session(struct observer *o, bus_reply_fn *then, void *arg);
/* Watches the session of the answer, or none. False with a line in the log when there is
 * no answer. */
bool missed_take_session(struct observer *o, const struct bus_reply *reply);
