/*
 * private_file.h - small files that only this user may read.
 */
#ifndef PAIGE_COMMON_BASE_PRIVATE_FILE_H
#define PAIGE_COMMON_BASE_PRIVATE_FILE_H

#include "common/base/str.h"

/* Puts `text` in the place of the file, whole or not at all, mode 0600, on disk when it
 * returns. Only one process may do so at a time for a path. 0 or -errno. */
int private_file_replace(const char *path, struct str text)
	__attribute__((warn_unused_result));

enum private_file_sync {
	PRIVATE_FILE_SYNCED,   /* outlives a loss of power */
	PRIVATE_FILE_UNSYNCED, /* outlives processes alone */
};

/* The same for a file of a directory that goes on to be appended to: a descriptor for
 * reading and appending, or -errno with the old file left as it was. The new text is
 * written to `name`.new first; what a killed process left there is of no use. */
int private_file_replace_at(int dir_fd, const char *name, struct str text,
	enum private_file_sync sync) __attribute__((warn_unused_result));

#endif
