/*
 * file_io.h - whole reads and writes: interrupted and short ones are continued.
 *
 * For regular files, whose reads and writes end by themselves. The caller opens, syncs
 * and closes.
 */
#pragma once

#include "common/base/buf.h"
#include <dirent.h>
#include <unistd.h>

/*
 * Opens a file in a directory: no link, and nothing that would keep the process waiting.
 * New ones get mode 0600. The descriptor (close-on-exec), or -errno: -ENOTSUP for what is
 * no regular file.
 */
int file_open_regular(int dir_fd, const char *name, int flags)
	__attribute__((warn_unused_result));
/* The error text: as strerror, but with the meaning of -ENOTSUP above. */
const char *file_error_text(int error);
/* Appends the rest of the file. 0, -EFBIG when it has more than `max` bytes (*out then has
 * those read), or -errno. */
int file_read_all(int fd, size_t max, struct buf *out)
	__attribute__((warn_unused_result));
/* Appends a whole file of ours, opened with file_open_regular. As file_read_all. */
int file_read_own(int dir_fd, const char *name, size_t max, struct buf *out)
	__attribute__((warn_unused_result));
/* The same for a file that the user named: links are followed. */
int file_read_named(int dir_fd, const char *name, size_t max, struct buf *out)
	__attribute__((warn_unused_result));
/* 0, or -errno after writing all, some or none of it. */
int file_write_all(int fd, struct str bytes) __attribute__((warn_unused_result));
/* Brings the names in a directory to the disk. 0, also on a file system that cannot do so for
 * a directory by itself, or -errno. */
int file_sync_dir(int fd) __attribute__((warn_unused_result));

/* The entries of a directory that is open as `fd`, which is taken; NULL, with errno, when it
 * cannot be listed or `fd` is negative. */
DIR *file_list(int fd);
/* AUTO_DIR *dir = ...; is closed at the end of its block; NULL: there is none. */
static inline void file_close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}
#define AUTO_DIR __attribute__((cleanup(file_close_dir))) DIR

/*
 * Opens /dev/null for each of the descriptors 0, 1 and 2 that is closed. Call it before
 * opening anything else: a file with such a number would receive output meant for the
 * terminal. Ends the program on failure.
 */
void file_fill_standard(void);

static inline void file_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
/* AUTO_FD fd = ...; is closed at the end of its block; negative: there is none. */
#define AUTO_FD __attribute__((cleanup(file_close))) int
