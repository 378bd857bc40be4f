/*
 * payload.h - a piece of JSON text that many windows are sent: kept once, counted.
 *
 * Made by whoever received it (ws_message.c, events.c, hello.c); shared by the output
 * queues of the windows and by the replay buffer. Not for several threads.
 */
#ifndef PAIGE_GATEWAY_WS_PAYLOAD_H
#define PAIGE_GATEWAY_WS_PAYLOAD_H

#include "common/base/buf.h"

struct payload {
	size_t holders;
	size_t len;
	const char *text;
	struct buf owned; /* where `text` is, unless that is the copy */
	char copy[];
};

/* Copies; the caller is the first holder. Ends the process when out of memory. */
struct payload *payload_new(struct str text) __attribute__((returns_nonnull));
/* Without copying: the text is the payload's now. */
struct payload *payload_taking(struct buf *text) __attribute__((returns_nonnull));
struct payload *payload_hold(struct payload *payload) __attribute__((returns_nonnull));
void payload_release(struct payload *payload);

static inline struct str payload_str(const struct payload *payload)
{
	return (struct str){payload->text, payload->len};
}

#endif
