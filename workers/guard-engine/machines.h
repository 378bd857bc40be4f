/* machines.h - the four machines behind machine.h. */
#ifndef PAIGE_GUARD_ENGINE_MACHINES_H
#define PAIGE_GUARD_ENGINE_MACHINES_H

#include "workers/guard-engine/machine.h"

extern const struct machine session_guard_machine;
extern const struct machine breakloop_machine;
extern const struct machine interview_machine;
extern const struct machine idle_machine;

#endif
