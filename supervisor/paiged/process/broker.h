/*
 * broker.h - makes the connections of confined workers, so that they reach no socket that
 * they have no business with.
 *
 * A filter of system calls does not see the address that connect(2) is given, and Landlock
 * does not look at Unix sockets before ABI 9. So the filter of a worker leaves every
 * connect to us (seccomp_unotify(2)): a thread of the supervisor copies the address from
 * the worker's memory once, decides by the copy, and connects the worker's own socket by
 * the copy. The worker's call is never let through, so that nothing it does meanwhile to
 * the address counts.
 *
 * A worker may connect to its own sockets, to those of the workers that it calls
 * (methods.def) or hears (topics.def), and, when it is said to use the network, to any
 * address of IP.
 */
#pragma once

#include "proto/tables/workers.h"
#include <event2/event.h>
#include <stdbool.h>

struct broker;

struct broker_client {
	enum worker_id worker;
	int listener; /* of the worker's filter */
	int pidfd;
	const char *runtime_dir; /* in which the folders of the bus are; copied */
	bool uses_network;
};

/* NULL when this kernel does not let us do it (before 5.7, ptrace forbidden by Yama or by
 * a container), or without memory. Logs through `base` what is refused. Starts a thread:
 * after this, a child may call only what is async-signal-safe. */
struct broker *broker_new(struct event_base *base);
/* Whether the kernel lets us look into the process, of which `pidfd` is. It may forbid later
 * what it allowed to broker_new: when kernel.yama.ptrace_scope is raised, or to a process
 * that makes itself undumpable. Then no connection is made for that worker: its connects
 * fail with EPERM. It never connects by itself instead, since a worker that was taken over
 * can bring this about. */
bool broker_may_look_into(int pidfd);
/* Takes both descriptors. 0 or -errno. */
int broker_take(struct broker *b, const struct broker_client *client)
	__attribute__((warn_unused_result));
/* Waits for the thread, at most two BROKER_CONNECT_MS. NULL is allowed. */
void broker_free(struct broker *b);

/* For so long one connect may block, and hold up those of other workers: theirs do not
 * block, but libc's to a name server may. */
#define BROKER_CONNECT_MS 1000
