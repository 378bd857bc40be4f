/*
 * knowledge.h - what the wrap-up of a session looks at and leaves behind: gaps, katas,
 * assessments (seed 004 story 9, P2.8, P2.10, P9.3, P9.4, P9.7).
 */
#ifndef PAIGE_STORE_KNOWLEDGE_H
#define PAIGE_STORE_KNOWLEDGE_H

struct store;
struct call;

/* Services. */
int wrap_up_context(struct store *store, struct call *call);
int gaps_store(struct store *store, struct call *call);
int dreyfus_store(struct store *store, struct call *call);

#endif
