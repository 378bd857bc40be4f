/*
 * journal.h - the standard error, where systemd's journal may be listening.
 *
 * The journal takes a "<N>" before a line for its priority (sd-daemon(3)). To anybody
 * else nothing is added. The lines of the workers go there only when it is the journal: a
 * terminal shows those of the supervisor alone, and `paigectl logs` the others.
 */
#ifndef PAIGE_SUPERVISOR_PAIGED_LOGS_JOURNAL_H
#define PAIGE_SUPERVISOR_PAIGED_LOGS_JOURNAL_H

#include "common/base/log.h"
#include <stdbool.h>

/* Whether the standard error is the journal: $JOURNAL_STREAM names it (systemd.exec(5)).
 */
bool journal_listens(void);
/* "<3>" for an error, and so on; empty text when nobody but us reads it. For messages
 * that are printed, not logged. */
const char *journal_prefix(enum log_level level);
/*
 * Writes one line with its newline, and its priority when the journal listens. Never
 * waits: false when whoever reads the standard error is behind, and the line is not
 * written.
 */
bool journal_write(const char *line, size_t len);

#endif
