/*
 * peers.h - who may connect besides this user: the settings ALLOWED_USERS,
 * ALLOWED_GROUPS, PUBLIC_HOSTS and TRUSTED_PROXIES.
 *
 * Called by settings.c, which refuses what makes no sense, and by the gateway before it
 * is confined, since names are looked up in the databases of the system.
 */
#pragma once

#include "common/base/buf.h"
#include <netinet/in.h>
#include <sys/types.h>

#define PEERS_MAX_USERS 1024
#define PEERS_MAX_ADDRESSES 64

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

struct proxies {
	struct peers users;
	struct in6_addr addresses[PEERS_MAX_ADDRESSES]; /* IPv4 in its mapped form */
	size_t count;
};

/* The elements of TRUSTED_PROXIES: addresses of other machines, and users as above. A
 * line in `problems` for each that is neither. */
void proxies_resolve(struct str list, struct proxies *out, struct buf *problems);

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
