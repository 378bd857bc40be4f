/*
 * confine_private.h - what confine.c and confine_seccomp.c share.
 */
#ifndef PAIGE_COMMON_CONFINE_CONFINE_PRIVATE_H
#define PAIGE_COMMON_CONFINE_CONFINE_PRIVATE_H

#include "common/confine/confine.h"

/* True when the filter holds, for all threads. `connects` as for confine_apply. */
bool confine_system_calls(const struct confinement *c, int *connects);

#endif
