/*
 * bus_retry.h - decides what happens to a call whose owner went away. Pure; used by
 * bus_peer.c and bus_outgoing.c.
 */
#pragma once

#include "common/bus/bus.h"

enum bus_fate {
	BUS_FATE_REPEAT,  /* send it again */
	BUS_FATE_RESET,	  /* answer BUS_RESET */
	BUS_FATE_TIMEOUT, /* answer BUS_TIMEOUT */
};

/* `sent`: it may have reached the owner. `flags` are those of the method. */
enum bus_fate bus_fate_of(
	unsigned flags, bool sent, struct mono deadline, struct mono now);

/* Pause before the next try after `failures` resets in a row (1 is the first): 5 to 200
 * ms. */
#define BUS_PAUSE_MIN_MS 5
#define BUS_PAUSE_MAX_MS 200
int bus_pause_ms(unsigned failures);

/* Error code, and message for a person, of a status that the bus itself made. Static text. */
const char *bus_failure_code(enum bus_status status);
#define BUS_FAILURE_SIZE 160
void bus_failure_text(
	enum bus_status status, enum method method, char out[BUS_FAILURE_SIZE]);
