/*
 * scratch.h - a directory for one test, and the files in it. For the unit tests of
 * programs that touch the file system. Whatever goes wrong here fails the test.
 */
#pragma once

#include "common/base/buf.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRATCH_SIZE 128

static inline void scratch_make(char dir[SCRATCH_SIZE])
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, SCRATCH_SIZE, "%s/paige-test.XXXXXX", tmp ? tmp : "/tmp");
	ck_assert_msg(mkdtemp(dir) != NULL, "cannot make %s", dir);
}

static inline int scratch_remove_one(
	const char *path, const struct stat *st, int what, struct FTW *at)
{
	(void)st;
	(void)what;
	(void)at;
	return remove(path);
}

static inline void scratch_remove(const char *dir)
{
	nftw(dir, scratch_remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

/* "dir/name"; the text is good until the fourth call after it. */
static inline const char *scratch_path(const char *dir, const char *name)
{
	static char paths[4][4096];
	static int at;
	char *path = paths[at++ % 4];

	int len = snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);

	ck_assert_int_lt(len, (int)sizeof(paths[0]));
	return path;
}

static inline void scratch_mkdir(const char *dir, const char *name)
{
	ck_assert_msg(mkdir(scratch_path(dir, name), 0755) == 0, "mkdir %s: %s", name,
		strerror(errno));
}

static inline void scratch_write_bytes(
	const char *dir, const char *name, const void *bytes, size_t len)
{
	int fd = open(
		scratch_path(dir, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_msg(fd >= 0, "open %s: %s", name, strerror(errno));
	ck_assert_msg(write(fd, bytes, len) == (ssize_t)len, "write %s: %s", name,
		strerror(errno));
	close(fd);
}

static inline void scratch_write(const char *dir, const char *name, const char *text)
{
	scratch_write_bytes(dir, name, text, strlen(text));
}

static inline void scratch_link(const char *dir, const char *target, const char *name)
{
	ck_assert_msg(symlink(target, scratch_path(dir, name)) == 0, "link %s: %s", name,
		strerror(errno));
}

/* Replaces the content of `out` by that of a file. */
static inline void scratch_read(const char *dir, const char *name, struct buf *out)
{
	int fd = open(scratch_path(dir, name), O_RDONLY | O_CLOEXEC);
	ssize_t n;

	ck_assert_msg(fd >= 0, "open %s: %s", name, strerror(errno));
	buf_clear(out);
	while ((n = read(fd, buf_reserve(out, 4096), 4096)) > 0)
		out->len += (size_t)n;
	ck_assert_msg(n == 0, "read %s: %s", name, strerror(errno));
	close(fd);
}

/* True when the file holds exactly this text. */
static inline bool scratch_holds(const char *dir, const char *name, const char *text)
{
	struct buf have = {.data = NULL};

	scratch_read(dir, name, &have);

	bool same = str_eq(buf_str(&have), str_of(text));

	buf_free(&have);
	return same;
}

static inline bool scratch_exists(const char *dir, const char *name)
{
	struct stat st;

	return lstat(scratch_path(dir, name), &st) == 0;
}
