/* Tests of workers/llm/flows/flow_turns.h. */
#include "tests/check_run.h"
#include "workers/llm/flows/flow_turns.h"
#include <stdlib.h>

#define THREADS 16

static struct flow_turns turns;
static int order[THREADS], count;

static void *say(void *arg)
{
	uint64_t turn = (uint64_t)(intptr_t)arg;

	flow_turns_wait(&turns, turn);
	order[count++] = (int)turn; /* nobody else's turn */
	flow_turns_pass(&turns);
	return NULL;
}

START_TEST(turns_come_in_order)
{
	pthread_t threads[THREADS];

	flow_turns_init(&turns);
	for (int i = 0; i < THREADS; i++) /* the last one begins first */
		ck_assert_int_eq(pthread_create(&threads[i], NULL, say,
					 (void *)(intptr_t)(THREADS - 1 - i)),
			0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(order[i], i);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("turns");

	tcase_add_test(tests, turns_come_in_order);
	return check_run(tests);
}
