/*
 * launch.h - starts the program of a worker as proto/worker.h promises it.
 *
 * Called by process.c from the one thread of the supervisor: PDEATHSIG follows the thread
 * that forked. Waits for nothing: a program that cannot be executed
 * is told by a packet LAUNCH_FAILED on the worker's own control socket, with the errno as
 * its body.
 */
#pragma once

#include "proto/worker.h"
#include "supervisor/shared/listener.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LAUNCH_FAILED 0 /* a packet type that no program sends */

struct launch_request {
	const char *program; /* absolute path */
	char *const *environment;
	const char *directory; /* to run in: where a core file goes */
	uint64_t generation;
	int log_fd;
	int listen_fds[LISTENER_MAX_FDS];
	size_t listen_count;
};

struct launched {
	pid_t pid; /* also of its session and process group */
	int pidfd;
	int control_fd; /* our end, non-blocking */
};

/* 0 or -errno; *out untouched on failure. Both descriptors are the caller's,
 * close-on-exec. */
int launch_worker(const struct launch_request *request, struct launched *out)
	__attribute__((warn_unused_result));
