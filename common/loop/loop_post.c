/* loop_post.c - hands tasks from any thread to the loop (loop_post.h). */
#include "common/loop/loop_post.h"
#include "common/base/clock.h"
#include "common/loop/timer.h"
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Tasks run per turn of the loop, and for how long; the rest waits for the next turn. */
#define TASKS_PER_TURN 256
#define TURN_US 8000

static void wake(struct loop_post *post)
{
	uint64_t one = 1;
	ssize_t n;

	do
		n = write(post->fd, &one, sizeof(one));
	while (n < 0 && errno == EINTR);
	assert(n == sizeof(one));
}

void loop_post(struct loop_post *post, struct loop_task *task)
{
	bool asleep;

	pthread_mutex_lock(&post->lock);
	if (!task->posted) {
		task->posted = true;
		task->next = NULL;
		if (post->last)
			post->last->next = task;
		else
			post->first = task;
		post->last = task;
	}
	asleep = !post->woken;
	post->woken = true;
	pthread_mutex_unlock(&post->lock);
	if (asleep)
		wake(post);
}

static struct loop_task *take(struct loop_post *post)
{
	struct loop_task *task;

	pthread_mutex_lock(&post->lock);
	task = post->first;
	if (task) {
		post->first = task->next;
		if (!post->first)
			post->last = NULL;
		task->posted = false;
	} else {
		post->woken = false;
	}
	pthread_mutex_unlock(&post->lock);
	return task;
}

void loop_post_run(struct loop_post *post)
{
	struct loop_task *task;

	while ((task = take(post)))
		task->run(task);
}

/* The eventfd is edge-triggered and never read: each write is one edge. */
static void on_wake(EVENT_UNUSED, void *arg)
{
	struct loop_post *post = arg;
	struct mono end = {clock_mono().us + TURN_US};

	for (int i = 0; i < TASKS_PER_TURN && clock_mono().us < end.us; i++) {
		struct loop_task *task = take(post);

		if (!task)
			return;
		task->run(task);
	}
	wake(post);
}

int loop_post_init(struct loop_post *post, struct event_base *base)
{
	*post = (struct loop_post){.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};
	post->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (post->fd < 0)
		return -errno;
	post->event =
		event_new(base, post->fd, EV_READ | EV_ET | EV_PERSIST, on_wake, post);
	if (!post->event || event_add(post->event, NULL) < 0) {
		loop_post_fini(post);
		return -ENOMEM;
	}
	return 0;
}

void loop_post_fini(struct loop_post *post)
{
	if (post->event)
		event_free(post->event);
	post->event = NULL;
	if (post->fd >= 0)
		close(post->fd);
	post->fd = -1;
}
