/* bus_batching.c - how long calls wait for others to share a message with (bus_batching.h). */
#include "common/bus/rules/bus_batching.h"

void bus_batching_sent(struct bus_batching *g, struct mono now)
{
	*g = (struct bus_batching){.end = mono_add_ms(now, BUS_BATCHING_MS)};
}

void bus_batching_replied(struct bus_batching *g, unsigned calls)
{
	*g = (struct bus_batching){.end = g->end, .several = calls > 1};
}

enum bus_batching_verdict bus_batching_judge(
	struct bus_batching *g, unsigned waiting, bool under_way, struct mono now)
{
	if (waiting == 0)
		return BUS_BATCHING_SEND;
	if (under_way)
		return now.us < g->end.us ? BUS_BATCHING_REPLY : BUS_BATCHING_SEND;
	if (!g->several || waiting == g->waiting || g->turns >= BUS_BATCHING_TURNS)
		return BUS_BATCHING_SEND;
	g->waiting = waiting;
	g->turns++;
	return BUS_BATCHING_TURN;
}
