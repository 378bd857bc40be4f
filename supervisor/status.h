/* status.h - what `paigectl status` and `paigectl config` are told (proto/ctl.def). */
#ifndef PAIGE_SUPERVISOR_STATUS_H
#define PAIGE_SUPERVISOR_STATUS_H

#include "supervisor/daemon.h"

/* Append JSON. */
void status_describe(const struct daemon *d, struct buf *out);
void status_describe_config(const struct daemon *d, struct buf *out);

#endif
