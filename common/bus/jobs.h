/*
 * jobs.h - a thread beside a worker's loop, for what blocks on the disk or takes long.
 *
 * Jobs run one after the other in the order in which they were given; when one is done
 * its `done` is called on the loop. The thread is started with the first job, after the
 * process was confined, so that it is confined too.
 */
#ifndef PAIGE_COMMON_BUS_JOBS_H
#define PAIGE_COMMON_BUS_JOBS_H

#include "common/loop/loop_post.h"
#include <sys/queue.h>

struct job {
	void (*run)(struct job *job);  /* on the thread */
	void (*done)(struct job *job); /* on the loop; may free the job */
	STAILQ_ENTRY(job) link;
	struct loop_task finished;
};

struct jobs;

/* NULL with errno when there is no descriptor left. */
struct jobs *jobs_new(struct event_base *base);
/* Borrows the job until it is done. The caller bounds how many there are. */
void jobs_add(struct jobs *jobs, struct job *job);
/* Waits until every job given has run, and calls what is still to be called. */
void jobs_drain(struct jobs *jobs);
/* Drains, ends the thread. */
void jobs_free(struct jobs *jobs);

#endif
