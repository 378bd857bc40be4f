/*
 * notify.h - notifications to systemd (sd_notify(3)); they do nothing when it did not start
 * us.
 */
#pragma once

#include <stdint.h>

void notify_ready(void);
void notify_reloading(void);
void notify_stopping(void);
/* One line for `systemctl status`. */
void notify_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The exit code when a new start would not help: settings or data that somebody has to
 * mend. A service is not started again then (RestartPreventExitStatus= of the units);
 * whoever starts paiged himself gets 1 for every failed start. */
int notify_final_exit_code(void);
/* To be called from the loop, and from nowhere else: it shows that the loop runs. */
void notify_alive(void);
/* How often, at least; INT64_MAX when nobody wants to know. */
int64_t notify_alive_every_ms(void);
