/* katas.h - katas and the attempts at them (seed 004 story 11; P2.3 to P2.5, P11.3,
 * P11.4, P11.7). */
#ifndef PAIGE_STORE_KATAS_H
#define PAIGE_STORE_KATAS_H

struct store;
struct call;

/* Services. */
int kata_get(struct store *store, struct call *call);
int kata_attempt(struct store *store, struct call *call);

#endif
