/*
 * journal.h - standard error, which may be systemd's journal.
 *
 * The journal reads "<N>" in front of a line as its priority (sd-daemon(3)). Other
 * readers get the line alone. The lines of the workers go there only when it is the journal: a
 * terminal shows those of the supervisor alone, and `paigectl logs` the others.
 */
#pragma once

#include "common/base/log.h"
#include <stdbool.h>

/* Whether the standard error is the journal: $JOURNAL_STREAM names it (systemd.exec(5)).
 */
bool journal_listens(void);
/* "<3>" for an error, and so on; empty when standard error is not the journal. For messages
 * that are printed, not logged. */
const char *journal_prefix(enum log_level level);
/*
 * Writes one line with its newline, and its priority when the journal listens. Never
 * waits: false, with nothing written, when the reader of standard error is behind.
 */
bool journal_write(const char *line, size_t len);
