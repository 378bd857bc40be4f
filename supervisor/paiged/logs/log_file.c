/* log_file.c - see log_file.h. */
#include "supervisor/paiged/logs/log_file.h"

#include "common/base/alloc.h"
#include "common/base/log.h"
#include "supervisor/shared/places.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(struct log_file *s, struct mono now)
{
	s->error = errno;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->retry_at = mono_add_ms(now, LOG_FILE_RETRY_MS);
}

/* The directory may have been deleted with the file. */
static void make_parent(const char *path)
{
	AUTO_FREE char *dir = xstrdup(path);

	*strrchr(dir, '/') = '\0';
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		errno = 0; /* open(2) tells why */
}

static void open_file(struct log_file *s, struct mono now)
{
	const int flags =
		O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	struct stat st;

	s->fd = open(s->path, flags, 0600);
	if (s->fd < 0 && errno == ENOENT) {
		make_parent(s->path);
		s->fd = open(s->path, flags, 0600);
	}
	if (s->fd < 0 || fstat(s->fd, &st) != 0) {
		fail(s, now);
		return;
	}
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		fail(s, now);
		return;
	}
	s->size = st.st_size;
	s->device = st.st_dev;
	s->inode = st.st_ino;
}

static int64_t size_of_older(const struct log_file *s, int i)
{
	struct stat st;
	AUTO_FREE char *path = log_file_name(s->path, i);

	return stat(path, &st) == 0 ? st.st_size : 0;
}

void log_file_open(struct log_file *s, const char *dir, const char *name, struct mono now)
{
	*s = (struct log_file){.fd = -1, .name = name, .max_bytes = LOG_FILE_MAX_BYTES};
	s->path = xasprintf("%s/%s.log", dir, name);
	for (int i = 1; i < LOG_FILES; i++)
		s->base += size_of_older(s, i);
	open_file(s, now);
}

/* <name>.log.3 becomes .4, … , <name>.log becomes .1; what was .4 is gone. */
static void rotate(struct log_file *s, struct mono now)
{
	int failed = 0;

	for (int i = LOG_FILES - 2; i >= 0 && !failed; i--) {
		AUTO_FREE char *from = log_file_name(s->path, i);
		AUTO_FREE char *to = log_file_name(s->path, i + 1);

		failed = rename(from, to) != 0 && errno != ENOENT;
	}
	if (failed) {
		fail(s, now);
		return;
	}
	close(s->fd);
	s->base += s->size;
	open_file(s, now);
}

/* All of it or nothing: half a line would spoil the next. */
static bool append(struct log_file *s, const char *data, size_t len, struct mono now)
{
	ssize_t n;

	if (s->size > 0 && s->size + (int64_t)len > s->max_bytes)
		rotate(s, now);
	if (s->fd < 0)
		return false;
	n = write(s->fd, data, len);
	if (n == (ssize_t)len) {
		s->size += n;
		return true;
	}
	if (n >= 0) {
		if (n > 0 && ftruncate(s->fd, s->size) != 0)
			s->size += n;
		errno = ENOSPC;
	}
	fail(s, now);
	return false;
}

static void announce_dropped(struct log_file *s, struct mono now)
{
	char text[160], line[LOG_LINE_MAX];
	size_t len;

	snprintf(text, sizeof(text),
		"%" PRIu64 " lines are missing here: the log could not be written: %s",
		s->dropped, strerror(s->error));
	len = log_wrap(line, s->name, LOG_LEVEL_WARN, text);
	if (append(s, line, len, now))
		s->dropped = 0;
}

/* Opens the file again if it was deleted or replaced. */
static void check(struct log_file *s, struct mono now)
{
	struct stat st;

	if (stat(s->path, &st) == 0 && st.st_dev == s->device && st.st_ino == s->inode) {
		s->size = st.st_size; /* somebody may have cut it */
		return;
	}
	close(s->fd);
	open_file(s, now);
}

void log_file_write(
	struct log_file *s, const char *data, size_t len, unsigned lines, struct mono now)
{
	if (s->fd >= 0)
		check(s, now);
	if (s->fd < 0 && now.us >= s->retry_at.us)
		open_file(s, now);
	if (s->fd >= 0 && s->dropped > 0)
		announce_dropped(s, now);
	if (s->fd >= 0 && append(s, data, len, now))
		return;
	s->dropped += lines;
	s->dropped_total += lines;
}

void log_file_close(struct log_file *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	free(s->path);
	s->path = NULL;
}
