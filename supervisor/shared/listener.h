/*
 * listener.h - the listening sockets of HTTP, WebSocket and MCP.
 *
 * The supervisor makes them once and hands them to every new gateway, so that a crash of
 * the gateway refuses nobody: who comes meanwhile waits in the backlog. Called by
 * daemon.c at start and at stop.
 */
#pragma once

#include "common/base/buf.h"
#include <stddef.h>

#define LISTENER_MAX_FDS 8

struct listener {
	int fds[LISTENER_MAX_FDS];
	size_t count;
	int port; /* the real one, also for PORT=0 */
};

/*
 * Listens on every address of `host`, with one port. localhost is 127.0.0.1 and ::1, the
 * latter only where the machine has IPv6. 0, or -errno with *problem saying what failed
 * and what to do (EC-01).
 */
int listener_open(struct listener *l, const char *host, int port, struct buf *problem)
	__attribute__((warn_unused_result));
void listener_close(struct listener *l);
/* "http://localhost:3000"; IPv6 addresses in brackets. */
void listener_url(const struct listener *l, const char *host, struct buf *out);
