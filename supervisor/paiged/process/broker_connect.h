/*
 * broker_connect.h - one connect in the place of a worker: what it may reach, and the
 * connect itself.
 */
#pragma once

#include "proto/tables/workers.h"
#include "supervisor/paiged/process/broker_connections.h"
#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>

struct broker_rules {
	enum worker_id self;
	char runtime_dir[108]; /* in which the folders of the bus are; absolute */
	bool uses_network;     /* any address of IP */
	/* Open ones to each worker: where it is called, and where its events are heard. */
	struct broker_connections connections[WORKER_COUNT][2];
};

/* What a worker is told that has BROKER_CONNECTIONS_MAX connections to a socket: nothing
 * else gives this, and nng tries again. */
#define BROKER_TOO_MANY EUSERS

/* Pure: the name of a socket in the folder of *other when `path` names, by exactly that
 * folder's path and a name in it, one that the worker may connect to, else NULL: any in
 * its own folder, which tests whether it can be reached; where it calls an owner
 * (methods.def); where it hears a publisher (topics.def). */
const char *broker_allowed(
	const struct broker_rules *rules, const char *path, enum worker_id *other);

/* Connects the socket `fd`. 0 or -errno; -EPERM is what the rules refuse, -BROKER_TOO_MANY
 * one connection too many. Blocks when the socket does, until a signal comes: then
 * -EINTR. */
int broker_connect(struct broker_rules *rules, int fd, const struct sockaddr_storage *to,
	socklen_t len);
