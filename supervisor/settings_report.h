/* settings_report.h - settings as the JSON of type ctl_config; for ctl.c and for paigectl
 * without a daemon. */
#ifndef PAIGE_SUPERVISOR_SETTINGS_REPORT_H
#define PAIGE_SUPERVISOR_SETTINGS_REPORT_H

#include "common/settings.h"

/* Appends it; secrets are masked. */
void settings_report(const struct settings *settings, struct buf *out);

#endif
