/*
 * events.h - what other workers publish for the windows: ui/<type> becomes a broadcast
 * (proto/catalogue/topics.def).
 *
 * Called by main.c once. A gap in the events of the file worker is answered by a fresh
 * tree for all.
 */
#pragma once

struct gateway;

void events_subscribe(struct gateway *g);
