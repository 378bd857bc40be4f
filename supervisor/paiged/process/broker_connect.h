/*
 * broker_connect.h - one connect in the place of a worker: what it may reach, and the
 * connect itself.
 */
#ifndef PAIGE_SUPERVISOR_PAIGED_PROCESS_BROKER_CONNECT_H
#define PAIGE_SUPERVISOR_PAIGED_PROCESS_BROKER_CONNECT_H

#include "proto/tables/workers.h"
#include <stdbool.h>
#include <sys/socket.h>

struct broker_rules {
	char folders[WORKER_COUNT][108]; /* sockets in these; absolute paths */
	bool uses_network;		 /* any address of IP */
};

/* Pure: the name of a socket in *folder when `path` names one of a folder by exactly the
 * folder's path and a name in it, else NULL. */
const char *broker_allowed(
	const struct broker_rules *rules, const char *path, const char **folder);

/* Connects the socket `fd`. 0 or -errno; -EPERM is what the rules refuse. Blocks when the
 * socket does, until a signal comes: then -EINTR. */
int broker_connect(const struct broker_rules *rules, int fd,
	const struct sockaddr_storage *to, socklen_t len);

#endif
