/* health.c - what the store says of itself (health.h). */
#include "workers/store/service/health.h"
#include <stddef.h>

bool health_may_write(const struct health *health)
{
	return !health->damaged && !health->misplaced;
}

enum worker_condition health_condition(const struct health *health, const char **reason)
{
	if (health->damaged || health->misplaced || health->failing) {
		*reason = health->problem.text;
		return WORKER_FAILING;
	}
	if (health->pinned) {
		*reason = health->pin.text;
		return WORKER_DEGRADED;
	}
	if (health->memory_away) {
		*reason = health->memory.text;
		return WORKER_DEGRADED;
	}
	if (health->memory_pinned) {
		*reason = health->memory_pin.text;
		return WORKER_DEGRADED;
	}
	if (health->streams_away) {
		*reason = health->streams.text;
		return WORKER_DEGRADED;
	}
	*reason = NULL;
	return WORKER_FINE;
}
