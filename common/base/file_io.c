/* file_io.c - see file_io.h. */
#include "common/base/file_io.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES 65536

int file_open_regular(int dir_fd, const char *name, int flags)
{
	struct stat st;
	int fd = openat(dir_fd, name,
		flags | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0) /* links; sockets and FIFOs that nobody reads; directories */
		return errno == ELOOP || errno == ENXIO || errno == EISDIR ? -ENOTSUP
									   : -errno;

	int error = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -ENOTSUP;

	if (error)
		close(fd);
	return error ? error : fd;
}

const char *file_error_text(int error)
{
	return error == -ENOTSUP ? "Not a regular file" : strerror(-error);
}

DIR *file_list(int fd)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		file_close(&fd);
	return dir;
}

void file_fill_standard(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		_exit(1);
	close(fd);
}

int file_read_all(int fd, size_t max, struct buf *out)
{
	size_t before = out->len;

	while (out->len - before <= max) {
		ssize_t n = read(fd, buf_reserve(out, READ_BYTES), READ_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		out->len += (size_t)n;
	}
	return -EFBIG;
}

int file_read_own(int dir_fd, const char *name, size_t max, struct buf *out)
{
	AUTO_FD fd = file_open_regular(dir_fd, name, O_RDONLY);

	return fd < 0 ? fd : file_read_all(fd, max, out);
}

int file_read_named(int dir_fd, const char *name, size_t max, struct buf *out)
{
	AUTO_FD fd = openat(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? -errno : file_read_all(fd, max, out);
}

int file_write_all(int fd, struct str bytes)
{
	while (bytes.len > 0) {
		ssize_t n = write(fd, bytes.ptr, bytes.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes.ptr += n;
		bytes.len -= (size_t)n;
	}
	return 0;
}

int file_sync_dir(int fd)
{
	if (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EBADF)
		return 0;
	return -errno;
}
