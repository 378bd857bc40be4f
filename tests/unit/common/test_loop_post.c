/* Tasks posted from threads: all run, in the order of each thread, a bounded number a turn. */
#include "common/loop/loop_post.h"
#include "tests/check_run.h"
#include <stdlib.h>

#define THREADS 4
#define TASKS 2000

struct counted {
	struct loop_task task;
	int thread, number;
};

static struct loop_post post;
static struct event_base *base;
static struct counted all[THREADS][TASKS];
static int next_of[THREADS], ran;

static void count(struct loop_task *task)
{
	struct counted *c = CONTAINER_OF(task, struct counted, task);

	ck_assert_int_eq(c->number, next_of[c->thread]++);
	ran++;
}

static void *post_all(void *arg)
{
	struct counted *mine = arg;

	for (int i = 0; i < TASKS; i++)
		loop_post(&post, &mine[i].task);
	return NULL;
}

static void setup(void)
{
	base = event_base_new();
	ck_assert_int_eq(loop_post_init(&post, base), 0);
	for (int t = 0; t < THREADS; t++)
		for (int i = 0; i < TASKS; i++)
			all[t][i] = (struct counted){{.run = count}, t, i};
}

static void teardown(void)
{
	loop_post_fini(&post);
	event_base_free(base);
}

START_TEST(tasks_of_threads_run_in_their_order)
{
	pthread_t threads[THREADS];

	for (int t = 0; t < THREADS; t++)
		ck_assert_int_eq(pthread_create(&threads[t], NULL, post_all, all[t]), 0);
	while (ran < THREADS * TASKS)
		ck_assert_int_eq(event_base_loop(base, EVLOOP_ONCE), 0);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	ck_assert_int_eq(ran, THREADS * TASKS);
}
END_TEST

START_TEST(a_turn_runs_a_bounded_number)
{
	post_all(all[0]);
	ck_assert_int_eq(event_base_loop(base, EVLOOP_ONCE), 0);
	ck_assert_int_gt(ran, 0);
	ck_assert_int_lt(ran, TASKS);
	loop_post_run(&post);
	ck_assert_int_eq(ran, TASKS);
}
END_TEST

START_TEST(a_task_that_waits_is_posted_once)
{
	loop_post(&post, &all[0][0].task);
	loop_post(&post, &all[0][0].task);
	loop_post_run(&post);
	ck_assert_int_eq(ran, 1);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("loop_post");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, tasks_of_threads_run_in_their_order);
	tcase_add_test(tc, a_turn_runs_a_bounded_number);
	tcase_add_test(tc, a_task_that_waits_is_posted_once);
	return check_run(tc);
}
