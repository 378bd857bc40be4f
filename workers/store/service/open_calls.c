/* open_calls.c - calls to Claude that began and were not ended yet (open_calls.h). */
#include "workers/store/service/open_calls.h"
#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/file_io.h"
#include "common/base/log.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A line of the file is the key, a blank, and the row. */
#define KEY_CHARS (UUID_SIZE - 1)
#define FILE_MAX_BYTES (4u * 1024 * 1024)

static size_t find(const struct open_calls *calls, struct str key)
{
	size_t i = 0;

	while (i < calls->count && !str_is(key, calls->items[i].key))
		i++;
	return i;
}

static void add(struct open_calls *calls, struct str key, struct str row)
{
	struct open_call *c;

	calls->items = xrealloc(calls->items, (calls->count + 1) * sizeof(*calls->items));
	c = &calls->items[calls->count++];
	*c = (struct open_call){.row = xmalloc(row.len + 1), .row_len = row.len};
	memcpy(c->key, key.ptr, KEY_CHARS);
	memcpy(c->row, row.ptr, row.len);
	c->row[row.len] = '\0';
}

static int append_line(const struct open_calls *calls, struct str key, struct str row)
{
	AUTO_BUF line = {0};
	AUTO_FD fd =
		file_open_regular(AT_FDCWD, calls->path, O_WRONLY | O_APPEND | O_CREAT);

	if (fd < 0)
		return fd;
	buf_printf(&line, "%.*s %.*s\n", STR_ARG(key), STR_ARG(row));
	if (write(fd, line.data, line.len) != (ssize_t)line.len)
		return errno ? -errno : -EIO;
	return 0;
}

static void empty_file(const struct open_calls *calls)
{
	AUTO_FD fd =
		calls->path ? file_open_regular(AT_FDCWD, calls->path, O_WRONLY | O_TRUNC)
			    : -ENOENT;

	if (fd < 0 && fd != -ENOENT)
		log_warn("the list of open calls was not emptied", "path", "%s",
			calls->path, "error", "%s", file_error_text(fd), NULL);
}

static void read_lines(struct open_calls *calls, struct str text)
{
	while (text.len > 0 && calls->count < OPEN_CALLS_MAX) {
		const char *end = memchr(text.ptr, '\n', text.len);
		size_t len = end ? (size_t)(end - text.ptr) : text.len;
		struct str key = {text.ptr, len < KEY_CHARS ? len : KEY_CHARS};

		/* The last line of a killed process may be cut. */
		if (end && len > KEY_CHARS + 1 && uuid_valid(key) &&
			find(calls, key) == calls->count)
			add(calls, key,
				(struct str){
					text.ptr + KEY_CHARS + 1, len - KEY_CHARS - 1});
		len += end ? 1 : 0;
		text = (struct str){text.ptr + len, text.len - len};
	}
}

int open_calls_load(struct open_calls *calls, const char *directory)
{
	AUTO_BUF file = {0};
	int result;

	*calls = (struct open_calls){0};
	calls->path = xasprintf("%s/%s", directory, OPEN_CALLS_FILE);
	result = file_read_own(AT_FDCWD, calls->path, FILE_MAX_BYTES, &file);
	read_lines(calls, buf_str(&file));
	return result == -EFBIG || result == -ENOENT ? 0 : result;
}

int open_calls_begin(struct open_calls *calls, struct str key, struct str row)
{
	if (find(calls, key) < calls->count)
		return 0;
	if (calls->count == OPEN_CALLS_MAX)
		return -ENOSPC;
	add(calls, key, row);
	return calls->path ? append_line(calls, key, row) : 0;
}

void open_calls_end(struct open_calls *calls, struct str key)
{
	size_t i = find(calls, key);

	if (i == calls->count)
		return;
	free(calls->items[i].row);
	calls->items[i] = calls->items[--calls->count];
	if (calls->count == 0)
		empty_file(calls);
}

void open_calls_clear(struct open_calls *calls)
{
	for (size_t i = 0; i < calls->count; i++)
		free(calls->items[i].row);
	calls->count = 0;
	empty_file(calls);
}

void open_calls_fini(struct open_calls *calls)
{
	for (size_t i = 0; i < calls->count; i++)
		free(calls->items[i].row);
	free(calls->items);
	free(calls->path);
	*calls = (struct open_calls){0};
}
