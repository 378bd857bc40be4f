/*
 * in_place.h - overwrites a file, for files that cannot be replaced by a renamed one: those
 * with several names, mount points, and files in a directory that may not be written.
 *
 * First a record with the old and the new content goes to the disk, as
 * DATA_DIR/buffers/<hash of the key>.save; then the file is written; then the record is
 * removed. If the process is killed in between, the next start finishes the write. Blocks on
 * the disk.
 */
#pragma once

#include "workers/fswatch/disk/project.h"

struct in_place {
	int record_dir;	 /* borrowed: DATA_DIR/buffers */
	const char *key; /* of the file itself, with no link in it */
	int fd;		 /* borrowed: the file, open for writing */
	struct str old;	 /* its whole content */
	struct str content;
};

/*
 * Writes the new content. 0 when it is on the disk, else -errno with the old content put
 * back. If even that fails, the record stays for the next start.
 */
int in_place_write(const struct in_place *w) __attribute__((warn_unused_result));

/*
 * Call at the start: finishes interrupted writes. A file that another program has changed
 * since is left alone; its record is renamed to <name>.aside, with a warning. 0, or -errno
 * when the records cannot be listed.
 */
int in_place_recover(int record_dir, const struct project *p)
	__attribute__((warn_unused_result));
