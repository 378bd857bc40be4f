/* settings_report.h - settings for people: as the JSON of type ctl_config, for ctl.c and
 * for paigectl without a daemon; and in the log. */
#pragma once

#include "common/settings/settings.h"

/* Appends it; secrets are masked. */
void settings_report(const struct settings *settings, struct buf *out);
/* Logs each SETTING_RISKY that is not at its default with where it came from; after a
 * reload, when `before` is not NULL, those that have changed, and what was ignored. */
void settings_log(const struct settings *settings, const struct settings *before);
/* Logs which variables decide how the network is reached. */
void settings_log_network(char *const *environment);
