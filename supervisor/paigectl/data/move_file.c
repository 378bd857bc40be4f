/* move_file.c - see move_file.h. Called by command_backup.c. */
#include "supervisor/paigectl/data/move_file.h"
#include "common/base/alloc.h"
#include "common/base/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES 65536

static int sync_directory_of(const char *path)
{
	AUTO_FREE char *copy = xstrdup(path);
	AUTO_FD fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

/* 0 or -errno; -EXDEV to another file system. */
static int move(const char *from, const char *to, bool replace)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, replace ? 0 : RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL || replace)
		return -errno;
	/* A file system that cannot refuse to replace can refuse to link. */
	if (link(from, to) < 0)
		return -errno;
	return unlink(from) < 0 ? -errno : 0;
}

static int copy_content(int from, int to)
{
	char data[COPY_BYTES];
	ssize_t n;
	int result = 0;

	while (result == 0 && (n = read(from, data, sizeof(data))) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			result = file_write_all(to, (struct str){data, (size_t)n});
	}
	if (result == 0 && fsync(to) < 0)
		result = -errno;
	return result;
}

/* Through a file beside the target, so that nobody sees half of it. */
static int copy(const char *from, const char *to, bool replace)
{
	AUTO_FREE char *part = NULL;
	AUTO_FD in = open(from, O_RDONLY | O_CLOEXEC);
	int out, result;

	if (in < 0)
		return -errno;
	part = xasprintf("%s.%d.part", to, (int)getpid());
	out = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	result = out < 0 ? -errno : copy_content(in, out);
	if (out >= 0 && close(out) < 0 && result == 0)
		result = -errno;
	if (result == 0)
		result = move(part, to, replace);
	if (result < 0 && out >= 0)
		unlink(part);
	if (result == 0)
		unlink(from);
	return result;
}

int move_file(const char *from, const char *to, bool replace)
{
	int result = move(from, to, replace);

	if (result == -EXDEV)
		result = copy(from, to, replace);
	return result < 0 ? result : sync_directory_of(to);
}
