/* bus_post.c - hands notes from any thread to the worker's loop (bus_post.h). */
#include "common/bus/nng/bus_post.h"
#include "common/base/clock.h"
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Notes run per turn of the loop, and for how long; the rest waits for the next turn. */
#define NOTES_PER_TURN 256
#define TURN_US 8000

static void wake(struct bus_post *post)
{
	uint64_t one = 1;
	ssize_t n;

	do
		n = write(post->fd, &one, sizeof(one));
	while (n < 0 && errno == EINTR);
	assert(n == sizeof(one));
}

void bus_post(struct bus_post *post, struct bus_note *note)
{
	bool asleep;

	pthread_mutex_lock(&post->lock);
	if (!note->posted) {
		note->posted = true;
		note->next = NULL;
		if (post->last)
			post->last->next = note;
		else
			post->first = note;
		post->last = note;
	}
	asleep = !post->woken;
	post->woken = true;
	pthread_mutex_unlock(&post->lock);
	if (asleep)
		wake(post);
}

static struct bus_note *take(struct bus_post *post)
{
	struct bus_note *note;

	pthread_mutex_lock(&post->lock);
	note = post->first;
	if (note) {
		post->first = note->next;
		if (!post->first)
			post->last = NULL;
		note->posted = false;
	} else {
		post->woken = false;
	}
	pthread_mutex_unlock(&post->lock);
	return note;
}

/* The eventfd is edge-triggered and never read: each write is one edge. */
static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	struct bus_post *post = arg;
	struct mono end = {clock_mono().us + TURN_US};

	(void)fd;
	(void)what;
	for (int i = 0; i < NOTES_PER_TURN && clock_mono().us < end.us; i++) {
		struct bus_note *note = take(post);

		if (!note)
			return;
		note->run(note);
	}
	wake(post);
}

int bus_post_init(struct bus_post *post, struct event_base *base)
{
	*post = (struct bus_post){.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};
	post->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (post->fd < 0)
		return -errno;
	post->event =
		event_new(base, post->fd, EV_READ | EV_ET | EV_PERSIST, on_wake, post);
	if (!post->event || event_add(post->event, NULL) < 0) {
		bus_post_fini(post);
		return -ENOMEM;
	}
	return 0;
}

void bus_post_fini(struct bus_post *post)
{
	if (post->event)
		event_free(post->event);
	post->event = NULL;
	if (post->fd >= 0)
		close(post->fd);
	post->fd = -1;
}
