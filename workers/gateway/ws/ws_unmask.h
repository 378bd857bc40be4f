/*
 * ws_unmask.h - takes the mask off a client's frames before wslay sees them (RFC 6455
 * section 5.3).
 *
 * wslay takes it off byte by byte, which was a quarter of the gateway's time for large
 * messages; here it is eight bytes at a time. Of a frame this knows only where its mask
 * and its payload are: it hands wslay the same frame without a mask, and every judgement
 * of it stays with wslay and ws_reader.c. Called by ws_reader.c. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_HEADER_MAX 14

/* Zero is the start of a connection. */
struct ws_unmask {
	uint8_t header[WS_HEADER_MAX]; /* of the frame that is being received, as far as
					  it is there */
	size_t have;
	uint64_t left; /* payload bytes that must still come */
	bool in_payload;
	bool masked; /* of the newest frame whose header is complete */
	uint8_t key[4];
	unsigned key_at; /* which byte of the key is next */
};

/*
 * Writes at most `room` bytes (at least WS_HEADER_MAX) of what stands at `in`, without
 * masks, to `out`; how many of `in` that took goes to *used. Stops behind a frame, so
 * that `masked` is about the frame the bytes belong to. The number of bytes written, 0
 * when more are needed.
 */
size_t ws_unmask_take(struct ws_unmask *u, const uint8_t *in, size_t len, size_t *used,
	uint8_t *out, size_t room);
