/*
 * jobs.h - a thread beside a worker's loop, for work that blocks on the disk or takes long.
 *
 * Jobs run one after another, in the order in which they were added; `done` is called on
 * the loop. The first job starts the thread. By then the process is confined, and so is the
 * thread. It runs on the processors that the maker of `jobs` could use.
 */
#pragma once

#include "common/loop/loop_post.h"
#include <sys/queue.h>

struct job {
	void (*run)(struct job *job);  /* on the thread */
	void (*done)(struct job *job); /* on the loop; may free the job */
	STAILQ_ENTRY(job) link;
	struct loop_task finished;
};

struct jobs;

/* NULL with errno when no descriptor is left. */
struct jobs *jobs_new(struct event_base *base);
/* Borrows the job until it is done. The caller bounds how many there are. */
void jobs_add(struct jobs *jobs, struct job *job);
/* Has `fn` free on the thread what takes long to free; at once when `jobs` is NULL. */
void jobs_release(struct jobs *jobs, void (*fn)(void *arg), void *arg);
/* Waits until every job has run, and calls each `done` that is still due. */
void jobs_drain(struct jobs *jobs);
/* Drains, then ends the thread. */
void jobs_free(struct jobs *jobs);
