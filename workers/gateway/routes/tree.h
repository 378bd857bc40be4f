/*
 * tree.h - the tree of the project, for one window or for all.
 *
 * The file worker is asked for it and publishes it; all who wait for it then share it, so that a
 * hundred windows that come back at once cost one walk and one text. Windows that list
 * directories are never sent the whole tree, and while there are no others nobody asks for it.
 * Called by hello.c and events.c.
 */
#pragma once

#include "workers/gateway/ws/ws_server.h"

/* To one window, once it comes. */
void tree_send(struct ws_server *server, struct ws_client *client);
/* What windows know may be out of date: to all the tree, or why there is none; those that list
 * directories hear only that, however large the tree is. */
void tree_renew(struct ws_server *server);
/* The file worker has published it. */
void tree_arrived(struct ws_server *server, struct payload *payload);
/* Events of the file worker are lost, the tree maybe among them. */
void tree_missed(struct ws_server *server);
/* To one window, without what is in the directories: it asks for that with fs:list. */
void tree_send_top(struct ws_client *client);
