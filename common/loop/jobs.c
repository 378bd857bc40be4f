/* jobs.c - see jobs.h. */
#include "common/loop/jobs.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct jobs {
	struct loop_post finished;
	bool started;
	pthread_t thread;
	cpu_set_t processors; /* the loop may be bound to one by the first job */
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	STAILQ_HEAD(, job) waiting;
	bool running;
	bool ending;
};

static void *work(void *arg)
{
	struct jobs *jobs = arg;

	if (CPU_COUNT(&jobs->processors) > 0)
		sched_setaffinity(0, sizeof(jobs->processors), &jobs->processors);
	pthread_mutex_lock(&jobs->lock);
	while (!jobs->ending) {
		struct job *job = STAILQ_FIRST(&jobs->waiting);

		if (!job) {
			pthread_cond_wait(&jobs->changed, &jobs->lock);
			continue;
		}
		STAILQ_REMOVE_HEAD(&jobs->waiting, link);
		jobs->running = true;
		pthread_mutex_unlock(&jobs->lock);
		job->run(job);
		loop_post(&jobs->finished, &job->finished);
		pthread_mutex_lock(&jobs->lock);
		jobs->running = false;
		pthread_cond_broadcast(&jobs->changed);
	}
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

static void on_finished(struct loop_task *task)
{
	struct job *job = CONTAINER_OF(task, struct job, finished);

	job->done(job);
}

struct jobs *jobs_new(struct event_base *base)
{
	struct jobs *jobs = xcalloc(1, sizeof(*jobs));
	int error = loop_post_init(&jobs->finished, base);

	if (error) {
		free(jobs);
		errno = -error;
		return NULL;
	}
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->changed, NULL);
	STAILQ_INIT(&jobs->waiting);
	if (sched_getaffinity(0, sizeof(jobs->processors), &jobs->processors) < 0)
		CPU_ZERO(&jobs->processors); /* more than the set has room for */
	return jobs;
}

static void start(struct jobs *jobs)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);

	int error = pthread_create(&jobs->thread, NULL, work, jobs);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		log_error("cannot start a thread beside the loop", "error", "%s",
			strerror(error), NULL);
		abort();
	}
	jobs->started = true;
}

void jobs_add(struct jobs *jobs, struct job *job)
{
	if (!jobs->started)
		start(jobs);
	job->finished = (struct loop_task){.run = on_finished};
	pthread_mutex_lock(&jobs->lock);
	STAILQ_INSERT_TAIL(&jobs->waiting, job, link);
	pthread_cond_broadcast(&jobs->changed);
	pthread_mutex_unlock(&jobs->lock);
}

/* ---- what takes long to free ---- */

struct release {
	struct job job;
	void (*fn)(void *arg);
	void *arg;
};

static void run_release(struct job *job)
{
	struct release *release = CONTAINER_OF(job, struct release, job);

	release->fn(release->arg);
}

static void done_release(struct job *job)
{
	free(CONTAINER_OF(job, struct release, job));
}

void jobs_release(struct jobs *jobs, void (*fn)(void *arg), void *arg)
{
	struct release *release;

	if (!jobs) {
		fn(arg);
		return;
	}
	release = xmalloc(sizeof(*release));
	*release = (struct release){
		.job = {.run = run_release, .done = done_release}, .fn = fn, .arg = arg};
	jobs_add(jobs, &release->job);
}

/* ---- the end ---- */

void jobs_drain(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);
	while (jobs->started && (!STAILQ_EMPTY(&jobs->waiting) || jobs->running))
		pthread_cond_wait(&jobs->changed, &jobs->lock);
	pthread_mutex_unlock(&jobs->lock);
	loop_post_run(&jobs->finished);
}

void jobs_free(struct jobs *jobs)
{
	jobs_drain(jobs);
	if (jobs->started) {
		pthread_mutex_lock(&jobs->lock);
		jobs->ending = true;
		pthread_cond_broadcast(&jobs->changed);
		pthread_mutex_unlock(&jobs->lock);
		pthread_join(jobs->thread, NULL);
	}
	loop_post_fini(&jobs->finished);
	pthread_cond_destroy(&jobs->changed);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}
