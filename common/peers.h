/*
 * peers.h - who may connect besides this user: the settings ALLOWED_USERS,
 * ALLOWED_GROUPS and PUBLIC_HOSTS.
 *
 * Called by settings.c, which refuses what makes no sense, and by the gateway before it
 * is confined, since names are looked up in the databases of the system.
 */
#ifndef PAIGE_COMMON_PEERS_H
#define PAIGE_COMMON_PEERS_H

#include "common/buf.h"
#include <sys/types.h>

#define PEERS_MAX_USERS 1024

struct peers {
	uid_t uids[PEERS_MAX_USERS];
	size_t count;
};

/*
 * The users of both lists, separated by commas, as names or numbers; of a group its
 * members as they are now. A line in `problems` for each that does not exist.
 */
void peers_resolve(
	struct str users, struct str groups, struct peers *out, struct buf *problems);

/* One of PUBLIC_HOSTS: [http://|https://]NAME[:PORT]. */
struct public_host {
	struct str scheme;    /* "http" or "https"; absent: both */
	struct str authority; /* as Host has it */
};
/* False when it is none: neither a name nor an address, or with a path. */
bool public_host_read(struct str text, struct public_host *out);

/* Cuts the next element off a comma-separated list, without blanks around it. False at
 * the end. */
bool list_next(struct str *list, struct str *element);

#endif
