/*
 * save.h - saving a file atomically (FR-025).
 *
 * The new content is written to a temporary file beside the old one, synced, and renamed to
 * the old one's name. A failure before that leaves the old file unchanged and no temporary
 * file. A file with several names, a mount point, and a file in a directory that may not be
 * written are overwritten in place (in_place.h). Mode, owner, extended attributes and encoding
 * are kept; a symbolic link is kept and its target written; a new file gets its permissions
 * from its directory. A binary file, which windows see as empty, is never overwritten. Blocks
 * on the disk: runs on the thread of jobs.h.
 */
#pragma once

#include "workers/fswatch/disk/hash.h"
#include "workers/fswatch/disk/project.h"

struct save {
	const char *key;
	struct str text; /* UTF-8 */
	int record_dir;	 /* for a write in place: DATA_DIR/buffers */
	struct str base; /* version on which the edit is based; absent: overwrite any */
	/* After the save: */
	char version[HASH_VERSION_SIZE]; /* on disk now; "" when there is no file */
};

/*
 * 0 when the content is on disk. Else a negative errno or fault (fault.h):
 * -FAULT_CONFLICT when the file has another version than `base`, unless it already holds
 * exactly this text; `version` tells which. -FAULT_BINARY when the file is binary;
 * -FAULT_PROJECT_GONE when the project's directory is no longer where it was.
 */
int save_file(const struct project *p, struct save *save)
	__attribute__((warn_unused_result));
