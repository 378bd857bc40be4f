/* buffer_store.c - see buffer_store.h. */
#include "workers/fswatch/buffers/buffer_store.h"
#include "common/base/buf.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "workers/fswatch/disk/hash.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAGIC "PAIGEBF2"
#define OLD_MAGIC "PAIGEBF1" /* without a base */
#define ENDING ".buffer"

#define BASE_BYTES (HASH_VERSION_SIZE - 1)
#define BASE_UNKNOWN '?' /* in its first byte; NUL: there was no file */

/* Base, path and content follow a header. Its sum covers all four, itself being zero. */
static_assert(sizeof(struct buffer_store_header) == 104, "the layout on disk");
static_assert(sizeof(struct buffer_store_header) + BASE_BYTES + BUFFER_STORE_MAX_PATH +
			      BUFFER_STORE_MAX_CONTENT <
		      BUFFER_STORE_SLOT_BYTES,
	"a record fits into its slot");

/* ---- descriptors ---- */

static void close_file(struct buffer_store *buffer_store, struct buffer_store_file *file)
{
	for (size_t i = 0; i < BUFFER_STORE_OPEN_FILES; i++)
		if (buffer_store->open[i] == file)
			buffer_store->open[i] = NULL;
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/* What lies there is not thrown away: somebody may still want to look. */
static bool set_aside(
	const struct buffer_store *buffer_store, const char *name, const char *what)
{
	char aside[300];

	snprintf(aside, sizeof(aside), "%s.broken", name);
	if (renameat(buffer_store->dir_fd, name, buffer_store->dir_fd, aside) < 0)
		return false;
	log_warn(what, "file", "%s", aside, NULL);
	return true;
}

static int open_file(struct buffer_store *buffer_store, struct buffer_store_file *file)
{
	if (file->fd >= 0)
		return 0;

	int fd = file_open_regular(buffer_store->dir_fd, file->name, O_RDWR | O_CREAT);

	if (fd == -ENOTSUP && set_aside(buffer_store, file->name,
				      "no file lies where a buffer is kept"))
		fd = file_open_regular(
			buffer_store->dir_fd, file->name, O_RDWR | O_CREAT);
	if (fd < 0)
		return fd;

	struct buffer_store_file *victim = buffer_store->open[buffer_store->open_at];

	if (victim)
		close_file(buffer_store, victim);
	file->fd = fd;
	buffer_store->open[buffer_store->open_at] = file;
	buffer_store->open_at = (buffer_store->open_at + 1) % BUFFER_STORE_OPEN_FILES;
	return 0;
}

/* Its name is brought to the disk, else what is kept in it could be gone with it. */
static int make_dir(const char *data_dir, const char *path)
{
	if (mkdir(path, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;

	AUTO_FD fd = open(data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : file_sync_dir(fd);
}

int buffer_store_open(struct buffer_store *buffer_store, const char *data_dir)
{
	char path[4096];
	int len = snprintf(path, sizeof(path), "%s/buffers", data_dir);

	*buffer_store = (struct buffer_store){.dir_fd = -1};
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;

	int error = make_dir(data_dir, path);

	if (error)
		return error;
	buffer_store->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return buffer_store->dir_fd < 0 ? -errno : 0;
}

void buffer_store_close(struct buffer_store *buffer_store)
{
	for (size_t i = 0; i < BUFFER_STORE_OPEN_FILES; i++)
		if (buffer_store->open[i])
			close_file(buffer_store, buffer_store->open[i]);
	if (buffer_store->dir_fd >= 0)
		close(buffer_store->dir_fd);
	buffer_store->dir_fd = -1;
}

void buffer_store_file_init(struct buffer_store_file *file, struct str path)
{
	char hash[HASH_VERSION_SIZE];

	hash_version(path, hash);
	*file = (struct buffer_store_file){
		.last = -1, .synced = -1, .syncing = -1, .fd = -1};
	snprintf(file->name, sizeof(file->name), "%s" ENDING, hash);
}

void buffer_store_file_fini(
	struct buffer_store *buffer_store, struct buffer_store_file *file)
{
	close_file(buffer_store, file);
}

/* ---- writing ---- */

static int free_slot(const struct buffer_store_file *file)
{
	int slot = 0;

	while (slot == file->last || slot == file->synced || slot == file->syncing)
		slot++;
	return slot;
}

static int write_all(int fd, struct iovec *parts, int count, off_t at)
{
	while (count > 0) {
		ssize_t n = pwritev(fd, parts, count, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		while (count > 0 && (size_t)n >= parts->iov_len) {
			n -= (ssize_t)parts->iov_len;
			parts++;
			count--;
		}
		if (count > 0) {
			parts->iov_base = (char *)parts->iov_base + n;
			parts->iov_len -= (size_t)n;
		}
	}
	return 0;
}

static struct iovec part(const void *data, size_t len)
{
	/* pwritev(2) only reads. */
	return (struct iovec){.iov_base = (void *)(uintptr_t)data, .iov_len = len};
}

int buffer_store_begin(struct buffer_store *buffer_store, struct buffer_store_file *file,
	const struct buffer_store_record *r, struct buffer_store_write *w)
{
	int error;

	if (r->path.len > BUFFER_STORE_MAX_PATH ||
		r->content.len > BUFFER_STORE_MAX_CONTENT)
		return -EFBIG;
	error = open_file(buffer_store, file);
	if (error)
		return error;
	*w = (struct buffer_store_write){
		.header = {.number = file->number + 1,
			.epoch = r->epoch,
			.path_bytes = (uint32_t)r->path.len,
			.content_bytes = (uint32_t)r->content.len,
			.line = r->line,
			.column = r->column,
			.updated_us = r->updated.us,
			.chars = r->chars,
			.logged_chars = r->log.logged_chars,
			.edits = r->log.edits,
			.dirty = r->dirty},
		.base = {BASE_UNKNOWN},
		.path = r->path,
		.content = r->content,
		.fd = file->fd,
		.slot = free_slot(file)};
	memcpy(w->header.magic, MAGIC, sizeof(w->header.magic));
	if (r->based)
		memcpy(w->base, r->base, BASE_BYTES);
	return 0;
}

int buffer_store_put(struct buffer_store_write *w)
{
	const struct str pieces[] = {{(const char *)&w->header, sizeof(w->header)},
		{w->base, BASE_BYTES}, w->path, w->content};
	struct iovec parts[] = {part(&w->header, sizeof(w->header)),
		part(w->base, BASE_BYTES), part(w->path.ptr, w->path.len),
		part(w->content.ptr, w->content.len)};

	w->header.sum = hash_sum(pieces, 4);
	return write_all(w->fd, parts, 4, (off_t)w->slot * BUFFER_STORE_SLOT_BYTES);
}

void buffer_store_put_done(
	struct buffer_store_file *file, const struct buffer_store_write *w)
{
	file->number = w->header.number;
	file->last = w->slot;
	file->unsynced = true;
}

int buffer_store_remove(struct buffer_store *buffer_store, struct buffer_store_file *file)
{
	close_file(buffer_store, file);
	file->number = 0;
	file->last = file->synced = file->syncing = -1;
	file->unsynced = false;
	if (unlinkat(buffer_store->dir_fd, file->name, 0) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int buffer_store_sync_start(
	struct buffer_store *buffer_store, struct buffer_store_file *file)
{
	int error = open_file(buffer_store, file);

	if (error)
		return error;

	int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	file->syncing = file->last;
	file->unsynced = false;
	return fd;
}

void buffer_store_synced(struct buffer_store_file *file, bool success)
{
	if (success)
		file->synced = file->syncing;
	else
		file->unsynced = true;
	file->syncing = -1;
}

/* ---- reading ---- */

static bool has_base(const struct buffer_store_header *h)
{
	return memcmp(h->magic, MAGIC, sizeof(h->magic)) == 0;
}

/* Reads the header of a slot; false when there is none that could be one. */
static bool read_header(int fd, int slot, struct buffer_store_header *h)
{
	return pread(fd, h, sizeof(*h), (off_t)slot * BUFFER_STORE_SLOT_BYTES) ==
		       sizeof(*h) &&
	       (has_base(h) || memcmp(h->magic, OLD_MAGIC, sizeof(h->magic)) == 0) &&
	       h->path_bytes <= BUFFER_STORE_MAX_PATH &&
	       h->content_bytes <= BUFFER_STORE_MAX_CONTENT;
}

/* What follows a header. */
struct body {
	struct str base, path, content;
};

static struct body body_of(const struct buffer_store_header *h, const struct buf *data)
{
	size_t base = has_base(h) ? BASE_BYTES : 0;
	const char *path = data->data + base;

	return (struct body){{data->data, base}, {path, h->path_bytes},
		{path + h->path_bytes, h->content_bytes}};
}

/* Reads what follows a header into `data`; false when it is torn. */
static bool read_body(int fd, int slot, struct buffer_store_header *h, struct buf *data)
{
	size_t len =
		(has_base(h) ? BASE_BYTES : 0) + (size_t)h->path_bytes + h->content_bytes;
	off_t at = (off_t)slot * BUFFER_STORE_SLOT_BYTES + (off_t)sizeof(*h);

	buf_clear(data);
	buf_reserve(data, len + 1);
	while (data->len < len) {
		ssize_t n = pread(fd, data->data + data->len, len - data->len,
			at + (off_t)data->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data->len += (size_t)n;
	}

	struct body body = body_of(h, data);
	const struct str pieces[] = {
		{(const char *)h, sizeof(*h)}, body.base, body.path, body.content};

	return hash_sum_holds(&h->sum, pieces, 4);
}

/* Finds the latest whole record. */
static bool load_file(
	int fd, struct buf *data, struct buffer_store_header *best, int *slot)
{
	struct buffer_store_header headers[BUFFER_STORE_SLOTS];
	bool usable[BUFFER_STORE_SLOTS];

	for (int i = 0; i < BUFFER_STORE_SLOTS; i++)
		usable[i] = read_header(fd, i, &headers[i]);
	for (;;) {
		int latest = -1;

		for (int i = 0; i < BUFFER_STORE_SLOTS; i++)
			if (usable[i] && (latest < 0 || headers[i].number >
								headers[latest].number))
				latest = i;
		if (latest < 0)
			return false;
		if (read_body(fd, latest, &headers[latest], data)) {
			*best = headers[latest];
			*slot = latest;
			return true;
		}
		usable[latest] = false;
	}
}

static bool load_one(struct buffer_store *buffer_store, const char *name,
	struct buf *data, char base[HASH_VERSION_SIZE],
	struct buffer_store_record *record, struct buffer_store_file *file)
{
	struct buffer_store_header h;
	int slot;
	AUTO_FD fd = file_open_regular(buffer_store->dir_fd, name, O_RDONLY);

	if (fd < 0 || !load_file(fd, data, &h, &slot))
		return false;

	struct body body = body_of(&h, data);

	memset(base, 0, HASH_VERSION_SIZE);
	if (body.base.len > 0)
		memcpy(base, body.base.ptr, body.base.len);
	*record = (struct buffer_store_record){
		.path = body.path,
		.content = body.content,
		.line = h.line,
		.column = h.column,
		.dirty = h.dirty != 0,
		.updated = {h.updated_us},
		.epoch = h.epoch,
		.chars = h.chars,
		.log = {h.logged_chars, h.edits},
		.based = body.base.len > 0 && base[0] != BASE_UNKNOWN,
		.base = base,
	};
	buffer_store_file_init(file, record->path);
	file->number = h.number;
	file->last = slot;
	file->unsynced = true;
	return strcmp(file->name, name) == 0;
}

int buffer_store_load(struct buffer_store *buffer_store,
	void (*loaded)(void *arg, const struct buffer_store_record *record,
		const struct buffer_store_file *file),
	void *arg)
{
	AUTO_DIR *dir = file_list(
		openat(buffer_store->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	AUTO_BUF data = {.data = NULL};

	if (!dir)
		return -errno;
	for (struct dirent *entry; (entry = readdir(dir));) {
		const char *ending = strstr(entry->d_name, ENDING);
		struct buffer_store_record record;
		struct buffer_store_file file;
		char base[HASH_VERSION_SIZE];

		if (!ending || ending[sizeof(ENDING) - 1] != '\0')
			continue;
		if (load_one(buffer_store, entry->d_name, &data, base, &record, &file)) {
			loaded(arg, &record, &file);
			continue;
		}
		set_aside(buffer_store, entry->d_name,
			"a stored buffer holds no whole record, set aside");
	}
	return 0;
}
