/* lock.c - see lock.h. Called by daemon.c, and by paigectl to find the daemon. */
#include "supervisor/shared/lock.h"

#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTENT_MAX 256 /* "<pid>\n<runtime directory>\n" */

static int open_lock(const char *data_dir, int flags)
{
	AUTO_FREE char *path = xasprintf("%s/paiged.lock", data_dir);
	int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? -errno : fd;
}

/* The lock is on the whole file, whatever its length. */
static struct flock whole_file(void)
{
	return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

/* False when nothing, or nothing that makes sense, is written. */
static bool read_content(int fd, pid_t *pid, char runtime_dir[108])
{
	char text[CONTENT_MAX + 1];
	ssize_t n = pread(fd, text, CONTENT_MAX, 0);
	char *end;
	long number;

	if (n <= 0)
		return false;
	text[n] = '\0';
	number = strtol(text, &end, 10);
	if (number <= 0 || *end != '\n')
		return false;
	*pid = (pid_t)number;
	end++;
	snprintf(runtime_dir, 108, "%.*s", (int)strcspn(end, "\n"), end);
	return true;
}

int lock_take(struct lock *l, const char *data_dir, pid_t *holder)
{
	char runtime_dir[108];
	int fd = open_lock(data_dir, O_RDWR | O_CREAT);
	pid_t last = 0;
	struct flock lock = whole_file();
	int error;

	if (fd < 0)
		return fd;
	if (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
		error = errno == EACCES ? -EAGAIN : -errno;
		if (!read_content(fd, holder, runtime_dir))
			*holder = 0;
		close(fd);
		return error;
	}
	*l = (struct lock){.fd = fd,
		.runtime_fd = -1,
		.unclean = read_content(fd, &last, runtime_dir)};
	return 0;
}

int lock_take_runtime(struct lock *l, const char *runtime_dir)
{
	int fd = open(runtime_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int error;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		error = -errno;
		close(fd);
		return error;
	}
	l->runtime_fd = fd;
	return 0;
}

bool lock_runtime_in_place(const struct lock *l, const char *runtime_dir)
{
	struct stat named, taken;

	return l->runtime_fd >= 0 && fstat(l->runtime_fd, &taken) == 0 &&
	       lstat(runtime_dir, &named) == 0 && named.st_dev == taken.st_dev &&
	       named.st_ino == taken.st_ino;
}

void lock_leave_runtime(struct lock *l)
{
	if (l->runtime_fd >= 0)
		close(l->runtime_fd);
	l->runtime_fd = -1;
}

int lock_sign(struct lock *l, const char *runtime_dir)
{
	char text[CONTENT_MAX];
	int n = snprintf(text, sizeof(text), "%d\n%s\n", (int)getpid(), runtime_dir);

	if (ftruncate(l->fd, 0) != 0)
		return -errno;
	if (pwrite(l->fd, text, (size_t)n, 0) != n)
		return errno ? -errno : -EIO;
	return 0;
}

void lock_release(struct lock *l)
{
	int failed = ftruncate(l->fd, 0);

	(void)failed; /* then the next start looks for workers that are not there */
	lock_leave_runtime(l);
	close(l->fd);
	l->fd = -1;
}

int lock_holder(const char *data_dir, pid_t *pid, char runtime_dir[108])
{
	AUTO_FD fd = open_lock(data_dir, O_RDONLY);
	struct flock lock = whole_file();

	if (fd < 0)
		return fd == -ENOENT ? -ESRCH : fd;
	if (fcntl(fd, F_OFD_GETLK, &lock) != 0)
		return -errno;
	if (lock.l_type == F_UNLCK || !read_content(fd, pid, runtime_dir))
		return -ESRCH;
	return 0;
}
