/*
 * unseen.h - what a tool showed while no window of the editor was there: kept for the
 * next window of the same session. Without a session nothing is kept.
 *
 * Bounded; the oldest goes first. Lost with the process.
 */
#pragma once

#include "workers/gateway/ws/payload.h"
#include <stdbool.h>

#define UNSEEN_MAX 64
/* More than any one message. */
#define UNSEEN_MAX_BYTES (16u * 1024 * 1024)

struct ws_client;

/* Keeps a message of a type that tools send; others are dropped. `type` lives for ever.
 */
void unseen_keep(struct str type, struct payload *payload);
/* Whether a session is active. */
void unseen_set_session(bool active);
bool unseen_keeps(void);
/* Sends all to a window, in order, and forgets them. */
void unseen_give(struct ws_client *client);
/* Another session, or the window knows them already. */
void unseen_forget(void);
