/*
 * power.h - a disk that loses power, for tests of what must be there afterwards.
 *
 * The system calls of the code under test are recorded, and each goes through to a real
 * directory. A loss of power at a time leaves what was synced by then; of the rest each
 * change may have reached the disk or not, in any order, as on a file system that promises
 * nothing: a write whole, not at all, its first half, its second half behind zeros, or only
 * the new size; a mode or not; each name that was set or taken away by itself. A sync of a
 * file does not bring its name to the disk, a sync of a directory only its names. What a
 * journal that keeps the order of names leaves (ext4, XFS, btrfs) is among these states.
 *
 * Included by one test, since it takes the place of system calls.
 */
#pragma once

#include "tests/unit/scratch.h"
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/uio.h>

#define POWER_NODES 64
#define POWER_NAMES 64
#define POWER_CHANGES 128

/* A file, directory or link; number 0 is the root. */
struct power_node {
	dev_t dev;
	ino_t ino;
	mode_t mode;
	size_t size;	/* while it is recorded */
	char link[256]; /* where a symbolic link leads */
};

struct power_name {
	int dir, node;
	char name[NAME_MAX + 1];
};

enum power_kind { POWER_WRITE, POWER_CUT, POWER_MODE, POWER_NAME, POWER_UNNAME };

struct power_change {
	enum power_kind kind;
	int node; /* the directory, for names */
	struct power_name name;
	mode_t mode;
	size_t at; /* of a write; the size, of a cut */
	bool grows;
	struct buf bytes;
	int made, synced; /* times */
};

/* A directory at the start, and what was done in it since. */
struct power {
	struct power_node nodes[POWER_NODES];
	struct power_name names[POWER_NAMES];
	struct power_change changes[POWER_CHANGES];
	int node_count, name_count, change_count;
	int time; /* one more with each change and each sync */
};

static struct power *power_recording; /* NULL: nothing is recorded */

/* ---- recording ---- */

#define POWER_REAL(name, ...)                                                            \
	static __typeof__(name) *real;                                                   \
	if (!real)                                                                       \
	*(void **)&real = dlsym(RTLD_NEXT, #name)

static int power_node_of(const struct power *p, const struct stat *st)
{
	for (int i = p->node_count;
		i-- > 0;) /* the latest with a number that was reused */
		if (p->nodes[i].ino == st->st_ino && p->nodes[i].dev == st->st_dev)
			return i;
	return -1;
}

/* -1: not in the directory that is recorded. */
static int power_node_at(int fd)
{
	struct stat st;

	return power_recording && fstat(fd, &st) == 0
		       ? power_node_of(power_recording, &st)
		       : -1;
}

static int power_add_node(struct power *p, const struct stat *st)
{
	ck_assert_int_lt(p->node_count, POWER_NODES);
	p->nodes[p->node_count] = (struct power_node){.dev = st->st_dev,
		.ino = st->st_ino,
		.mode = st->st_mode,
		.size = (size_t)st->st_size};
	return p->node_count++;
}

static struct power_change *power_change(struct power *p, enum power_kind kind, int node)
{
	struct power_change *c = &p->changes[p->change_count++];

	ck_assert_int_le(p->change_count, POWER_CHANGES);
	*c = (struct power_change){
		.kind = kind, .node = node, .made = p->time++, .synced = INT_MAX};
	return c;
}

static void power_named(enum power_kind kind, int dir, const char *name, int node)
{
	struct power_change *c = power_change(power_recording, kind, dir);

	c->name = (struct power_name){.dir = dir, .node = node};
	snprintf(c->name.name, sizeof(c->name.name), "%s", name);
}

/* A new file or directory has its name and its mode, or neither. */
static void power_made(int dir_fd, const char *name)
{
	int dir = power_node_at(dir_fd);
	struct stat st;

	if (dir < 0)
		return;
	ck_assert_int_eq(fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	power_named(POWER_NAME, dir, name, power_add_node(power_recording, &st));
}

static void power_wrote(int fd, const void *data, size_t len, size_t at)
{
	int node = power_node_at(fd);

	if (node < 0 || len == 0)
		return;

	struct power_node *n = &power_recording->nodes[node];
	struct power_change *c = power_change(power_recording, POWER_WRITE, node);

	c->at = at;
	c->grows = at + len > n->size;
	n->size = c->grows ? at + len : n->size;
	buf_add(&c->bytes, data, len);
}

static void power_synced(int fd, bool all)
{
	int node = power_node_at(fd);

	if (node < 0)
		return;
	for (int i = 0; i < power_recording->change_count; i++) {
		struct power_change *c = &power_recording->changes[i];

		if (c->node == node && c->synced == INT_MAX &&
			(all || c->kind != POWER_MODE))
			c->synced = power_recording->time;
	}
	power_recording->time++;
}

int openat64(int dir, const char *name, int flags, ...);
ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at);
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at);
int ftruncate64(int fd, off64_t len);

int openat64(int dir, const char *name, int flags, ...)
{
	POWER_REAL(openat64);
	struct stat st;
	va_list arguments;
	bool there = faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;

	va_start(arguments, flags);

	int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;

	va_end(arguments);

	int fd = real(dir, name, flags, mode);
	int node = fd >= 0 && (flags & O_TRUNC) ? power_node_at(fd) : -1;

	if (fd >= 0 && (flags & O_CREAT) && !there)
		power_made(dir, name);
	else if (node >= 0 && fstat(fd, &st) == 0) {
		power_change(power_recording, POWER_CUT, node);
		power_recording->nodes[node].size = 0;
	}
	return fd;
}

int mkdirat(int dir, const char *name, mode_t mode)
{
	POWER_REAL(mkdirat);
	int result = real(dir, name, mode);

	if (result == 0)
		power_made(dir, name);
	return result;
}

/* Of a path with a slash in it. */
int mkdir(const char *path, mode_t mode)
{
	const char *slash = strrchr(path, '/');
	char above[PATH_MAX];

	snprintf(above, sizeof(above), "%.*s", (int)(slash - path), path);

	int dir = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result = dir < 0 ? -1 : mkdirat(dir, slash + 1, mode);
	int error = errno;

	if (dir >= 0)
		close(dir);
	errno = error;
	return result;
}

ssize_t write(int fd, const void *data, size_t len)
{
	POWER_REAL(write);
	struct stat st;
	bool append = power_recording && (fcntl(fd, F_GETFL) & O_APPEND);
	size_t at = !power_recording		    ? 0
		    : append && fstat(fd, &st) == 0 ? (size_t)st.st_size
						    : (size_t)lseek(fd, 0, SEEK_CUR);
	ssize_t n = real(fd, data, len);

	if (n > 0)
		power_wrote(fd, data, (size_t)n, at);
	return n;
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at)
{
	POWER_REAL(pwritev64);
	struct buf all = {.data = NULL};
	ssize_t n = real(fd, parts, count, at);

	for (int i = 0; i < count; i++)
		buf_add(&all, parts[i].iov_base, parts[i].iov_len);
	if (n > 0)
		power_wrote(fd, all.data, (size_t)n, (size_t)at);
	buf_free(&all);
	return n;
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	struct iovec part = {(void *)(uintptr_t)data, len};

	return pwritev64(fd, &part, 1, at);
}

int ftruncate64(int fd, off64_t len)
{
	POWER_REAL(ftruncate64);
	int result = real(fd, len), node = result == 0 ? power_node_at(fd) : -1;

	if (node >= 0) {
		power_change(power_recording, POWER_CUT, node)->at = (size_t)len;
		power_recording->nodes[node].size = (size_t)len;
	}
	return result;
}

int fchmod(int fd, mode_t mode)
{
	POWER_REAL(fchmod);
	int result = real(fd, mode), node = result == 0 ? power_node_at(fd) : -1;

	if (node >= 0)
		power_change(power_recording, POWER_MODE, node)->mode = mode;
	return result;
}

int fsync(int fd)
{
	POWER_REAL(fsync);
	int result = real(fd);

	if (result == 0)
		power_synced(fd, true);
	return result;
}

int fdatasync(int fd)
{
	POWER_REAL(fdatasync);
	int result = real(fd);

	if (result == 0)
		power_synced(fd, false);
	return result;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	POWER_REAL(renameat);
	struct stat st;
	int node =
		power_recording && fstatat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) == 0
			? power_node_of(power_recording, &st)
			: -1;
	int result = real(from_dir, from, to_dir, to);

	if (result == 0 && node >= 0) {
		power_named(POWER_NAME, power_node_at(to_dir), to, node);
		power_named(POWER_UNNAME, power_node_at(from_dir), from, node);
	}
	return result;
}

int unlinkat(int dir, const char *name, int flags)
{
	POWER_REAL(unlinkat);
	int result = real(dir, name, flags), node = result == 0 ? power_node_at(dir) : -1;

	if (node >= 0)
		power_named(POWER_UNNAME, node, name, -1);
	return result;
}

/* ---- the start ---- */

static void power_take_in(struct power *p, const char *path, int dir, const char *name);

static void power_take_in_all(struct power *p, const char *path, int dir)
{
	DIR *d = opendir(path);

	ck_assert_ptr_nonnull(d);
	for (struct dirent *e; (e = readdir(d));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			power_take_in(p, scratch_path(path, e->d_name), dir, e->d_name);
	closedir(d);
}

/* What a file holds, hole by hole: those of the buffer store are sparse. */
static void power_take_in_bytes(struct power *p, const char *path, int node)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t end;

	ck_assert_int_ge(fd, 0);
	for (off_t at = 0; (at = lseek(fd, at, SEEK_DATA)) >= 0; at = end) {
		end = lseek(fd, at, SEEK_HOLE);

		struct power_change *c = power_change(p, POWER_WRITE, node);
		size_t len = (size_t)(end - at);

		ck_assert_int_eq(
			pread(fd, buf_reserve(&c->bytes, len), len, at), (ssize_t)len);
		c->bytes.len = len;
		c->at = (size_t)at;
		c->made = c->synced = -1;
	}
	close(fd);
}

static void power_take_in(struct power *p, const char *path, int dir, const char *name)
{
	char copy[PATH_MAX];
	struct stat st;

	snprintf(copy, sizeof(copy), "%s", path);
	ck_assert_int_eq(lstat(copy, &st), 0);

	int node = power_node_of(p, &st);
	bool is_new = node < 0;

	if (is_new)
		node = power_add_node(p, &st);
	if (name) {
		struct power_name *n = &p->names[p->name_count++];

		ck_assert_int_le(p->name_count, POWER_NAMES);
		*n = (struct power_name){.dir = dir, .node = node};
		snprintf(n->name, sizeof(n->name), "%s", name);
	}
	if (S_ISDIR(st.st_mode))
		power_take_in_all(p, copy, node);
	else if (is_new && S_ISREG(st.st_mode))
		power_take_in_bytes(p, copy, node);
	else if (is_new)
		ck_assert_int_gt(readlink(copy, p->nodes[node].link,
					 sizeof(p->nodes[node].link) - 1),
			0);
}

/* Takes in a directory as it is, all of it synced, and records what is done from now on. */
static void power_on(struct power *p, const char *root)
{
	*p = (struct power){.time = 0};
	power_take_in(p, root, -1, NULL);
	p->time = 0;
	power_recording = p;
}

static void power_free(struct power *p)
{
	for (int i = 0; i < p->change_count; i++)
		buf_free(&p->changes[i].bytes);
}

/* ---- what a loss of power leaves ---- */

enum { POWER_LOST, POWER_WHOLE, POWER_FIRST_HALF, POWER_SECOND_HALF, POWER_ZEROS };

/* Of what may have become of a change by the time, how many there are. */
static int power_fates(const struct power_change *c, int time)
{
	if (c->made >= time || c->synced < time)
		return 1;
	return c->kind != POWER_WRITE ? 2 : c->grows ? 5 : 4;
}

static void power_write(int fd, const struct power_change *c, int fate)
{
	size_t len = c->bytes.len, half = len / 2;
	size_t from = fate == POWER_SECOND_HALF ? half : 0;
	size_t n = fate == POWER_FIRST_HALF ? half : fate == POWER_ZEROS ? 0 : len - from;

	if (n > 0)
		ck_assert_int_eq(
			pwrite(fd, c->bytes.data + from, n, (off_t)(c->at + from)),
			(ssize_t)n);
	if (fate == POWER_ZEROS && c->grows)
		ck_assert_int_eq(ftruncate(fd, (off_t)(c->at + len)), 0);
}

/* Makes one state of a file. */
static void power_make_file(
	const struct power *p, const unsigned char *fates, int node, const char *path)
{
	mode_t mode = p->nodes[node].mode;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	for (int i = 0; i < p->change_count; i++) {
		const struct power_change *c = &p->changes[i];

		if (c->node != node || fates[i] == POWER_LOST)
			continue;
		if (c->kind == POWER_WRITE)
			power_write(fd, c, fates[i]);
		else if (c->kind == POWER_CUT)
			ck_assert_int_eq(ftruncate(fd, (off_t)c->at), 0);
		else if (c->kind == POWER_MODE)
			mode = c->mode;
	}
	ck_assert_int_eq(fchmod(fd, mode & 07777), 0);
	close(fd);
}

static void power_make(const struct power *p, const unsigned char *fates,
	const struct power_name *names, int count, int node, const char *path,
	char paths[POWER_NODES][256])
{
	char here[256];

	snprintf(here, sizeof(here), "%s", path);
	if (paths[node][0]) {
		ck_assert_int_eq(link(paths[node], here), 0);
		return;
	}
	memcpy(paths[node], here, sizeof(here));
	if (S_ISLNK(p->nodes[node].mode)) {
		ck_assert_int_eq(symlink(p->nodes[node].link, here), 0);
		return;
	}
	if (S_ISREG(p->nodes[node].mode)) {
		power_make_file(p, fates, node, here);
		return;
	}
	ck_assert(mkdir(here, 0700) == 0 || errno == EEXIST);

	mode_t mode = p->nodes[node].mode;

	for (int i = 0; i < p->change_count; i++)
		if (p->changes[i].node == node && p->changes[i].kind == POWER_MODE &&
			fates[i] != POWER_LOST)
			mode = p->changes[i].mode;
	for (int i = 0; i < count; i++)
		if (names[i].dir == node && names[i].node >= 0)
			power_make(p, fates, names, count, names[i].node,
				scratch_path(here, names[i].name), paths);
	ck_assert_int_eq(chmod(here, mode & 07777), 0);
}

/* Makes one state of the whole. */
static void power_make_all(
	const struct power *p, const unsigned char *fates, const char *root)
{
	static struct power_name names[POWER_NAMES + POWER_CHANGES];
	static char paths[POWER_NODES][256];
	int count = p->name_count;

	memcpy(names, p->names, sizeof(p->names));
	memset(paths, 0, sizeof(paths));
	for (int i = 0; i < p->change_count; i++) {
		const struct power_change *c = &p->changes[i];
		int at = 0;

		if ((c->kind != POWER_NAME && c->kind != POWER_UNNAME) ||
			fates[i] == POWER_LOST)
			continue;
		while (at < count && (names[at].dir != c->name.dir ||
					     strcmp(names[at].name, c->name.name) != 0))
			at++;
		names[at] = c->name;
		names[at].node = c->kind == POWER_NAME ? c->name.node : -1;
		count = at == count ? count + 1 : count;
	}
	scratch_remove(root);
	power_make(p, fates, names, count, 0, root, paths);
}

/*
 * Makes each state that a loss of power at a time may leave, one after the other in `root`,
 * and calls `look`. Returns how many there were.
 */
static size_t power_each(const struct power *p, int time, const char *root,
	void (*look)(void *arg), void *arg)
{
	unsigned char fates[POWER_CHANGES];
	size_t states = 0;
	int at = 0;

	for (int i = 0; i < p->change_count; i++)
		fates[i] = p->changes[i].synced < time ? POWER_WHOLE : POWER_LOST;
	while (at < p->change_count) {
		power_make_all(p, fates, root);
		look(arg);
		states++;
		for (at = 0; at < p->change_count; at++) {
			int count = power_fates(&p->changes[at], time);

			if (count == 1)
				continue;
			fates[at] = (unsigned char)((fates[at] + 1) % count);
			if (fates[at] != POWER_LOST)
				break;
		}
	}
	return states;
}
