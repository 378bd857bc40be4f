/*
 * ws_utf8.h - UTF-8 checked as it arrives (RFC 3629; R26).
 *
 * Called by ws_reader.c with each piece of a text message or close reason. Says no at the
 * first byte that cannot be part of valid UTF-8, however the text is cut into frames.
 * Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero is the start of a text. */
struct ws_utf8 {
	uint8_t missing;   /* continuation bytes that must still come */
	uint8_t low, high; /* bounds of the next one; used while `missing` is not 0 */
};

/* False once the text is certain to be invalid; do not go on after that. */
bool ws_utf8_feed(struct ws_utf8 *u, const uint8_t *data, size_t len);

/* Whether the text may end here. */
static inline bool ws_utf8_complete(const struct ws_utf8 *u)
{
	return u->missing == 0;
}
