/*
 * file_io.h - whole reads and writes: interrupted and short ones are gone on with.
 *
 * For regular files, whose reads and writes end by themselves. The caller opens, syncs
 * and closes.
 */
#ifndef PAIGE_COMMON_BASE_FILE_IO_H
#define PAIGE_COMMON_BASE_FILE_IO_H

#include "common/base/buf.h"

/*
 * Opens a file in a directory: no link, and nothing that would keep the process waiting.
 * New ones get mode 0600. The descriptor (close-on-exec), or -errno: -ENOTSUP for what is
 * no regular file.
 */
int file_open_regular(int dir_fd, const char *name, int flags)
	__attribute__((warn_unused_result));
/* What is wrong, in words: as strerror, but -ENOTSUP means what it does above. */
const char *file_error_text(int error);
/* Appends what is left of the file. 0, -EFBIG when it is more than `max` bytes (what was
 * read is in *out), or -errno. */
int file_read_all(int fd, size_t max, struct buf *out)
	__attribute__((warn_unused_result));
/* Appends a whole file of ours, opened with file_open_regular. As file_read_all. */
int file_read_own(int dir_fd, const char *name, size_t max, struct buf *out)
	__attribute__((warn_unused_result));
/* The same for a file that the user named: links are followed. */
int file_read_named(int dir_fd, const char *name, size_t max, struct buf *out)
	__attribute__((warn_unused_result));
/* 0 or -errno; part of it may be written then. */
int file_write_all(int fd, struct str bytes) __attribute__((warn_unused_result));

/*
 * Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed, before anything
 * else is opened: what took such a number would get what is meant for the terminal. Ends
 * the program when it cannot.
 */
void file_fill_standard(void);

#endif
