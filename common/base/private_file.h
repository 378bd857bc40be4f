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

#endif
