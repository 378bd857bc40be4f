/*
 * processes.h - all workers together: started at once, stopped by stages, described to
 * the gateway.
 *
 * Called by daemon.c, reload.c, status.c and ctl.c; all on the one loop.
 */
#ifndef PAIGE_SUPERVISOR_PAIGED_PROCESS_PROCESSES_H
#define PAIGE_SUPERVISOR_PAIGED_PROCESS_PROCESSES_H

#include "supervisor/paiged/process/process.h"

struct processes {
	struct process_shared shared;
	struct process workers[WORKER_COUNT];
	struct mono started; /* of the daemon */
	bool hurried, abandoned;
	bool stopped; /* on_stopped was called */
	int stage;    /* of stopping */
	/* What the gateway knows, and which process of it. */
	struct buf told;
	pid_t told_pid;
	/* After any change; not called from within a processes_... call. */
	void (*on_change)(void *arg);
	/* All workers have ended after processes_stop. */
	void (*on_stopped)(void *arg);
	void *arg;
};

/* The caller has filled shared (but `changed`), started and the callbacks. 0 or
 * -errno. */
int processes_init(struct processes *ps) __attribute__((warn_unused_result));
/* Starts all of them at once; waits for nothing. */
void processes_start(struct processes *ps);
/* Sends every worker the settings that may change while running. */
void processes_reload(struct processes *ps);
/* Stops all by stages of workers.def; on_stopped tells when it is done. A second call
 * hurries. */
void processes_stop(struct processes *ps);
/* After it, when the start has failed and nobody was served: all end at once, and soon.
 * The store alone may finish what it does. */
void processes_abandon(struct processes *ps);
/* The supervisor did not run for a while: nobody is judged for that time. */
void processes_late(struct processes *ps);
/* Takes new samples of usage; called every few seconds. */
void processes_sample(struct processes *ps);
/* All that the settings ask for. */
bool processes_all_ready(const struct processes *ps);
int processes_count(const struct processes *ps);
/* The worker that is parked although not all were READY yet, or NULL. */
const struct process *processes_failed_start(const struct processes *ps);
/* Appends the fleet of proto/catalogue/bus.def as JSON. */
void processes_describe(const struct processes *ps, struct buf *out);
void processes_fini(struct processes *ps);

#endif
