/*
 * file_io.h - whole reads and writes: interrupted and short ones are gone on with.
 *
 * For regular files, whose reads and writes end by themselves. The caller opens, syncs
 * and closes.
 */
#ifndef PAIGE_COMMON_FILE_IO_H
#define PAIGE_COMMON_FILE_IO_H

#include "common/buf.h"

/* Appends what is left of the file. 0, -EFBIG when it is more than `max` bytes (what was
 * read is in *out), or -errno. */
int file_read_all(int fd, size_t max, struct buf *out)
	__attribute__((warn_unused_result));
/* 0 or -errno; part of it may be written then. */
int file_write_all(int fd, struct str bytes) __attribute__((warn_unused_result));

#endif
