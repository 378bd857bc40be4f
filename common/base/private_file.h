/*
 * private_file.h - small files that only this user may read.
 */
#pragma once

#include "common/base/str.h"

/* Replaces the file by `text`, whole or not at all, mode 0600, synced when it returns.
 * Only one process at a time may do so for a path. 0 or -errno. */
int private_file_replace(const char *path, struct str text)
	__attribute__((warn_unused_result));

enum private_file_sync {
	PRIVATE_FILE_SYNCED,   /* survives a loss of power */
	PRIVATE_FILE_UNSYNCED, /* survives the process only */
};

/* The same for a file in a directory that is appended to afterwards: a descriptor for
 * reading and appending, or -errno with the old file unchanged. The new text is written
 * to `name`.new first; a leftover of a killed process is overwritten. */
int private_file_replace_at(int dir_fd, const char *name, struct str text,
	enum private_file_sync sync) __attribute__((warn_unused_result));
