/* main.c - paige-llm, the worker that calls Claude, Chroma and gh. */
#include "common/worker.h"
#include <stdlib.h>

/* The network, and gh with whatever gh reads and keeps in the home directory. */
static void confine(struct worker *w, struct confinement *c)
{
	const char *home = getenv("HOME");

	(void)w;
	c->may_exec = true;
	c->read_only[0] = "/";
	c->read_write[0] = "/dev";
	c->read_write[1] = "/tmp";
	c->read_write[2] = home;
}

static const struct worker_spec spec = {
	.id = WORKER_LLM,
	.confine = confine,
};

int main(int argc, char **argv)
{
	return worker_main(&spec, argc, argv);
}
