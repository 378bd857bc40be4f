/*
 * tree.h - the tree of the project, fetched for one window or for all, or told.
 *
 * Windows that ask while an answer is under way share it, so that a hundred of them that
 * come back at once cost one walk and one text. Called by hello.c and events.c.
 */
#ifndef PAIGE_GATEWAY_ROUTES_TREE_H
#define PAIGE_GATEWAY_ROUTES_TREE_H

#include "workers/gateway/ws/ws_server.h"

/* To one window, or, with NULL, to all. */
void tree_send(struct ws_server *server, struct ws_client *client);
/* To all: the tree in `payload` of the message `type`, or why there is none. Windows that list directories
 * hear only that what they know may be out of date, however large the tree is. */
void tree_tell(struct ws_server *server, struct str type, struct payload *payload);
/* To one window, without what is in the directories: it asks for that with fs:list. */
void tree_send_top(struct ws_client *client);

#endif
