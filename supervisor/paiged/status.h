/* status.h - what `paigectl status` is told (type ctl_status). */
#ifndef PAIGE_SUPERVISOR_PAIGED_STATUS_H
#define PAIGE_SUPERVISOR_PAIGED_STATUS_H

#include "supervisor/paiged/daemon.h"

/* Appends it as JSON. */
void status_describe(const struct daemon *d, struct buf *out);

#endif
