/*
 * spawn.h - starts the program of a worker as proto/worker.h promises it.
 *
 * Called by process.c from the one thread of the supervisor: PDEATHSIG follows the thread
 * that forked (supervision 2.3 #14). Waits for nothing: a program that cannot be executed
 * is told by a packet SPAWN_FAILED on the worker's own control socket, with the errno as
 * its body.
 */
#ifndef PAIGE_SUPERVISOR_SPAWN_H
#define PAIGE_SUPERVISOR_SPAWN_H

#include "proto/worker.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SPAWN_MAX_LISTEN_FDS 8
#define SPAWN_FAILED 0 /* a packet type that no program sends */

struct spawn_request {
	const char *program; /* absolute path */
	char *const *environment;
	const char *directory; /* to run in: where a core file goes */
	uint64_t generation;
	int log_fd;
	int listen_fds[SPAWN_MAX_LISTEN_FDS];
	size_t listen_count;
};

struct spawned {
	pid_t pid; /* also of its session and process group */
	int pidfd;
	int control_fd; /* our end, non-blocking */
};

/* 0 or -errno; *out untouched on failure. Both descriptors are the caller's,
 * close-on-exec. */
int spawn_worker(const struct spawn_request *request, struct spawned *out)
	__attribute__((warn_unused_result));

#endif
