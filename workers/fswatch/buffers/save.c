/* save.c - see save.h. */
#include "workers/fswatch/buffers/save.h"
#include "common/base/buf.h"
#include "common/base/file_io.h"
#include "workers/fswatch/buffers/buffer_store.h"
#include "workers/fswatch/buffers/in_place.h"
#include "workers/fswatch/disk/encoding.h"
#include "workers/fswatch/disk/fault.h"
#include "workers/fswatch/disk/language.h"
#include "workers/fswatch/disk/names.h"
#include "workers/fswatch/disk/read.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

#define HEAD_BYTES 65536
#define MAX_TRIES 3 /* when somebody else changes the file in between */

/* The file that is replaced. */
struct old {
	bool there;
	int fd; /* -1: it is not there or may not be read */
	struct stat st;
	bool binary;	  /* beyond what `bytes` tell */
	struct buf bytes; /* empty when it is not there or too big to be text */
};

static void forget(struct old *old)
{
	if (old->fd >= 0)
		close(old->fd);
	old->fd = -1;
	buf_free(&old->bytes);
}

/* Of a file that is too big to be read: text that was saved here may be that big. */
static int look_at_head(struct old *old)
{
	AUTO_BUF head = {.data = NULL};
	ssize_t n = pread(old->fd, buf_reserve(&head, HEAD_BYTES), HEAD_BYTES, 0);

	if (n > 0)
		head.len = (size_t)n;
	old->binary = encoding_detect(buf_str(&head)).kind == ENCODING_BINARY;
	return n < 0 ? -errno : 0;
}

/* Opens and reads what is in the place now. */
static int look(const struct project_place *place, struct old *old)
{
	int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC;

	*old = (struct old){.fd = openat(place->dir_fd, place->base, flags)};
	if (old->fd < 0 && errno == ENOENT)
		return 0;
	if (old->fd < 0 && errno != EACCES)
		return errno == ENXIO ? -FAULT_NOT_REGULAR : -errno;
	old->there = true;
	if (faccessat(place->dir_fd, place->base, W_OK, AT_EACCESS) < 0)
		return -errno;
	if (old->fd < 0) /* may be written but not read */
		return fstatat(place->dir_fd, place->base, &old->st,
			       AT_SYMLINK_NOFOLLOW) < 0
			       ? -errno
			       : 0;

	/* As much as can be saved. */
	int error = read_fd(old->fd, BUFFER_STORE_MAX_CONTENT, &old->st, &old->bytes);

	if (error != -FAULT_TOO_BIG)
		return error;
	buf_clear(&old->bytes);
	return look_at_head(old);
}

/* True when what is in the place is still what was looked at. */
static bool unchanged(const struct project_place *place, const struct old *old)
{
	struct stat st;

	if (fstatat(place->dir_fd, place->base, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT && !old->there;
	return old->there && st.st_ino == old->st.st_ino && st.st_dev == old->st.st_dev &&
	       st.st_size == old->st.st_size &&
	       st.st_mtim.tv_sec == old->st.st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == old->st.st_mtim.tv_nsec;
}

/* Access lists and labels; what the file system does not take is left out. */
static void copy_attributes(int from, int to)
{
	char names[4096], value[4096];
	ssize_t len = from < 0 ? 0 : flistxattr(from, names, sizeof(names));

	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(names + at) + 1) {
		ssize_t n = fgetxattr(from, names + at, value, sizeof(value));

		if (n >= 0 && fsetxattr(to, names + at, value, (size_t)n, 0) < 0)
			continue;
	}
}

/* A file that was not there is as open as its directory, but for what only directories
 * have; the process has a umask of its own. */
static int set_mode(const struct project_place *place, int fd)
{
	struct stat st;

	if (fstat(place->dir_fd, &st) < 0 || fchmod(fd, st.st_mode & 0664) < 0)
		return -errno;
	return 0;
}

/* Gives the new file what the old one had. Only root may give files away: when the owner
 * cannot be kept the group may still be, and a set-id bit must not be. */
static int keep_attributes(const struct old *old, int fd)
{
	mode_t mode = old->st.st_mode & 07777;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if ((st.st_uid != old->st.st_uid || st.st_gid != old->st.st_gid) &&
		fchown(fd, old->st.st_uid, old->st.st_gid) < 0) {
		mode &= 01777;
		if (fchown(fd, (uid_t)-1, old->st.st_gid) < 0)
			mode &= 01707;
	}
	copy_attributes(old->fd, fd);
	return fchmod(fd, mode) < 0 ? -errno : 0;
}

static int fill(int fd, const struct project_place *place, const struct old *old,
	struct str bytes)
{
	int error = file_write_all(fd, bytes);

	if (!error)
		error = old->there ? keep_attributes(old, fd) : set_mode(place, fd);
	if (!error && fsync(fd) < 0)
		error = -errno;
	return error;
}

/* 0, -EAGAIN when the file was changed meanwhile, or what failed. */
static int replace(
	const struct project_place *place, const struct old *old, struct str bytes)
{
	static atomic_ullong serial;
	char temp[NAMES_TEMP_SIZE];

	names_temp(getpid(), atomic_fetch_add(&serial, 1), temp);

	int fd = openat(place->dir_fd, temp,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;

	int error = fill(fd, place, old, bytes);

	if (close(fd) < 0 && !error)
		error = -errno;
	if (!error && !unchanged(place, old))
		error = -EAGAIN;
	if (!error && renameat(place->dir_fd, temp, place->dir_fd, place->base) < 0)
		error = -errno;
	if (error) {
		unlinkat(place->dir_fd, temp, 0);
		return error;
	}
	return file_sync_dir(place->dir_fd);
}

/* The names of the file go on to name the same one. */
static int write_in_place(const struct project_place *place, const struct old *old,
	int record_dir, struct str bytes)
{
	struct stat st;

	if (old->fd < 0)
		return -EACCES;
	if (old->bytes.len != (size_t)old->st.st_size)
		return -FAULT_TOO_BIG;

	AUTO_FD fd = openat(place->dir_fd, place->base,
		O_WRONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_ino != old->st.st_ino || st.st_dev != old->st.st_dev ||
		!unchanged(place, old))
		return -EAGAIN;
	return in_place_write(&(struct in_place){
		record_dir, place->real, fd, buf_str(&old->bytes), bytes});
}

static int put(const struct project_place *place, const struct old *old, int record_dir,
	struct str bytes)
{
	bool names = old->there && old->st.st_nlink > 1;
	int error = names ? -EBUSY : replace(place, old, bytes);

	/* A mount point is busy; a directory may let its files be written, but no new
	 * ones be made. */
	if (old->there && (error == -EBUSY || error == -EACCES || error == -EPERM))
		return write_in_place(place, old, record_dir, bytes);
	return error;
}

static int save_once(const struct project_place *place, struct save *save)
{
	__attribute__((cleanup(forget))) struct old old;
	AUTO_BUF bytes = {.data = NULL};
	char version[HASH_VERSION_SIZE];
	int error = look(place, &old);

	if (error)
		return error;

	struct encoding encoding = encoding_detect(buf_str(&old.bytes));

	if (old.there && (old.binary || encoding.kind == ENCODING_BINARY ||
				 language_is_binary(str_of(save->key))))
		return -FAULT_BINARY;
	encoding_encode(encoding, save->text, &bytes);
	hash_version(buf_str(&bytes), version);
	save->version[0] = '\0';
	if (old.there)
		hash_version(buf_str(&old.bytes), save->version);
	if (save->base.ptr && !str_is(save->base, save->version) &&
		strcmp(save->version, version) != 0)
		return -FAULT_CONFLICT;
	error = put(place, &old, save->record_dir, buf_str(&bytes));
	if (!error)
		memcpy(save->version, version, sizeof(version));
	return error;
}

/* What is saved into a directory that was moved away, or that another one has taken the
 * place of, is not where the learner looks for it. */
static int whereabouts(const struct project *p)
{
	return project_look(p) == PROJECT_HERE ? 0 : -FAULT_PROJECT_GONE;
}

int save_file(const struct project *p, struct save *save)
{
	struct project_place place;
	int error = whereabouts(p);

	if (!error)
		error = project_place(p, save->key, &place);
	if (error)
		return error;
	for (int i = 0; i < MAX_TRIES; i++) {
		error = save_once(&place, save);
		if (error != -EAGAIN)
			break;
	}
	close(place.dir_fd);
	if (!error) /* it may have gone meanwhile */
		error = whereabouts(p);
	return error == -EAGAIN ? -EBUSY : error;
}
