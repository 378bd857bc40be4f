/* journal.c - see journal.h. */
#include "workers/fswatch/buffers/journal.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include "common/base/private_file.h"
#include "workers/fswatch/disk/hash.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "journal"
#define NEW_NAME "journal.new"
#define BROKEN_NAME "journal.broken"
#define MAGIC 0x4a474550u

struct head {
	uint32_t magic;
	uint32_t bytes; /* of the records */
	struct hash_sum sum;
};

static_assert(sizeof(struct head) == 24, "the layout on disk");

#define RECORD_HEAD_BYTES 5 /* type, and length of the data */

/* ---- records ---- */

void journal_restart(struct journal *j)
{
	buf_clear(&j->frame);
}

void journal_add(
	struct journal *j, enum journal_type type, struct str head, struct str rest)
{
	uint32_t len = (uint32_t)(head.len + rest.len);

	if (j->frame.len == 0) {
		buf_reserve(&j->frame, sizeof(struct head));
		j->frame.len = sizeof(struct head);
	}
	buf_add_char(&j->frame, (char)type);
	buf_add(&j->frame, &len, sizeof(len));
	buf_add_str(&j->frame, head);
	buf_add_str(&j->frame, rest);
}

/* Calls for each record of a frame; false when they do not fill it exactly. */
static bool read_records(struct str records, journal_record_fn *record, void *arg)
{
	while (records.len >= RECORD_HEAD_BYTES) {
		uint32_t len;

		memcpy(&len, records.ptr + 1, sizeof(len));
		if (len > records.len - RECORD_HEAD_BYTES)
			return false;
		record(arg, (enum journal_type)(unsigned char)records.ptr[0],
			(struct str){records.ptr + RECORD_HEAD_BYTES, len});
		records.ptr += RECORD_HEAD_BYTES + len;
		records.len -= RECORD_HEAD_BYTES + len;
	}
	return records.len == 0;
}

/* ---- writing ---- */

static void finish_frame(struct journal *j)
{
	struct str records = {
		j->frame.data + sizeof(struct head), j->frame.len - sizeof(struct head)};
	struct head head = {MAGIC, (uint32_t)records.len, hash_sum(&records, 1)};

	memcpy(j->frame.data, &head, sizeof(head));
}

int journal_commit(struct journal *j)
{
	if (j->frame.len == 0)
		return 0;
	finish_frame(j);

	int error = file_write_all(j->fd, buf_str(&j->frame));

	if (error) { /* half a frame would hide those behind it */
		if (ftruncate(j->fd, (off_t)j->bytes) < 0)
			log_error("cannot cut off half a frame of the journal", "error",
				"%s", strerror(errno), NULL);
		return error;
	}
	j->bytes += j->frame.len;
	j->unsynced = true;
	buf_clear(&j->frame);
	return 0;
}

int journal_replace(struct journal *j)
{
	int fd;

	if (j->frame.len > 0)
		finish_frame(j);
	fd = private_file_replace_at(
		j->dir_fd, NAME, buf_str(&j->frame), PRIVATE_FILE_SYNCED);
	if (fd >= 0) {
		close(j->fd);
		j->fd = fd;
		j->bytes = j->frame.len;
		j->unsynced = true;
	}
	buf_clear(&j->frame);
	return fd < 0 ? fd : 0;
}

/* ---- reading ---- */

/* Reads whole frames from the front and returns how many bytes they are. */
static size_t read_frames(struct str bytes, journal_record_fn *record, void *arg)
{
	size_t good = 0;

	while (bytes.len - good >= sizeof(struct head)) {
		struct head head;
		struct str records;

		memcpy(&head, bytes.ptr + good, sizeof(head));
		records = (struct str){bytes.ptr + good + sizeof(head), head.bytes};
		if (head.magic != MAGIC || head.bytes > bytes.len - good - sizeof(head))
			break;

		struct hash_sum sum = hash_sum(&records, 1);

		if (memcmp(&sum, &head.sum, sizeof(sum)) != 0 ||
			!read_records(records, record, arg))
			break;
		good += sizeof(head) + head.bytes;
	}
	return good;
}

int journal_open(struct journal *j, int dir_fd, journal_record_fn *record, void *arg)
{
	AUTO_BUF bytes = {.data = NULL};

	*j = (struct journal){.dir_fd = dir_fd};
	j->fd = file_open_regular(dir_fd, NAME, O_RDWR | O_CREAT | O_APPEND);
	if (j->fd == -ENOTSUP && renameat(dir_fd, NAME, dir_fd, BROKEN_NAME) == 0) {
		log_warn("no file lies where the journal is kept, set aside", "file",
			"%s", BROKEN_NAME, NULL);
		j->fd = file_open_regular(dir_fd, NAME, O_RDWR | O_CREAT | O_APPEND);
	}
	if (j->fd < 0)
		return j->fd;
	unlinkat(dir_fd, NEW_NAME, 0);

	int error = file_read_all(j->fd, JOURNAL_MAX_BYTES, &bytes);

	if (!error) {
		j->bytes = read_frames(buf_str(&bytes), record, arg);
		if (j->bytes < bytes.len) {
			log_warn("cut off what was not written to its end", "file", "%s",
				NAME, "bytes", "%zu", bytes.len - (size_t)j->bytes, NULL);
			error = ftruncate(j->fd, (off_t)j->bytes) < 0 ? -errno : 0;
		}
	}
	if (error)
		journal_close(j);
	return error;
}

void journal_close(struct journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
	buf_free(&j->frame);
}
