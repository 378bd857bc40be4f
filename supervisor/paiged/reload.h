/* reload.h - SIGHUP and `paigectl reload`: the settings are read again. */
#pragma once

#include "supervisor/paiged/daemon.h"

/* What became of each setting. */
enum reload_change {
	RELOAD_SAME,
	RELOAD_CHANGED,
	RELOAD_LATER, /* another value is in the files, and counts from the next start of the daemon on */
};

/*
 * What may change while running is sent to the workers; for other settings all workers
 * are restarted; the directories and the address stay until the daemon is started anew.
 * Parked workers are started again. `changes` may be NULL.
 *
 * 0; -EINVAL for wrong settings, which change nothing: they are logged and, one a line,
 * added to *problems; -ESHUTDOWN when the daemon is stopping.
 */
int reload_settings(struct daemon *d, enum reload_change changes[SETTING_COUNT],
	struct buf *problems);
