/* machines.h - the four machines behind machine.h. */
#ifndef PAIGE_GUARD_ENGINE_STREAM_MACHINES_H
#define PAIGE_GUARD_ENGINE_STREAM_MACHINES_H

#include "common/machine/machine.h"

/* The machine of a kind. */
const struct machine *machine_of(enum guard_kind kind);

#endif
