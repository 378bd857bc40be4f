/*
 * worker_private.h - what worker.c, worker_control.c and worker_signals.c share.
 */
#pragma once

#include "common/base/buf.h"
#include "common/worker/worker.h"

enum worker_phase { WORKER_STARTING, WORKER_READY, WORKER_STOPPING, WORKER_STOPPED };

struct worker_private {
	enum worker_phase phase;
	bool may_serve;	  /* the bus is up */
	bool ready_asked; /* worker_ready was called */
	struct event *control, *control_writable, *heartbeat, *term;
	/* status */
	enum worker_condition condition;
	struct buf reason, detail;
	const char *confinement;
	bool status_unsent;
};

/* worker.c */
void worker_begin_stop(struct worker *w, const char *why);

/* worker_control.c */
/* 0, or -errno when fd 3 is not the supervisor's socket. */
int worker_control_check(void) __attribute__((warn_unused_result));
void worker_control_init(struct worker *w);
/* False when the supervisor reads too slowly: the packet is dropped. */
bool worker_control_send(struct worker *w, enum worker_packet_type type, struct str body);
/* The listener of the filter of system calls, which stays the caller's. False with errno
 * when it did not go out. */
bool worker_control_send_connects(struct worker *w, int listener, bool uses_network);
void worker_control_send_status(struct worker *w);
/* A thread that ends the process WORKER_ORPHAN_MS after the supervisor is gone, even when
 * the loop is stuck. Started with all signals blocked. */
void worker_control_guard(void);

/* worker_signals.c */
/* Blocks all signals but those of crashes; handlers for crashes and SIGUSR2. */
void worker_signals_init(void);
/* For this thread, which is the loop's: SIGUSR2 and SIGTERM come here. */
void worker_signals_unblock(void);
