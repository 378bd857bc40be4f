/*
 * filesystem.h - may a write-ahead log lie on this file system?
 */
#pragma once

#include <stdint.h>

/* The name of the file system of a statfs(2) magic number when it is one of
 * filesystem.def, else NULL. Pure. */
const char *filesystem_shared_name(uint32_t magic);
/* The same for where `path` lies. 0 with *name set or NULL, or -errno of statfs(2). */
int filesystem_shared(const char *path, const char **name)
	__attribute__((warn_unused_result));
