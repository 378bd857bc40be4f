/*
 * follow.h - what a window follows: messages that come only to those who asked for them.
 *
 * Called by routes.c (messages "<what>:follow"), hello.c (wantsProgress) and events.c,
 * which has the messages.
 */
#ifndef PAIGE_GATEWAY_ROUTES_FOLLOW_H
#define PAIGE_GATEWAY_ROUTES_FOLLOW_H

#include "workers/gateway/ws/ws_server.h"

struct ws_message;

/* "<what>:follow" with the payload `follow`. */
void follow_on_message(const struct ws_message *message);
void follow_set(struct ws_client *client, enum ws_feed feed, bool on);

#endif
