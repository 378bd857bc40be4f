/*
 * flow_turns.h - flows that run beside each other, and whose first words must come in the
 * order in which they were asked for.
 *
 * A turn is taken on the loop; on its own thread the flow waits until all before it have
 * passed. Flows begin in the order in which they are asked for, so that who is waited for
 * has begun.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

struct flow_turns {
	pthread_mutex_t lock;
	pthread_cond_t passed;
	uint64_t taken; /* the loop's */
	uint64_t now;	/* whose turn it is */
};

void flow_turns_init(struct flow_turns *turns);
/* Returns when all turns before `turn` have passed. */
void flow_turns_wait(struct flow_turns *turns, uint64_t turn);
/* Lets the next one go on. Each turn passes once, after flow_turns_wait. */
void flow_turns_pass(struct flow_turns *turns);
