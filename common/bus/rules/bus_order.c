/* bus_order.c - in which order the batches of one caller are handled (bus_order.h). */
#include "common/bus/rules/bus_order.h"

bool bus_order_reset(struct bus_order *o, uint64_t incarnation, uint64_t base)
{
	if (o->known && o->incarnation == incarnation)
		return false;
	*o = (struct bus_order){true, incarnation, base, base, base};
	return true;
}

enum bus_order_verdict bus_order_take(struct bus_order *o, uint64_t base, uint64_t seq)
{
	if (base > seq || seq - base >= BUS_WINDOW)
		return BUS_ORDER_REFUSE;
	/* An older message may arrive behind a newer one: base only grows. */
	if (base > o->base)
		o->base = base;
	if (o->next < o->base)
		o->next = o->base;
	if (o->reply_next < o->base)
		o->reply_next = o->base;
	if (seq < o->base || seq - o->base >= BUS_WINDOW)
		return BUS_ORDER_REFUSE;
	if (seq < o->next)
		return BUS_ORDER_REPEAT;
	return seq == o->next ? BUS_ORDER_RUN : BUS_ORDER_HOLD;
}

void bus_order_begun(struct bus_order *o)
{
	o->next++;
}

void bus_order_replied(struct bus_order *o)
{
	o->reply_next++;
}
