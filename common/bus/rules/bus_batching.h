/*
 * bus_batching.h - how long a call waits for others that could share its message. Pure;
 * used by bus_peer.c.
 *
 * Two workers with `affinity` share a processor (bus_affinity.c). While a message passes
 * between them neither does anything else, and a message costs as much as two or three
 * calls. So a call waits while another message is in flight. After a reply to several calls
 * it waits as long as each turn of the loop adds calls, because clients that got an answer
 * ask again.
 */
#ifndef PAIGE_COMMON_BUS_RULES_BUS_BATCHING_H
#define PAIGE_COMMON_BUS_RULES_BUS_BATCHING_H

#include "common/base/clock.h"
#include <stdbool.h>

/* The longest wait for a reply: a call in its message may be slow. */
#define BUS_BATCHING_MS 1
/* The most turns of the loop to wait after a reply. */
#define BUS_BATCHING_TURNS 4

/* Zero is valid. */
struct bus_batching {
	struct mono end;  /* of waiting for the reply */
	bool several;	  /* calls were answered by the last reply */
	unsigned waiting; /* at the end of the last turn */
	unsigned turns;	  /* waited since then */
};

enum bus_batching_verdict {
	BUS_BATCHING_SEND,
	BUS_BATCHING_TURN,  /* ask again at the end of the next turn */
	BUS_BATCHING_REPLY, /* ask again when the reply is there, at `end` at the latest */
};

void bus_batching_sent(struct bus_batching *g, struct mono now);
void bus_batching_replied(struct bus_batching *g, unsigned calls);
/* At the end of a turn. */
enum bus_batching_verdict bus_batching_judge(
	struct bus_batching *g, unsigned waiting, bool under_way, struct mono now);

#endif
