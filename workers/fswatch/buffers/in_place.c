/* in_place.c - see in_place.h. */
#include "workers/fswatch/buffers/in_place.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "workers/fswatch/disk/hash.h"
#include "workers/fswatch/disk/read.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define MAGIC "PAIGEIP1"
#define ENDING ".save"
#define NAME_SIZE (HASH_VERSION_SIZE + sizeof(ENDING))
#define RECORD_MAX_BYTES (64u * 1024 * 1024)

/* Key, old and new content follow. The sum covers all four, itself being zero. */
struct header {
	char magic[8];
	uint64_t key_bytes, old_bytes, new_bytes;
	struct hash_sum sum;
};

static_assert(sizeof(struct header) == 48, "the layout on disk");

/* ---- writing ---- */

static int put(int fd, struct str content)
{
	int error = lseek(fd, 0, SEEK_SET) < 0 ? -errno : file_write_all(fd, content);

	if (!error && (ftruncate(fd, (off_t)content.len) < 0 || fsync(fd) < 0))
		error = -errno;
	return error;
}

/* Has the disk set aside what the content needs: it must not get full half way. */
static int make_room(int fd, size_t len)
{
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)len) == 0 ||
		errno == EOPNOTSUPP || errno == ENOSYS || errno == EINTR)
		return 0;
	return -errno;
}

static int write_record(const struct in_place *w, const char *name)
{
	struct str key = str_of(w->key);
	struct header header = {.key_bytes = key.len,
		.old_bytes = w->old.len,
		.new_bytes = w->content.len};
	const struct str pieces[] = {
		{(const char *)&header, sizeof(header)}, key, w->old, w->content};
	int error = 0;
	AUTO_FD fd = file_open_regular(w->record_dir, name, O_WRONLY | O_CREAT | O_TRUNC);

	if (fd < 0)
		return fd;
	memcpy(header.magic, MAGIC, sizeof(header.magic));
	header.sum = hash_sum(pieces, 4);
	for (size_t i = 0; !error && i < 4; i++)
		error = file_write_all(fd, pieces[i]);
	if (!error && (fsync(fd) < 0 || fsync(w->record_dir) < 0))
		error = -errno;
	return error;
}

/* Brought to the disk, so that no later content is ever taken for one cut short. */
static void drop_record(int record_dir, const char *name)
{
	if (unlinkat(record_dir, name, 0) < 0 || fsync(record_dir) < 0)
		log_warn("the record of a save cannot be removed", "file", "%s", name,
			"error", "%s", strerror(errno), NULL);
}

int in_place_write(const struct in_place *w)
{
	char hash[HASH_VERSION_SIZE], name[NAME_SIZE];

	hash_version(str_of(w->key), hash);
	snprintf(name, sizeof(name), "%s" ENDING, hash);

	int error = write_record(w, name);

	if (!error && w->content.len > w->old.len)
		error = make_room(w->fd, w->content.len);
	if (!error) {
		error = put(w->fd, w->content);
		if (error && put(w->fd, w->old) < 0) {
			log_error("a file is half written: the next start writes the "
				  "rest",
				"path", "%s", w->key, "error", "%s", strerror(-error),
				NULL);
			return error;
		}
	}
	drop_record(w->record_dir, name);
	return error;
}

/* ---- recovering ---- */

struct record {
	struct buf bytes;
	char key[PATH_KEY_SIZE];
	struct str old, content;
};

static bool load(int record_dir, const char *name, struct record *r)
{
	struct header h;
	struct stat st;
	AUTO_FD fd = file_open_regular(record_dir, name, O_RDONLY);
	int error = fd < 0 ? fd : read_fd(fd, RECORD_MAX_BYTES, &st, &r->bytes);

	if (error || r->bytes.len < sizeof(h))
		return false;
	memcpy(&h, r->bytes.data, sizeof(h));

	size_t rest = r->bytes.len - sizeof(h);

	if (memcmp(h.magic, MAGIC, sizeof(h.magic)) != 0 ||
		h.key_bytes >= sizeof(r->key) || h.old_bytes > rest ||
		h.new_bytes > rest || h.key_bytes + h.old_bytes + h.new_bytes != rest)
		return false;

	struct str key = {r->bytes.data + sizeof(h), h.key_bytes};

	r->old = (struct str){key.ptr + key.len, h.old_bytes};
	r->content = (struct str){r->old.ptr + r->old.len, h.new_bytes};
	memcpy(r->key, key.ptr, key.len);
	r->key[key.len] = '\0';

	const struct str pieces[] = {
		{(const char *)&h, sizeof(h)}, key, r->old, r->content};

	return hash_sum_holds(&h.sum, pieces, 4);
}

/* True when every byte is of the old or of the new content, as a write cut short leaves
 * it, or a zero where the old one had none: the new size may be on the disk before the
 * bytes. */
static bool torn(struct str now, struct str old, struct str content)
{
	size_t shorter = old.len < content.len ? old.len : content.len;
	size_t longer = old.len + content.len - shorter;

	if (now.len < shorter || now.len > longer)
		return false;
	for (size_t i = 0; i < now.len; i++)
		if (now.ptr[i] != (i < old.len ? old.ptr[i] : '\0') &&
			!(i < content.len && now.ptr[i] == content.ptr[i]))
			return false;
	return true;
}

/* What became of the file: 0 when the record has done its duty, -ESTALE when the file is
 * another program's by now, else why it cannot be told. */
static int finish(const struct project *p, const struct record *r)
{
	AUTO_BUF now = {.data = NULL};
	struct stat st;
	AUTO_FD fd = project_openat_nofollow(p, r->key, O_RDWR | O_NONBLOCK | O_NOCTTY);
	int error = fd == -ENOENT ? -ESTALE : fd < 0 ? fd : 0;

	if (!error)
		error = read_fd(fd, RECORD_MAX_BYTES, &st, &now);
	if (!error && !str_eq(buf_str(&now), r->old) &&
		!str_eq(buf_str(&now), r->content)) {
		error = torn(buf_str(&now), r->old, r->content) ? put(fd, r->content)
								: -ESTALE;
		if (!error)
			log_warn("a save that was cut short was finished", "path", "%s",
				r->key, NULL);
	}
	return error;
}

static void set_aside(int record_dir, const char *name, const char *key)
{
	char aside[NAME_MAX + 1];

	snprintf(aside, sizeof(aside), "%s.aside", name);
	if (renameat(record_dir, name, record_dir, aside) == 0)
		log_warn("a file was changed after its save was cut short: what was to "
			 "be saved is kept beside the buffers",
			"path", "%s", key, "file", "%s", aside, NULL);
}

static void recover_one(int record_dir, const char *name, const struct project *p)
{
	struct record r = {.bytes = {.data = NULL}};
	/* Nothing is written to a file before its record is whole. */
	int error = load(record_dir, name, &r) ? finish(p, &r) : 0;

	if (!error)
		drop_record(record_dir, name);
	else if (error == -ESTALE)
		set_aside(record_dir, name, r.key);
	else
		log_warn("a save that was cut short cannot be finished now", "path", "%s",
			r.key, "error", "%s", strerror(-error), NULL);
	buf_free(&r.bytes);
}

int in_place_recover(int record_dir, const struct project *p)
{
	AUTO_DIR *dir =
		file_list(openat(record_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));

	if (!dir)
		return -errno;
	for (struct dirent *entry; (entry = readdir(dir));) {
		const char *ending = strrchr(entry->d_name, '.');

		if (ending && strcmp(ending, ENDING) == 0)
			recover_one(record_dir, entry->d_name, p);
	}
	return 0;
}
