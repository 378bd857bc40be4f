/* jobs.c - see jobs.h. */
#include "common/bus/jobs.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct list {
	struct job *first;
	struct job **end; /* where the next one is hung; NULL for &first */
};

struct jobs {
	struct event *wake; /* of the loop, by event_fd */
	int event_fd;
	bool started;
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct list waiting, finished;
	bool running;
	bool ending;
};

static void append(struct list *list, struct job *job)
{
	job->next = NULL;
	*(list->end ? list->end : &list->first) = job;
	list->end = &job->next;
}

static struct job *take_all(struct list *list)
{
	struct job *first = list->first;

	*list = (struct list){.first = NULL};
	return first;
}

static void *work(void *arg)
{
	struct jobs *jobs = arg;
	const uint64_t one = 1;

	bus_thread_roams();
	pthread_mutex_lock(&jobs->lock);
	while (!jobs->ending) {
		struct job *job = jobs->waiting.first;

		if (!job) {
			pthread_cond_wait(&jobs->changed, &jobs->lock);
			continue;
		}
		jobs->waiting.first = job->next;
		if (!jobs->waiting.first)
			jobs->waiting.end = NULL;
		jobs->running = true;
		pthread_mutex_unlock(&jobs->lock);
		job->run(job);
		pthread_mutex_lock(&jobs->lock);
		append(&jobs->finished, job);
		jobs->running = false;
		pthread_cond_broadcast(&jobs->changed);
		if (write(jobs->event_fd, &one, sizeof(one)) < 0)
			continue; /* only when the counter is full: the loop is awake */
	}
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

static void call_finished(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);

	struct job *job = take_all(&jobs->finished);

	pthread_mutex_unlock(&jobs->lock);
	while (job) {
		struct job *next = job->next;

		job->done(job);
		job = next;
	}
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	struct jobs *jobs = arg;
	uint64_t count;

	(void)what;
	if (read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return;
	call_finished(jobs);
}

struct jobs *jobs_new(struct event_base *base)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));

	if (!jobs)
		return NULL;
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->changed, NULL);
	jobs->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (jobs->event_fd < 0) {
		free(jobs);
		return NULL;
	}
	jobs->wake = event_new(base, jobs->event_fd, EV_READ | EV_PERSIST, on_wake, jobs);
	if (!jobs->wake)
		abort();
	event_add(jobs->wake, NULL);
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
	pthread_mutex_lock(&jobs->lock);
	append(&jobs->waiting, job);
	pthread_cond_broadcast(&jobs->changed);
	pthread_mutex_unlock(&jobs->lock);
}

void jobs_drain(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);
	while (jobs->started && (jobs->waiting.first || jobs->running))
		pthread_cond_wait(&jobs->changed, &jobs->lock);
	pthread_mutex_unlock(&jobs->lock);
	call_finished(jobs);
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
	event_free(jobs->wake);
	close(jobs->event_fd);
	pthread_cond_destroy(&jobs->changed);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}
