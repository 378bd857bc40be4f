/*
 * doctor.h - runs `paigectl doctor --json` for those who ask over ctl.sock. Called by ctl.c.
 *
 * The checks wait for networks, disks and gh, which the supervisor's loop never does; so they are done by
 * a process of their own, one at a time, whatever number of clients wait for it.
 */
#pragma once

#include "common/base/buf.h"
#include "supervisor/paiged/daemon.h"

/* `report` is one line of type doctor_report without its end, valid during the call; absent when it
 * failed, with `problem`. */
typedef void doctor_fn(void *arg, struct str report, const char *problem);

struct doctor_run {
	doctor_fn *done;
	void *arg;
	pid_t pid; /* 0: none runs */
	struct event *readable, *deadline;
	int fd;
	struct buf text;
};

/* Starts it unless it runs. 0 or -errno; `done` is called later, once. */
int doctor_start(struct doctor_run *run, const struct daemon *d, doctor_fn *done,
	void *arg) __attribute__((warn_unused_result));
/* Ends the process without a word to anybody. */
void doctor_stop(struct doctor_run *run);
