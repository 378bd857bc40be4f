/* read.c - see read.h. */
#include "workers/fswatch/disk/read.h"
#include "common/base/utf8.h"
#include "workers/fswatch/disk/fault.h"
#include "workers/fswatch/disk/language.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define KEPT_BYTES (1024u * 1024)

static int check_kind(int fd, struct stat *st)
{
	if (fstat(fd, st) < 0)
		return -errno;
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	return S_ISREG(st->st_mode) ? 0 : -FAULT_NOT_REGULAR;
}

int read_fd(int fd, size_t max, struct stat *st, struct buf *out)
{
	size_t start = out->len;
	int error = check_kind(fd, st);

	if (error)
		return error;
	if (st->st_size < 0 || (uint64_t)st->st_size > max)
		return -FAULT_TOO_BIG;
	/* One byte more than expected tells the end and growth in the same read. */
	for (size_t room = (size_t)st->st_size + 1;; room = 65536) {
		ssize_t n = read(fd, buf_reserve(out, room), room);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		out->len += (size_t)n;
		if (out->len - start > max)
			return -FAULT_TOO_BIG;
		if (n == 0 || (out->len - start == (size_t)st->st_size && n > 0))
			return 0;
	}
}

static size_t count_lines(struct str text)
{
	size_t lines = 1;
	const char *at = text.ptr, *end = text.ptr + text.len;

	while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
		lines++;
		at++;
	}
	return lines;
}

/* For what is not read: as long as these stay, so did the content. */
static void version_of_stat(const struct stat *st, char out[HASH_VERSION_SIZE])
{
	const long long facts[] = {(long long)st->st_dev, (long long)st->st_ino,
		st->st_size, st->st_mtim.tv_sec, st->st_mtim.tv_nsec, st->st_ctim.tv_sec,
		st->st_ctim.tv_nsec};

	hash_version((struct str){(const char *)facts, sizeof(facts)}, out);
}

static void judge(struct file_content *c, bool binary)
{
	struct str raw = buf_str(&c->raw);

	hash_version(raw, c->version);
	c->encoding =
		binary ? (struct encoding){ENCODING_BINARY, false} : encoding_detect(raw);
	c->binary = c->encoding.kind == ENCODING_BINARY;
	c->text = STR_LIT("");
	if (c->encoding.kind == ENCODING_UTF8) {
		c->text = raw;
	} else if (!c->binary) {
		encoding_decode(c->encoding, raw, &c->decoded);
		c->text = buf_str(&c->decoded);
	}
	c->line_count = c->binary ? 0 : count_lines(c->text);
	c->chars = (int64_t)utf8_utf16_len(c->text);
}

int read_file(const struct project *p, const char *key, struct file_content *c)
{
	bool binary = language_is_binary(str_of(key));
	struct stat st;
	int fd = project_openat(p, key, O_RDONLY | O_NONBLOCK | O_NOCTTY);

	if (fd == -ENXIO) /* a socket, or a device without its driver */
		return -FAULT_NOT_REGULAR;
	if (fd < 0)
		return fd;
	buf_empty(&c->raw, KEPT_BYTES);
	buf_empty(&c->decoded, KEPT_BYTES);

	int error = read_fd(fd, READ_MAX_BYTES, &st, &c->raw);

	close(fd);
	if (error == -FAULT_TOO_BIG && binary) {
		buf_clear(&c->raw);
		judge(c, true);
		version_of_stat(&st, c->version);
		return 0;
	}
	if (!error)
		judge(c, binary);
	return error;
}

void read_content_fini(struct file_content *c)
{
	buf_free(&c->raw);
	buf_free(&c->decoded);
	*c = (struct file_content){.binary = false};
}
