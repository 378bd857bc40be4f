/*
 * move_file.h - moves a finished file to its target, whole or not at all.
 */
#pragma once

#include <stdbool.h>

/*
 * Moves the file `from` to `to`, to another file system by copying, and syncs what it
 * wrote. `from` is gone afterwards. 0; -EEXIST when `to` exists and
 * `replace` is false, also when it appears meanwhile; or -errno, with `from` and what was
 * at `to` as they were.
 */
int move_file(const char *from, const char *to, bool replace)
	__attribute__((warn_unused_result));
