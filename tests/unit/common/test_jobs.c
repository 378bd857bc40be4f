/* Tests of the thread beside the loop: common/loop/jobs.h. */
#include "common/base/log.h"
#include "tests/check_run.h"
#include "tests/unit/job_gate.h"
#include <stdlib.h>

static struct event_base *base;
static struct jobs *jobs;
static struct job_gate gate;

static void setup(void)
{
	log_init("test", LOG_LEVEL_ERROR + 1);
	base = event_base_new();
	jobs = jobs_new(base);
	ck_assert_ptr_nonnull(jobs);
}

static void teardown(void)
{
	jobs_free(jobs);
	event_base_free(base);
}

/* ---- jobs ---- */

struct numbered {
	struct job job;
	int number;
};

static char ran[16], done[16];
static pthread_t ran_on;

static void run_numbered(struct job *job)
{
	ran_on = pthread_self();
	ran[strlen(ran)] = (char)('0' + CONTAINER_OF(job, struct numbered, job)->number);
}

static void done_numbered(struct job *job)
{
	done[strlen(done)] =
		(char)('0' + CONTAINER_OF(job, struct numbered, job)->number);
}

START_TEST(jobs_run_on_the_thread_in_their_order_and_are_done_on_the_loop)
{
	struct numbered all[3];

	job_gate_close(&gate, jobs);
	for (int i = 0; i < 3; i++) {
		all[i] = (struct numbered){
			{.run = run_numbered, .done = done_numbered}, i + 1};
		jobs_add(jobs, &all[i].job);
	}
	event_base_loop(base, EVLOOP_NONBLOCK);
	ck_assert_str_eq(ran, "");
	pthread_mutex_unlock(&gate.closed);
	while (strlen(done) < 3)
		ck_assert_int_eq(event_base_loop(base, EVLOOP_ONCE), 0);
	ck_assert_str_eq(ran, "123");
	ck_assert_str_eq(done, "123");
	ck_assert(!pthread_equal(ran_on, pthread_self()));
}
END_TEST

/* ---- what takes long to free ---- */

static int freed, freed_on_loop;
static pthread_t loop;

static void free_text(void *text)
{
	freed++;
	freed_on_loop += pthread_equal(pthread_self(), loop) != 0;
	free(text);
}

START_TEST(what_takes_long_to_free_is_freed_on_the_thread)
{
	loop = pthread_self();
	job_gate_close(&gate, jobs);
	for (int i = 0; i < 3; i++)
		jobs_release(jobs, free_text, malloc(1000000));
	event_base_loop(base, EVLOOP_NONBLOCK);
	ck_assert_int_eq(freed, 0);
	job_gate_open(&gate);
	ck_assert_int_eq(freed, 3);
	ck_assert_int_eq(freed_on_loop, 0);
}
END_TEST

START_TEST(without_a_thread_it_is_freed_at_once)
{
	loop = pthread_self();
	jobs_release(NULL, free_text, malloc(10));
	ck_assert_int_eq(freed, 1);
	ck_assert_int_eq(freed_on_loop, 1);
}
END_TEST

/* The end of the worker waits for it: nothing is lost, and no thread is left in it. */
START_TEST(the_end_waits_for_what_is_being_freed)
{
	struct jobs *ending = jobs_new(base);

	loop = pthread_self();
	for (int i = 0; i < 100; i++)
		jobs_release(ending, free_text, malloc(10000));
	jobs_free(ending);
	ck_assert_int_eq(freed, 100);
	ck_assert_int_eq(freed_on_loop, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("jobs");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(
		tc, jobs_run_on_the_thread_in_their_order_and_are_done_on_the_loop);
	tcase_add_test(tc, what_takes_long_to_free_is_freed_on_the_thread);
	tcase_add_test(tc, without_a_thread_it_is_freed_at_once);
	tcase_add_test(tc, the_end_waits_for_what_is_being_freed);
	return check_run(tc);
}
