/* bus_dial.h - when an owner is dialed (bus_dial.c). Used by bus_peer.c and bus_subscribe.c. */
#pragma once

#include "common/base/clock.h"
#include "common/bus/nng/bus_nng.h"
#include <sys/stat.h>

/* What is known of a connection that is wanted, and of the socket at its other end. */
struct bus_dial {
	struct mono since; /* the last change: dialed, connected, lost, a new socket */
	ino_t ino;	   /* of the owner's socket at the last look */
	struct timespec made;
};

/* Pure. True if an owner is to be dialed now. found: its socket. dials: nng does, or did
 * until it gave up. */
bool bus_dial_is_due(
	struct bus_dial *dial, const struct stat *found, bool dials, struct mono now);
/* A connection has begun or has ended. */
void bus_dial_changed(struct bus_dial *dial);
/* In each look without a connection. */
void bus_dial_look(struct bus_dial *dial, struct bus_dialer *dialer, struct mono now);
