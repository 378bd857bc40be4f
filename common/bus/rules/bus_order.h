/*
 * bus_order.h - decides in which order the batches of one caller are handled. Pure; used by
 * bus_serve.c.
 *
 * A caller numbers its batches and keeps at most BUS_WINDOW of them in flight. nng may
 * deliver them in another order. After a reset the caller resends every batch that was not
 * answered, each with `base`, the lowest of their numbers. The owner handles each batch once
 * and in order. Whole replies leave in order too, so the batches without a reply are always
 * the last ones, and resending them cannot overtake anything.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BUS_WINDOW 2

/* Zero is a caller that was never heard. */
struct bus_order {
	bool known;
	uint64_t incarnation; /* of the caller's process */
	uint64_t base;	      /* the caller has the replies to everything below */
	uint64_t next;	      /* to be handled */
	uint64_t reply_next;  /* to be replied to */
};

enum bus_order_verdict {
	BUS_ORDER_RUN,	  /* handle it now */
	BUS_ORDER_HOLD,	  /* keep it until those before it were handled */
	BUS_ORDER_REPEAT, /* it was taken before: only the place of the reply is new */
	BUS_ORDER_REFUSE, /* the caller has its reply, or it is outside the window */
};

/* Forgets the caller if it is another process than before; true then. */
bool bus_order_reset(struct bus_order *o, uint64_t incarnation, uint64_t base);
enum bus_order_verdict bus_order_take(struct bus_order *o, uint64_t base, uint64_t seq);
/* All calls of batch `next` were begun: the one after it may run. */
void bus_order_begun(struct bus_order *o);
/* The last part of the reply to `reply_next` was handed over. */
void bus_order_replied(struct bus_order *o);
