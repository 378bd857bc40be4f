/*
 * read.h - reading a file of the project: its text, version and kind (FR-024, FR-038).
 *
 * Never blocks on what is no regular file: FIFOs, sockets and devices are refused after
 * an open with O_NONBLOCK.
 */
#pragma once

#include "common/base/buf.h"
#include "workers/fswatch/disk/encoding.h"
#include "workers/fswatch/disk/hash.h"
#include "workers/fswatch/disk/project.h"

/* More than a client may have queued. */
#define READ_MAX_BYTES (8u * 1024 * 1024)

/* Zero is a valid empty value; the buffers are reused from file to file. */
struct file_content {
	struct buf raw;	    /* as on disk */
	struct buf decoded; /* used when it is not UTF-8 */
	struct str text; /* UTF-8; empty for a binary file. Points into one of the two */
	struct encoding encoding;
	bool binary;
	size_t line_count; /* pieces between "\n"; 0 for a binary file */
	int64_t chars;	   /* UTF-16 code units of the text */
	char version[HASH_VERSION_SIZE];
};

/*
 * Reads what a key leads to. 0, or a negative errno or fault (fault.h): -FAULT_TOO_BIG
 * above READ_MAX_BYTES unless the name says binary; then nothing is read and the version
 * is made from size, inode and time of change.
 */
int read_file(const struct project *p, const char *key, struct file_content *content)
	__attribute__((warn_unused_result));

/*
 * Appends a whole regular file that is open. `st` gets its attributes. 0 or a negative
 * errno or fault: -FAULT_TOO_BIG above `max` bytes (with `st` filled).
 */
int read_fd(int fd, size_t max, struct stat *st, struct buf *out)
	__attribute__((warn_unused_result));

void read_content_fini(struct file_content *content);
