/*
 * fault.c - a preloaded library that makes the disk fail for a program under test.
 *
 * STORE_FAULT names a path. While PATH.full exists, writes fail with ENOSPC; while
 * PATH.eio exists, syncs fail with EIO. Otherwise everything goes through.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at);

static bool switched_on(const char *kind)
{
	const char *base = getenv("STORE_FAULT");
	char path[PATH_MAX];

	if (!base)
		return false;
	snprintf(path, sizeof(path), "%s.%s", base, kind);
	return access(path, F_OK) == 0;
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	static ssize_t (*real)(int, const void *, size_t, off64_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pwrite64");
	if (switched_on("full")) {
		errno = ENOSPC;
		return -1;
	}
	return real(fd, data, len, at);
}

static int sync_with(const char *name, int fd)
{
	int (*real)(int);

	*(void **)&real = dlsym(RTLD_NEXT, name);
	if (switched_on("eio")) {
		errno = EIO;
		return -1;
	}
	return real(fd);
}

int fdatasync(int fd)
{
	return sync_with("fdatasync", fd);
}

int fsync(int fd)
{
	return sync_with("fsync", fd);
}
