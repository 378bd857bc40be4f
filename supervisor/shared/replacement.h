/*
 * replacement.h - files of DATA_DIR replaced by others: all of them or none, whatever ends the process in between.
 *
 * The new files are made in DATA_DIR/replacement.new. From the moment when that folder is called DATA_DIR/replacement they count; the
 * rest is renaming, which can be done again from wherever it was cut off. paiged does so before it starts a worker. What was there
 * is never removed: it goes to a folder of DATA_DIR.
 *
 * Called by whoever holds the lock of DATA_DIR (lock.h).
 */
#pragma once

#include <limits.h>

/* The folder for the new files, empty: of one that was cut off before it counted nothing is left. 0 or -errno. */
int replacement_begin(const char *data_dir, char folder[PATH_MAX])
	__attribute__((warn_unused_result));
/*
 * Syncs the new files and puts them in place. What DATA_DIR has of `names`, which end with NULL, goes to the folder `kept` of DATA_DIR;
 * every new file must be among them. 0; or -errno, when nothing has changed or replacement_finish can be called again.
 */
int replacement_commit(const char *data_dir, const char *const *names, const char *kept)
	__attribute__((warn_unused_result));
/* Completes one that counts. 1; 0 when there is none; or -errno. */
int replacement_finish(const char *data_dir) __attribute__((warn_unused_result));
