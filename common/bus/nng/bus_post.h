/*
 * bus_post.h - hands notes from any thread to the worker's loop.
 *
 * nng's callbacks and flow threads post; the loop runs the notes one after the other. A
 * note is embedded in whatever it is about and posted any number of times: it runs at
 * least once after each post, and once for several posts that the loop had not seen yet.
 */
#ifndef PAIGE_COMMON_BUS_NNG_BUS_POST_H
#define PAIGE_COMMON_BUS_NNG_BUS_POST_H

#include <event2/event.h>
#include <pthread.h>
#include <stdbool.h>

struct bus_note {
	void (*run)(struct bus_note *note); /* on the loop */
	struct bus_note *next;
	bool posted;
};

struct bus_post {
	pthread_mutex_t lock;
	struct bus_note *first, *last;
	bool woken; /* the loop has been woken and has not emptied the list since */
	int fd;	    /* eventfd */
	struct event *event;
};

/* 0 or -errno. */
int bus_post_init(struct bus_post *post, struct event_base *base)
	__attribute__((warn_unused_result));
void bus_post_fini(struct bus_post *post);
void bus_post(struct bus_post *post, struct bus_note *note);

#endif
