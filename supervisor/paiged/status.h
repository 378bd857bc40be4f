/* status.h - what `paigectl status` is told (type ctl_status). */
#pragma once

#include "supervisor/paiged/daemon.h"

/* Appends it as JSON. */
void status_describe(const struct daemon *d, struct buf *out);
