/* requests.c - what machines want to know from a model (engine.h). */
#include "workers/guard-engine/engine.h"

void requests_sync(struct instance *i)
{
	(void)i;
}
