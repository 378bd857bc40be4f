/*
 * mailbox.h - work handed to the loop by other threads.
 *
 * Flows run on threads of their own; whatever belongs to the loop (bus answers,
 * publications, libcurl's multi handle) is posted here and runs there, in order.
 */
#ifndef PAIGE_LLM_CLAUDE_MAILBOX_H
#define PAIGE_LLM_CLAUDE_MAILBOX_H

#include <event2/event.h>

struct mailbox;

typedef void mail_fn(void *arg);

/* Returns new. */
struct mailbox *mailbox_new(struct event_base *base);
/* From any thread: `fn(arg)` runs on the loop soon. The queue is bounded by its callers:
 * each thread has at most a few letters under way. */
void mailbox_post(struct mailbox *m, mail_fn *fn, void *arg);
/* What was posted and has not run is dropped. */
void mailbox_free(struct mailbox *m);

#endif
