/* machines.c - see machines.h. */
#include "workers/guard-engine/stream/machines.h"
#include "common/machine/idle.h"
#include "workers/guard-engine/breakloop/breakloop.h"
#include "workers/guard-engine/interview/interview.h"
#include "workers/guard-engine/session/session_guard.h"
#include <assert.h>

static const struct machine *const machines[] = {
	[GUARD_SESSION] = &session_guard_machine,
	[GUARD_BREAKLOOP] = &breakloop_machine,
	[GUARD_INTERVIEW] = &interview_machine,
	[GUARD_IDLE] = &idle_machine,
};

const struct machine *machine_of(enum guard_kind kind)
{
	assert((size_t)kind < sizeof(machines) / sizeof(machines[0]));
	return machines[kind];
}
