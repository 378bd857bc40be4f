/*
 * bus_gather.h - how long calls wait for others to travel with. Pure; used by bus_peer.c.
 *
 * Two workers that are near share a processor (bus_near.c): while a message goes between
 * them neither does anything else, and it costs as much as two calls or three. So a call
 * waits while a message with others is under way; and, after the reply to several, while
 * each turn of the loop brings more, since who was answered asks again.
 */
#ifndef PAIGE_COMMON_BUS_RULES_BUS_GATHER_H
#define PAIGE_COMMON_BUS_RULES_BUS_GATHER_H

#include "common/base/clock.h"
#include <stdbool.h>

/* A reply is waited for no longer, since a call in its message may take long. */
#define BUS_GATHER_MS 1
/* Turns of the loop after a reply. */
#define BUS_GATHER_TURNS 4

/* Zero is valid. */
struct bus_gather {
	struct mono end;  /* of waiting for the reply */
	bool several;	  /* calls were answered by the last reply */
	unsigned waiting; /* at the end of the last turn */
	unsigned turns;	  /* waited since then */
};

enum bus_gather_verdict {
	BUS_GATHER_SEND,
	BUS_GATHER_TURN,  /* ask again at the end of the next turn */
	BUS_GATHER_REPLY, /* ask again when the reply is there, at `end` at the latest */
};

void bus_gather_sent(struct bus_gather *g, struct mono now);
void bus_gather_replied(struct bus_gather *g, unsigned calls);
/* At the end of a turn. */
enum bus_gather_verdict bus_gather_judge(
	struct bus_gather *g, unsigned waiting, bool under_way, struct mono now);

#endif
