/* private_file.c - see private_file.h. */
#include "common/base/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int write_new(const char *path, struct str text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int error = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	errno = 0;
	n = write(fd, text.ptr, text.len);
	if (n != (ssize_t)text.len)
		error = errno ? -errno : -ENOSPC;
	else if (fsync(fd) != 0)
		error = -errno;
	if (close(fd) != 0 && error == 0)
		error = -errno;
	return error;
}

int private_file_replace(const char *path, struct str text)
{
	char *temporary;
	int error;

	if (asprintf(&temporary, "%s.new", path) < 0)
		return -ENOMEM;
	unlink(temporary); /* of a run that was killed */
	error = write_new(temporary, text);
	if (!error && rename(temporary, path) != 0)
		error = -errno;
	if (error)
		unlink(temporary);
	free(temporary);
	return error;
}
