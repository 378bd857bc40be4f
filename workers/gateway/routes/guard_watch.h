/*
 * guard_watch.h - windows that watch guard machines: guard:subscribe
 * {kind, id}, then guard:state at once and after every change, guard:effect for each
 * effect.
 *
 * Called by routes.c (a window subscribes), events.c (a machine changed) and the server of
 * windows (one is gone). Others than those who subscribed, or follow all
 * machines (guard:follow), hear nothing of a machine.
 */
#pragma once

#include "workers/gateway/ws/ws_server.h"

/* Machines that all windows together may watch. */
#define GUARD_WATCH_MAX 1024

struct ws_message;

void guard_watch_on_subscribe(const struct ws_message *message);

/* To the windows that watch the machine and do not follow all. `payload` begins with kind and id, a state with its cursor behind them, as the catalogue
 * has them. `type` lives for ever. */
void guard_watch_tell(struct str type, struct payload *payload);

/* For ws_server.on_close. */
void guard_watch_forget(struct ws_client *client);
