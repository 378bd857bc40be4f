/* private_file.c - see private_file.h. */
#include "common/base/private_file.h"
#include "common/base/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int private_file_replace_at(
	int dir_fd, const char *name, struct str text, enum private_file_sync sync)
{
	char temporary[PATH_MAX];
	int n = snprintf(temporary, sizeof(temporary), "%s.new", name);
	int fd, error;

	if (n < 0 || n >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	unlinkat(dir_fd, temporary, 0); /* of a run that was killed */
	fd = openat(dir_fd, temporary,
		O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	error = file_write_all(fd, text);
	/* Before the name is taken: then there is no way back to the old file. */
	if (!error && sync == PRIVATE_FILE_SYNCED && fsync(fd) < 0)
		error = -errno;
	if (!error && renameat(dir_fd, temporary, dir_fd, name) < 0)
		error = -errno;
	if (error) {
		close(fd);
		unlinkat(dir_fd, temporary, 0);
		return error;
	}
	return fd;
}

int private_file_replace(const char *path, struct str text)
{
	int fd = private_file_replace_at(AT_FDCWD, path, text, PRIVATE_FILE_SYNCED);

	if (fd < 0)
		return fd;
	return close(fd) < 0 ? -errno : 0;
}
