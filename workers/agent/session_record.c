/* session_record.c - see session_record.h. */
#include "workers/agent/session_record.h"
#include "common/base/file_io.h"
#include "common/base/private_file.h"
#include "proto/codec/codec.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <yyjson.h>

/* ---- lines ---- */

static bool take_folder(struct str about, char folder[PATH_MAX])
{
	AUTO_DOC *doc = yyjson_read(about.ptr, about.len, 0);
	const char *path = yyjson_get_str(yyjson_doc_get_root(doc));
	size_t len = yyjson_get_len(yyjson_doc_get_root(doc));
	bool fits = path && len > 0 && len < PATH_MAX && strlen(path) == len;

	if (fits)
		memcpy(folder, path, len + 1);
	return fits;
}

static bool take_dropped(struct str about, struct record_state *state)
{
	uint64_t count = 0;

	if (about.len == 0 || about.len > 18)
		return false;
	for (size_t i = 0; i < about.len; i++) {
		if (about.ptr[i] < '0' || about.ptr[i] > '9')
			return false;
		count = count * 10 + (uint64_t)(about.ptr[i] - '0');
	}
	state->history.dropped += count;
	return true;
}

void record_apply(struct record_state *state, enum record_line line, struct str about)
{
	AUTO_BUF copy = {0};

	if (about.len > 0)
		buf_add_str(&copy, about);
	record_apply_taking(state, line, &copy);
}

void record_apply_taking(
	struct record_state *state, enum record_line line, struct buf *about)
{
	if (line == RECORD_KNOWN || line == RECORD_RESULT)
		state->known = true;
	if (line == RECORD_START || line == RECORD_END)
		state->running = line == RECORD_START;
	if (line == RECORD_MESSAGE || line == RECORD_RESULT || line == RECORD_END)
		history_take(&state->history, about);
}

static bool is_object(struct str text)
{
	return text.len >= 2 && text.ptr[0] == '{' && text.ptr[text.len - 1] == '}';
}

bool record_take(struct str line, struct record_state *state, char folder[PATH_MAX])
{
	struct str about = {line.ptr + 1, line.len - 1};
	bool right;

	if (line.len == 0)
		return false;
	switch (line.ptr[0]) {
	case RECORD_FOLDER:
		return take_folder(about, folder);
	case RECORD_DROPPED:
		return take_dropped(about, state);
	case RECORD_KNOWN:
	case RECORD_START:
		right = about.len == 0;
		break;
	case RECORD_MESSAGE:
	case RECORD_RESULT:
	case RECORD_END:
		right = is_object(about);
		break;
	default:
		return false;
	}
	if (right)
		record_apply(state, (enum record_line)line.ptr[0], about);
	return right;
}

void record_render(const char *folder, const struct record_state *state, struct buf *out)
{
	buf_add_char(out, RECORD_FOLDER);
	buf_add_json_string(out, str_of(folder));
	buf_add_char(out, '\n');
	if (state->known)
		buf_printf(out, "%c\n", RECORD_KNOWN);
	if (state->history.dropped > 0)
		buf_printf(out, "%c%llu\n", RECORD_DROPPED,
			(unsigned long long)state->history.dropped);
	for (size_t i = 0; i < state->history.count; i++) {
		buf_add_char(out, RECORD_MESSAGE);
		buf_add_str(out, history_at(&state->history, i));
		buf_add_char(out, '\n');
	}
	if (state->running)
		buf_printf(out, "%c\n", RECORD_START);
}

/* ---- the file ---- */

struct names {
	char name[UUID_SIZE + sizeof(RECORD_ENDING)];
	char aside[UUID_SIZE + sizeof(RECORD_ASIDE_ENDING)];
};

static struct names names_of(const char *id)
{
	struct names n;

	snprintf(n.name, sizeof(n.name), "%s" RECORD_ENDING, id);
	snprintf(n.aside, sizeof(n.aside), "%s" RECORD_ASIDE_ENDING, id);
	return n;
}

int record_replace(struct record *r, int dir_fd, const char *id, struct str lines)
{
	const struct names n = names_of(id);
	int fd = private_file_replace_at(dir_fd, n.name, lines, PRIVATE_FILE_UNSYNCED);

	if (fd < 0)
		return fd;
	record_close(r);
	*r = (struct record){.fd = fd, .bytes = lines.len, .bytes_when_new = lines.len};
	return 0;
}

/* All or nothing: half a line would spoil the next one. */
static int append(struct record *r, struct iovec *pieces, int count, size_t len)
{
	ssize_t n;

	do
		n = writev(r->fd, pieces, count);
	while (n < 0 && errno == EINTR);
	if (n >= 0 && (size_t)n == len) {
		r->bytes += len;
		return 0;
	}
	r->behind = true;
	if (n < 0)
		return -errno;
	/* When even this fails, the record is found damaged. */
	return ftruncate(r->fd, (off_t)r->bytes) < 0 ? -errno : -ENOSPC;
}

int record_add(struct record *r, enum record_line line, struct str about)
{
	char letter = (char)line, newline = '\n';
	struct iovec pieces[] = {
		{&letter, 1}, {(void *)(uintptr_t)about.ptr, about.len}, {&newline, 1}};

	if (r->behind)
		return -ESTALE;
	return append(r, pieces, 3, about.len + 2);
}

void record_remove(struct record *r, int dir_fd, const char *id)
{
	(void)unlinkat(dir_fd, names_of(id).name, 0);
	record_close(r);
}

void record_close(struct record *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

static bool is_aside(const char *name)
{
	const size_t n = strlen(name), ending = sizeof(RECORD_ASIDE_ENDING) - 1;

	return n > ending && strcmp(name + n - ending, RECORD_ASIDE_ENDING) == 0;
}

/* Removes the oldest of those that were set aside when they are too many. */
static void prune_aside(int dir_fd)
{
	AUTO_DIR *dir =
		file_list(openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	char oldest[NAME_MAX + 1] = "";
	struct timespec oldest_at = {0};
	const struct dirent *entry;
	struct stat st;
	int count = 0;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (!is_aside(entry->d_name) ||
			fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (count++ == 0 || st.st_ctim.tv_sec < oldest_at.tv_sec ||
			(st.st_ctim.tv_sec == oldest_at.tv_sec &&
				st.st_ctim.tv_nsec < oldest_at.tv_nsec)) {
			snprintf(oldest, sizeof(oldest), "%s", entry->d_name);
			oldest_at = st.st_ctim;
		}
	}
	if (count > RECORD_ASIDE_MAX)
		(void)unlinkat(dir_fd, oldest, 0);
}

void record_set_aside(struct record *r, int dir_fd, const char *id)
{
	const struct names n = names_of(id);

	record_close(r);
	(void)renameat(dir_fd, n.name, dir_fd, n.aside);
	prune_aside(dir_fd);
}

int record_take_back(int dir_fd, const char *id)
{
	const struct names n = names_of(id);

	return renameat(dir_fd, n.aside, dir_fd, n.name) < 0 ? -errno : 0;
}

int record_folder_aside(int dir_fd, const char *id, char folder[PATH_MAX])
{
	/* The first line; each byte of a path may be written as six. */
	char line[6 * PATH_MAX];
	const struct names n = names_of(id);
	AUTO_FD fd = openat(dir_fd, n.aside, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t len = fd < 0 ? -1 : pread(fd, line, sizeof(line), 0);
	const char *end;

	if (len < 0)
		return -errno;
	end = memchr(line, '\n', (size_t)len);
	if (!end || line[0] != RECORD_FOLDER ||
		!take_folder((struct str){line + 1, (size_t)(end - line) - 1}, folder))
		return -EBADMSG;
	return 0;
}

/* Takes whole lines; how many bytes they are, or -EBADMSG. */
static ssize_t take_lines(
	struct str text, struct record_state *state, char folder[PATH_MAX])
{
	struct str rest = text, line;

	folder[0] = '\0';
	while (memchr(rest.ptr, '\n', rest.len) && str_take_line(&rest, &line))
		if (!record_take(line, state, folder))
			return -EBADMSG;
	return folder[0] ? (ssize_t)(text.len - rest.len) : -EBADMSG;
}

int record_open(struct record *r, int dir_fd, const char *id, struct record_state *state,
	char folder[PATH_MAX])
{
	const struct names n = names_of(id);
	int fd = openat(dir_fd, n.name, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	AUTO_BUF text = {.data = NULL};
	ssize_t whole = -EBADMSG;
	int error = fd < 0 ? -errno : file_read_all(fd, RECORD_MAX_BYTES, &text);

	*r = (struct record){.fd = -1};
	if (!error && text.len > 0)
		whole = take_lines(buf_str(&text), state, folder);
	if (!error && whole < 0)
		error = (int)whole;
	if (!error && (size_t)whole < text.len && ftruncate(fd, (off_t)whole) < 0)
		error = -errno;
	if (error) {
		if (fd >= 0)
			close(fd);
		return error;
	}
	*r = (struct record){.fd = fd, .bytes = (uint64_t)whole};
	return 0;
}
