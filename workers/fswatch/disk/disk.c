/* disk.c - see disk.h. */
#include "workers/fswatch/disk/disk.h"
#include "common/base/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Coarser than the clock of any file system with inodes and times in nanoseconds. */
#define TICK_US 1000000

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size && same_time(a->st_mtim, b->st_mtim) &&
	       same_time(a->st_ctim, b->st_ctim);
}

static int stat_key(const struct project *p, const char *key, struct stat *st)
{
	int fd = project_openat(p, key, O_PATH);

	if (fd < 0)
		return fd;

	int error = fstat(fd, st) < 0 ? -errno : 0;

	close(fd);
	return error;
}

/* The change lies so far back that another one would show in the time. */
static bool settled(const struct stat *st)
{
	int64_t changed =
		(int64_t)st->st_ctim.tv_sec * 1000000 + st->st_ctim.tv_nsec / 1000;
	int64_t age = clock_wall().us - changed;

	return age > TICK_US;
}

int disk_look(const struct project *p, const char *key, struct disk *disk,
	struct file_content *content, bool *read)
{
	struct stat st;
	int error = stat_key(p, key, &st);

	*read = false;
	if (!error && disk->known && same(&st, &disk->st))
		return 0;
	if (!error)
		error = read_file(p, key, content);
	disk->known = false;
	if (error == -ENOENT) {
		disk->version[0] = '\0';
		return 0;
	}
	if (error)
		return error;
	*read = true;
	disk->known = settled(&st);
	disk->st = st;
	memcpy(disk->version, content->version, sizeof(disk->version));
	return 0;
}

bool disk_needs_reading(
	const struct project *p, const char *key, const struct disk *known, size_t bytes)
{
	struct stat st;

	if (stat_key(p, key, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size <= bytes)
		return false;
	return !known || !known->known || !same(&st, &known->st);
}
