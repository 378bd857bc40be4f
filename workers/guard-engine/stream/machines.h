/* machines.h - the four machines behind machine.h. */
#pragma once

#include "common/machine/machine.h"

/* The machine of a kind. */
const struct machine *machine_of(enum guard_kind kind);
