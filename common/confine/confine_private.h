/*
 * confine_private.h - what confine.c and confine_seccomp.c share.
 */
#pragma once

#include "common/confine/confine.h"

/* True when the filter holds, for all threads. `connects` as for confine_apply. */
bool confine_system_calls(const struct confinement *c, int *connects);
