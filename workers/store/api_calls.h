/*
 * api_calls.h - calls to Claude: their rows and what they cost (FR-042, FR-086).
 *
 * A call that begins is remembered in memory under the key that its row will have; when
 * the llm worker dies, its successor has what was left logged as failed.
 */
#ifndef PAIGE_STORE_API_CALLS_H
#define PAIGE_STORE_API_CALLS_H

struct store;
struct call;

/* Services. */
int api_call_begin(struct store *store, struct call *call);
int api_call_append(struct store *store, struct call *call);
int api_call_reconcile(struct store *store, struct call *call);
int api_call_spending(struct store *store, struct call *call);

#endif
