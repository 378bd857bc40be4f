/*
 * loop_post.h - hands tasks from any thread to the loop.
 *
 * The loop runs the tasks one after the other, in the order in which they were posted. A
 * task is embedded in whatever it is about and posted any number of times: it runs at
 * least once after each post, and once for several posts that the loop had not seen yet.
 */
#pragma once

#include <event2/event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* The `type` whose `member` a task is. */
#define CONTAINER_OF(pointer, type, member)                                              \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))

struct loop_task {
	void (*run)(struct loop_task *task); /* on the loop */
	struct loop_task *next;
	bool posted;
};

struct loop_post {
	pthread_mutex_t lock;
	struct loop_task *first, *last;
	bool woken; /* the loop has been woken and has not emptied the list since */
	int fd;	    /* eventfd */
	struct event *event;
};

/* 0 or -errno. */
int loop_post_init(struct loop_post *post, struct event_base *base)
	__attribute__((warn_unused_result));
void loop_post_fini(struct loop_post *post);
/* From any thread. The caller keeps the task until it runs; `run` may free it. */
void loop_post(struct loop_post *post, struct loop_task *task);
/* On the loop: runs what was posted and has not run. */
void loop_post_run(struct loop_post *post);
