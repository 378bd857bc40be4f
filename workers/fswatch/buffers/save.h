/*
 * save.h - saving a file atomically (FR-025).
 *
 * The new content goes into a temporary file beside the old one, is brought to the disk,
 * and takes the old one's name; whatever fails before that leaves the old file as it was
 * and no temporary file. A file with several names, a mount point, and a file in a
 * directory that may not be written are written in place (in_place.h). Mode, owner,
 * extended attributes and encoding are kept, a link is kept and written through; a new
 * file is as open as its directory. A binary file, which windows are shown as empty, is
 * never written over. Blocks on the disk: runs on the thread of jobs.h.
 */
#ifndef PAIGE_FSWATCH_BUFFERS_SAVE_H
#define PAIGE_FSWATCH_BUFFERS_SAVE_H

#include "workers/fswatch/disk/hash.h"
#include "workers/fswatch/disk/project.h"

struct save {
	const char *key;
	struct str text; /* UTF-8 */
	int record_dir;	 /* for a write in place: DATA_DIR/buffers */
	struct str base; /* version it is based on; absent: save whatever is there */
	/* After the save: */
	char version[HASH_VERSION_SIZE]; /* what is on disk now; "" when there is no file
					  */
};

/*
 * 0 when the content is on disk. Else a negative errno or fault (fault.h):
 * -FAULT_CONFLICT when the file has another version than `base`, unless it already holds
 * exactly this text; `version` tells which. -FAULT_BINARY when the file is binary;
 * -FAULT_PROJECT_GONE when the project's directory is no longer where it was.
 */
int save_file(const struct project *p, struct save *save)
	__attribute__((warn_unused_result));

#endif
