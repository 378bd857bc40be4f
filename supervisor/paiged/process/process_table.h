/*
 * process_table.h - all workers together: started at once, stopped by stages, described to
 * the gateway.
 *
 * Called by daemon.c, reload.c, status.c and ctl.c; all on the one loop.
 */
#pragma once

#include "supervisor/paiged/process/process.h"

struct process_table {
	struct process_shared shared;
	struct process workers[WORKER_COUNT];
	struct mono started; /* of the daemon */
	struct mono sampled_at;
	bool hurried, abandoned;
	bool stopped; /* on_stopped was called */
	int stage;    /* of stopping */
	/* What the gateway knows, and which process of it. */
	struct buf told;
	pid_t told_pid;
	/* After any change; not called from within a process_table_... call. */
	void (*on_change)(void *arg);
	/* All workers have ended after process_table_stop. */
	void (*on_stopped)(void *arg);
	void *arg;
};

/* The caller has filled shared (but `changed`), started and the callbacks. */
void process_table_init(struct process_table *ps);
/* Starts all of them at once; waits for nothing. */
void process_table_start(struct process_table *ps);
/* Sends every worker the settings that may change while running. */
void process_table_reload(struct process_table *ps);
/* Stops all by stages of workers.def; on_stopped tells when it is done. A second call
 * hurries. */
void process_table_stop(struct process_table *ps);
/* After it, when the start has failed and nobody was served: all end at once, and soon.
 * The store alone may finish what it does. */
void process_table_abandon(struct process_table *ps);
/* The supervisor did not run for a while: nobody is judged for that time. */
void process_table_late(struct process_table *ps);
/* Takes new samples of usage, and looks at what the kernel allows, if the last ones are at
 * least so old. */
void process_table_sample(struct process_table *ps, int64_t age_ms);
/* All that the settings ask for and nobody has stopped. */
bool process_table_all_ready(const struct process_table *ps);
int process_table_count(const struct process_table *ps);
/* The worker that is parked although not all were READY yet, or NULL. */
const struct process *process_table_failed_start(const struct process_table *ps);
void process_table_fini(struct process_table *ps);
