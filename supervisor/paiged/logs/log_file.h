/*
 * log_file.h - one log file: DATA_DIR/logs/<name>.log with its older ones <name>.log.1 to .4.
 *
 * Called by logs.c. A file that cannot be written never blocks the caller: lines are
 * dropped and counted, and the file is tried again every LOG_FILE_RETRY_MS; its next line says
 * how many are missing. Rotation renames and copies nothing, so that
 * followers of the old file lose nothing.
 */
#pragma once

#include "common/base/clock.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LOG_FILE_MAX_BYTES (10 * 1024 * 1024)
#define LOG_FILE_RETRY_MS 5000

struct log_file {
	char *path;
	const char *name; /* borrowed, of the worker */
	int fd;		  /* -1 while it cannot be written */
	int64_t size;
	int64_t base;	   /* of positions in it (recent.h): bytes of all older files */
	int64_t max_bytes; /* LOG_FILE_MAX_BYTES but in tests */
	dev_t device;
	ino_t inode;
	struct mono retry_at;
	uint64_t dropped;	/* lines since the file last took one */
	uint64_t dropped_total; /* since the start */
	int error;		/* errno of the last failure */
};

/* Opens or makes the file (mode 0600). A failure is remembered in the log file, not returned:
 * a daemon without log files is better than no daemon. */
void log_file_open(
	struct log_file *s, const char *dir, const char *name, struct mono now);
/* `data` is whole lines, `lines` of them. A file that was deleted or replaced is opened again
 * first. */
void log_file_write(struct log_file *s, const char *data, size_t len, unsigned lines,
	struct mono now);
void log_file_close(struct log_file *s);
