/*
 * job_gate.h - keeps the thread of a struct jobs busy, so that a test sees what happens before a
 * job was done.
 */
#pragma once

#include "common/loop/jobs.h"
#include <pthread.h>

struct job_gate {
	struct job job;
	struct jobs *jobs;
	pthread_mutex_t closed;
};

static void job_gate_run(struct job *job)
{
	struct job_gate *gate = CONTAINER_OF(job, struct job_gate, job);

	pthread_mutex_lock(&gate->closed);
	pthread_mutex_unlock(&gate->closed);
}

static void job_gate_done(struct job *job)
{
	(void)job;
}

/* What is added behind it waits until it is opened. */
static inline void job_gate_close(struct job_gate *gate, struct jobs *jobs)
{
	*gate = (struct job_gate){.job = {.run = job_gate_run, .done = job_gate_done},
		.jobs = jobs,
		.closed = PTHREAD_MUTEX_INITIALIZER};
	pthread_mutex_lock(&gate->closed);
	jobs_add(jobs, &gate->job);
}

/* Lets the thread go on, and waits until it has done all. */
static inline void job_gate_open(struct job_gate *gate)
{
	pthread_mutex_unlock(&gate->closed);
	jobs_drain(gate->jobs);
}
