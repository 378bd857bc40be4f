/*
 * settings_paths.h - what settings.c does to directories: ~, real paths, the runtime
 * directory's name.
 */
#pragma once

#include "common/base/str.h"
#include <stdint.h>

/* `path` with "~" or "~/" at its start replaced by the home directory; returns new. NULL
 * when there is no home or another user's is meant ("~bob"). */
char *path_expand_home(const char *path) __attribute__((warn_unused_result));
/* The absolute path as it is written, links and dots included; returns new, or NULL with
 * errno when the current directory is gone. */
char *path_absolute(const char *path) __attribute__((warn_unused_result));
/*
 * The absolute path without links, "." and ".." as far as it exists; what does not exist
 * yet is appended as it is written. So it names the same directory before and after that
 * is made. Returns new, or NULL with errno (the current directory is gone, a part is no
 * directory, a loop of links, too long).
 */
char *path_canonical(const char *path) __attribute__((warn_unused_result));
/* FNV-1a. Only to give different directories different short names; no secret depends on
 * it. */
uint64_t path_hash(struct str path);
