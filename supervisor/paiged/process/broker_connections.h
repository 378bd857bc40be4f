/*
 * broker_connections.h - how many connections a worker has open to one socket of the bus,
 * so that one that was taken over cannot fill the table of descriptors of another. Used by
 * broker_connect.c, on the broker's thread.
 *
 * Who is at the other end of a connection the owner of the socket cannot tell: the broker
 * makes them all. The broker does not see how they end. So it keeps the inode of each
 * socket that it has connected, and when it has as many as a worker may have, it looks
 * which of them the kernel still has.
 */
#pragma once

#include "common/base/clock.h"
#include <stdbool.h>
#include <sys/types.h>

/* A worker needs one, and for a moment a second while the first ends. */
#define BROKER_CONNECTIONS_MAX 16
/* The list of all sockets is not read more often for one worker and socket. */
#define BROKER_CONNECTIONS_LOOK_MS 50

/* Zero: none. */
struct broker_connections {
	unsigned count;
	ino_t sockets[BROKER_CONNECTIONS_MAX];
	struct mono looked;
};

/* Whether one more may be made. Where the kernel does not tell which sockets there are,
 * always. */
bool broker_connections_room(struct broker_connections *c);
/* The socket `fd` was connected. Only when there was room. */
void broker_connections_add(struct broker_connections *c, int fd);
