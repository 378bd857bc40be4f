/*
 * payload.h - a JSON text that is sent to many windows: one copy, reference-counted.
 *
 * Made where it is received (ws_message.c, events.c, hello.c); shared by the output
 * queues of the windows and by the replay buffer. Not for several threads.
 */
#pragma once

#include "common/base/buf.h"
#include "common/bus/bus.h"

struct payload {
	size_t refs;
	size_t len;
	const char *text;
	struct buf owned;      /* where `text` is, */
	struct bus_kept *kept; /* or this, unless that is the copy */
	char copy[];
};

/* Copies `text`; the caller owns the first reference. Ends the process when out of memory. */
struct payload *payload_new(struct str text) __attribute__((returns_nonnull));
/* The same without copying: takes over the buffer and empties *text. */
struct payload *payload_taking(struct buf *text) __attribute__((returns_nonnull));
/* The body of a reply: a long one stays where the bus has put it. */
struct payload *payload_of_reply(const struct bus_reply *reply)
	__attribute__((returns_nonnull));
/* Takes a reference and returns `payload`. */
struct payload *payload_ref(struct payload *payload) __attribute__((returns_nonnull));
/* Drops a reference; the last one frees the payload. */
void payload_unref(struct payload *payload);

static inline struct str payload_str(const struct payload *payload)
{
	return (struct str){payload->text, payload->len};
}
