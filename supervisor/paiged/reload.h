/* reload.h - SIGHUP: the settings are read again. */
#ifndef PAIGE_SUPERVISOR_PAIGED_RELOAD_H
#define PAIGE_SUPERVISOR_PAIGED_RELOAD_H

#include "supervisor/paiged/daemon.h"

/*
 * What may change while running is sent to the workers; for other settings all workers
 * are restarted; the directories and the address stay until the daemon is started anew.
 * Wrong settings change nothing. Parked workers are started again.
 */
void reload_settings(struct daemon *d);

#endif
