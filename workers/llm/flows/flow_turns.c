/* flow_turns.c - see flow_turns.h. */
#include "workers/llm/flows/flow_turns.h"

void flow_turns_init(struct flow_turns *turns)
{
	*turns = (struct flow_turns){0};
	pthread_mutex_init(&turns->lock, NULL);
	pthread_cond_init(&turns->passed, NULL);
}

void flow_turns_wait(struct flow_turns *turns, uint64_t turn)
{
	pthread_mutex_lock(&turns->lock);
	while (turns->now != turn)
		pthread_cond_wait(&turns->passed, &turns->lock);
	pthread_mutex_unlock(&turns->lock);
}

void flow_turns_pass(struct flow_turns *turns)
{
	pthread_mutex_lock(&turns->lock);
	turns->now++;
	pthread_cond_broadcast(&turns->passed);
	pthread_mutex_unlock(&turns->lock);
}
