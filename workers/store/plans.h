/*
 * plans.h - what the coaching flows start from and the plans they make (seed 004 story
 * 9).
 */
#ifndef PAIGE_STORE_PLANS_H
#define PAIGE_STORE_PLANS_H

struct store;
struct call;
struct context_phase;

/* The current phase as flows see it: 1 there is one, 0 not, or -errno. */
int plan_context_phase(struct store *store, struct call *call, struct context_phase *out)
	__attribute__((warn_unused_result));

/* Services. */
int coaching_context(struct store *store, struct call *call);
/* One transaction: plan, phases, hints, and the rows of the action log (P9.11, P9.16). */
int plan_store(struct store *store, struct call *call);

#endif
