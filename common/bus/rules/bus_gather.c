/* bus_gather.c - how long calls wait for others to travel with (bus_gather.h). */
#include "common/bus/rules/bus_gather.h"

void bus_gather_sent(struct bus_gather *g, struct mono now)
{
	*g = (struct bus_gather){.end = mono_add_ms(now, BUS_GATHER_MS)};
}

void bus_gather_replied(struct bus_gather *g, unsigned calls)
{
	*g = (struct bus_gather){.end = g->end, .several = calls > 1};
}

enum bus_gather_verdict bus_gather_judge(
	struct bus_gather *g, unsigned waiting, bool under_way, struct mono now)
{
	if (waiting == 0)
		return BUS_GATHER_SEND;
	if (under_way)
		return now.us < g->end.us ? BUS_GATHER_REPLY : BUS_GATHER_SEND;
	if (!g->several || waiting == g->waiting || g->turns >= BUS_GATHER_TURNS)
		return BUS_GATHER_SEND;
	g->waiting = waiting;
	g->turns++;
	return BUS_GATHER_TURN;
}
