/* mailbox.c - work handed to the loop by other threads (mailbox.h). */
#include "workers/llm/claude/mailbox.h"
#include "common/base/alloc.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct letter {
	struct letter *next;
	mail_fn *fn;
	void *arg;
};

struct mailbox {
	pthread_mutex_t lock;
	struct letter *first, **last;
	struct event *wake;
	int fd;
};

static struct letter *take_all(struct mailbox *m)
{
	struct letter *letters;

	pthread_mutex_lock(&m->lock);
	letters = m->first;
	m->first = NULL;
	m->last = &m->first;
	pthread_mutex_unlock(&m->lock);
	return letters;
}

static void on_wake(evutil_socket_t fd, short events, void *arg)
{
	struct mailbox *m = arg;
	uint64_t count;
	ssize_t n = read(fd, &count, sizeof(count));
	struct letter *letter = take_all(m);

	(void)n; /* nothing to read: somebody woke the loop twice */
	(void)events;
	while (letter) {
		struct letter *next = letter->next;

		letter->fn(letter->arg);
		free(letter);
		letter = next;
	}
}

struct mailbox *mailbox_new(struct event_base *base)
{
	struct mailbox *m = xcalloc(1, sizeof(*m));

	pthread_mutex_init(&m->lock, NULL);
	m->last = &m->first;
	m->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->fd < 0) {
		perror("eventfd");
		abort();
	}
	m->wake = event_new(base, m->fd, EV_READ | EV_PERSIST, on_wake, m);
	if (!m->wake || event_add(m->wake, NULL) < 0)
		abort();
	return m;
}

void mailbox_post(struct mailbox *m, mail_fn *fn, void *arg)
{
	struct letter *letter = xmalloc(sizeof(*letter));
	const uint64_t one = 1;
	ssize_t n;

	*letter = (struct letter){NULL, fn, arg};
	pthread_mutex_lock(&m->lock);
	*m->last = letter;
	m->last = &letter->next;
	pthread_mutex_unlock(&m->lock);
	n = write(m->fd, &one, sizeof(one));
	(void)n; /* full: the loop is woken already */
}

void mailbox_free(struct mailbox *m)
{
	struct letter *letter = take_all(m);

	while (letter) {
		struct letter *next = letter->next;

		free(letter);
		letter = next;
	}
	event_free(m->wake);
	close(m->fd);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
