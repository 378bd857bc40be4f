/*
 * disk.h - which version of a file is on disk now, without reading it again each time.
 *
 * As long as size, inode and times of a file are what they were when it was read, so is
 * its content. A file that was changed a moment before it was read is read again the
 * next time: two writes within one tick of the file system's clock look the same.
 */
#pragma once

#include "workers/fswatch/disk/read.h"

/* Of one file. Zero is a file that was not looked at yet. */
struct disk {
	bool known;
	struct stat st;
	char version[HASH_VERSION_SIZE]; /* "" when there is no file */
};

/*
 * Brings `disk` up to date. 0, or why the file cannot be read (fault.h); then nothing is
 * known of it. `read` tells whether it was read now: then `content` holds it.
 */
int disk_look(const struct project *p, const char *key, struct disk *disk,
	struct file_content *content, bool *read) __attribute__((warn_unused_result));

/* True when disk_look would read more than `bytes` bytes: the file is that long, and not what
 * `known` says (NULL: nothing is known of it). */
bool disk_needs_reading(
	const struct project *p, const char *key, const struct disk *known, size_t bytes);
