/*
 * places.h - what paiged makes and paigectl looks for: names in the runtime directory and
 * in DATA_DIR.
 */
#pragma once

#include "common/base/alloc.h"

/* In the runtime directory (ctl.h). */
#define CTL_SOCKET "ctl.sock"
/* DATA_DIR/logs/<name>.log and its older ones <name>.log.1 to .4 (log_file.h). */
#define LOG_FILES 5

/* The name of such a file, to be freed: of the newest for 0, else of the n-th older one. */
static inline char *log_file_name(const char *newest, int n)
{
	return n == 0 ? xstrdup(newest) : xasprintf("%s.%d", newest, n);
}
