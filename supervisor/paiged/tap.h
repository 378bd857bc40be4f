/*
 * tap.h - the pipe through which paigectl tap sees the bus.
 *
 * The supervisor makes a pipe, gives the writing end to every worker (WORKER_PACKET_TAP)
 * and the reading end to the client of ctl.sock. The lines go from the workers to the
 * client without passing here. It keeps a writing end for workers that are started later.
 * Called by ctl.c.
 */
#pragma once

#include "supervisor/paiged/process/process_table.h"

struct tap {
	bool open;
	int fd;			  /* the writing end, while open */
	pid_t told[WORKER_COUNT]; /* which process of each worker has it */
};

/* 0 with the reading end in *reader, which the caller sends away and closes; or -errno.
 */
int tap_open(struct tap *tap, int *reader) __attribute__((warn_unused_result));
/* After any change of a worker: gives the pipe to those that do not have it. */
void tap_offer(struct tap *tap, struct process_table *ps);
void tap_close(struct tap *tap);
