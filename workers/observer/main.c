/* main.c - paige-observer, the worker that decides when to nudge. */
#include "common/worker.h"

/* It needs no file and starts no program. */
static void confine(struct worker *w, struct confinement *c)
{
	(void)w;
	(void)c;
}

static const struct worker_spec spec = {
	.id = WORKER_OBSERVER,
	.confine = confine,
};

int main(int argc, char **argv)
{
	return worker_main(&spec, argc, argv);
}
