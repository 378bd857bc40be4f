/*
 * in_place.h - writing a file where it lies, for those that another file cannot take the
 * place of: with several names, mount points, in a directory that may not be written.
 *
 * A record of the old and the new content goes to the disk first, as
 * DATA_DIR/buffers/<hash of the key>.save; then the file is written; then the record
 * goes. So whoever is killed in between leaves a file that the next start brings to the
 * new content. Blocks on the disk.
 */
#ifndef PAIGE_FSWATCH_BUFFERS_IN_PLACE_H
#define PAIGE_FSWATCH_BUFFERS_IN_PLACE_H

#include "workers/fswatch/disk/project.h"

struct in_place {
	int record_dir;	 /* borrowed: DATA_DIR/buffers */
	const char *key; /* of the file itself, no link in it */
	int fd;		 /* borrowed: the file, open for writing */
	struct str old;	 /* all that is in it */
	struct str content;
};

/*
 * Writes the new content. 0 when it is on the disk; else -errno, and the file is as it
 * was. Where even that fails, the record stays for the next start.
 */
int in_place_write(const struct in_place *w) __attribute__((warn_unused_result));

/*
 * At the start: finishes what was cut short. A file that another program has changed
 * since is left alone, and the record renamed to <name>.aside, with a warning. 0, or
 * -errno when the records cannot be listed.
 */
int in_place_recover(int record_dir, const struct project *p)
	__attribute__((warn_unused_result));

#endif
