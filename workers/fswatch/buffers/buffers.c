/* buffers.c - see buffers.h. */
#include "workers/fswatch/buffers/buffers.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "workers/fswatch/buffers/lines.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* One buffer that is being written beside the loop. Its path lies behind it. */
struct buffer_write {
	STAILQ_ENTRY(buffer_write) link;
	struct buffer *buffer; /* NULL: it has gone */
	bool lent; /* the content is still that of the buffer; otherwise it is freed here */
	struct buffer_store_write record;
	int error;
	char path[];
};

struct buffer *buffers_find(const struct buffers *b, struct str path)
{
	return pathmap_get(&b->by_path, path);
}

static struct buffer *insert(struct buffers *b, struct str path)
{
	struct buffer *buffer = xcalloc(1, sizeof(*buffer) + path.len + 1);

	memcpy(buffer->text, path.ptr, path.len);
	buffer->path = (struct str){buffer->text, path.len};
	buffer->line = buffer->column = 1;
	buffer->previous = b->last;
	*(b->last ? &b->last->next : &b->first) = buffer;
	b->last = buffer;
	pathmap_put(&b->by_path, buffer->path, buffer);
	buffer_store_file_init(&buffer->file, path);
	return buffer;
}

/* The buffer has no content then; one that is being written goes behind that. */
static void drop_content(struct buffer *buffer)
{
	if (buffer->writing && buffer->writing->lent)
		buffer->writing->lent = false;
	else
		free(buffer->content);
	buffer->content = NULL;
	buffer->cap = 0;
}

/* Takes it out of memory; its copy stays. */
static void release(struct buffers *b, struct buffer *buffer)
{
	if (buffer->unwritten)
		LIST_REMOVE(buffer, unwritten_link);
	buffer_store_file_fini(b->buffer_store, &buffer->file);
	pathmap_remove(&b->by_path, buffer->path);
	*(buffer->previous ? &buffer->previous->next : &b->first) = buffer->next;
	*(buffer->next ? &buffer->next->previous : &b->last) = buffer->previous;
	b->bytes -= buffer->len;
	drop_content(buffer);
	if (buffer->writing)
		buffer->writing->buffer = NULL;
	free(buffer);
}

void buffers_remove(struct buffers *b, struct buffer *buffer)
{
	int error = buffer_store_remove(b->buffer_store, &buffer->file);

	if (error)
		log_warn("cannot remove the copy of a buffer", "path", "%.*s",
			STR_ARG(buffer->path), "error", "%s", strerror(-error), NULL);
	release(b, buffer);
}

bool buffers_fit(const struct buffers *b, const struct buffer *buffer, size_t len)
{
	size_t others = b->bytes - (buffer ? buffer->len : 0);

	return len <= BUFFER_STORE_MAX_CONTENT && others + len <= BUFFERS_MAX_BYTES &&
	       (buffer || b->by_path.count < BUFFERS_MAX);
}

/* Drops clean buffers until the content fits; false when it does not. */
static bool make_place(struct buffers *b, const struct buffer *buffer, size_t len)
{
	if (len > BUFFER_STORE_MAX_CONTENT)
		return false; /* others going would not help */
	for (struct buffer *other = b->first, *next;
		other && !buffers_fit(b, buffer, len); other = next) {
		next = other->next;
		if (other != buffer && !other->dirty)
			buffers_remove(b, other);
	}
	return buffers_fit(b, buffer, len);
}

/* Room for the content; what became much too big is given back. */
static void make_room(struct buffer *buffer, size_t len)
{
	bool lent = buffer->writing && buffer->writing->lent;

	if (!lent && len <= buffer->cap &&
		(buffer->cap <= 65536 || len >= buffer->cap / 4))
		return;
	drop_content(buffer);
	buffer->cap = len + len / 4 + 64;
	buffer->content = xmalloc(buffer->cap);
}

/* The buffer of a path, with place for so much beside all others; NULL when there is none. */
static struct buffer *find_or_insert(struct buffers *b, struct str path, size_t len)
{
	struct buffer *buffer = buffers_find(b, path);

	if (!make_place(b, buffer, len))
		return NULL;
	return buffer ? buffer : insert(b, path);
}

static void set_size(struct buffers *b, struct buffer *buffer, size_t len, int64_t chars)
{
	b->bytes += len - buffer->len;
	buffer->len = len;
	buffer->chars = chars;
	buffer->lines = -1;
}

struct buffer *buffers_set_counted(
	struct buffers *b, struct str path, struct str content, int64_t chars)
{
	struct buffer *buffer = find_or_insert(b, path, content.len);

	if (!buffer)
		return NULL;
	make_room(buffer, content.len);
	if (content.len > 0)
		memcpy(buffer->content, content.ptr, content.len);
	set_size(b, buffer, content.len, chars);
	return buffer;
}

struct buffer *buffers_set(struct buffers *b, struct str path, struct str content)
{
	return buffers_set_counted(b, path, content, (int64_t)utf8_utf16_len(content));
}

struct buffer *buffers_take(
	struct buffers *b, struct str path, struct buf *content, int64_t chars)
{
	struct buffer *buffer = find_or_insert(b, path, content->len);

	if (!buffer)
		return NULL;
	drop_content(buffer);
	buffer->content = content->data;
	buffer->cap = content->cap;
	set_size(b, buffer, content->len, chars);
	*content = (struct buf){.data = NULL};
	return buffer;
}

int64_t buffers_lines(struct buffer *buffer)
{
	if (buffer->lines < 0)
		buffer->lines = lines_count((struct str){
			buffer->content ? buffer->content : "", buffer->len});
	return buffer->lines;
}

void buffers_base(struct buffer *buffer, const char version[HASH_VERSION_SIZE])
{
	buffer->based = true;
	memcpy(buffer->base, version, sizeof(buffer->base));
}

void buffers_changed(struct buffers *b, struct buffer *buffer)
{
	if (buffer->unwritten)
		return;
	buffer->unwritten = true;
	LIST_INSERT_HEAD(&b->unwritten, buffer, unwritten_link);
}

static int begin_write(
	struct buffers *b, struct buffer *buffer, struct buffer_store_write *write)
{
	const struct buffer_store_record record = {
		.path = buffer->path,
		.content = {buffer->content, buffer->len},
		.line = buffer->line,
		.column = buffer->column,
		.dirty = buffer->dirty,
		.updated = buffer->updated,
		.epoch = b->epoch,
		.chars = buffer->chars,
		.log = buffer->log,
		.based = buffer->based,
		.base = buffer->base,
	};

	return buffer_store_begin(b->buffer_store, &buffer->file, &record, write);
}

static int write_at_once(struct buffers *b, struct buffer *buffer)
{
	struct buffer_store_write write;
	int error = begin_write(b, buffer, &write);

	if (!error)
		error = buffer_store_put(&write);
	if (!error)
		buffer_store_put_done(&buffer->file, &write);
	return error;
}

/* The buffer may go, and its descriptor may be closed, while this is under way. */
static int lend(struct buffers *b, struct buffer *buffer, struct buffer_writes *beside)
{
	struct buffer_write *w = xmalloc(sizeof(*w) + buffer->path.len);
	int error = begin_write(b, buffer, &w->record);

	if (!error) {
		w->record.fd = fcntl(w->record.fd, F_DUPFD_CLOEXEC, 0);
		error = w->record.fd < 0 ? -errno : 0;
	}
	if (error) {
		free(w);
		return error;
	}
	memcpy(w->path, buffer->path.ptr, buffer->path.len);
	w->record.path.ptr = w->path;
	w->buffer = buffer;
	w->lent = true;
	w->error = 0;
	buffer->writing = w;
	STAILQ_INSERT_TAIL(beside, w, link);
	return 0;
}

int buffers_flush(struct buffers *b, struct buffer_writes *beside)
{
	size_t left = BUFFERS_AT_ONCE_BYTES;
	struct buffer *buffer, *next;
	int first_error = 0;

	for (buffer = LIST_FIRST(&b->unwritten); buffer; buffer = next) {
		bool now = buffer->len <= left;
		int error = now ? write_at_once(b, buffer) : lend(b, buffer, beside);

		next = LIST_NEXT(buffer, unwritten_link);
		left -= now ? buffer->len : 0;
		if (error) {
			first_error = first_error ? first_error : error;
			continue;
		}
		LIST_REMOVE(buffer, unwritten_link);
		buffer->unwritten = false;
	}
	return first_error;
}

void buffers_write(struct buffer_writes *writes)
{
	struct buffer_write *w;

	STAILQ_FOREACH(w, writes, link)
	w->error = buffer_store_put(&w->record);
}

int buffers_written(struct buffers *b, struct buffer_writes *writes)
{
	struct buffer_write *w;
	int first_error = 0;

	while ((w = STAILQ_FIRST(writes))) {
		STAILQ_REMOVE_HEAD(writes, link);
		close(w->record.fd);
		first_error = first_error ? first_error : w->error;
		if (w->buffer)
			w->buffer->writing = NULL;
		if (w->buffer && w->error)
			buffers_changed(b, w->buffer);
		else if (w->buffer)
			buffer_store_put_done(&w->buffer->file, &w->record);
		if (!w->lent)
			free((void *)(uintptr_t)w->record.content.ptr);
		free(w);
	}
	return first_error;
}

static void on_loaded(void *arg, const struct buffer_store_record *r,
	const struct buffer_store_file *file)
{
	struct buffers *b = arg;
	struct buffer *buffer = NULL;

	if (r->dirty || r->epoch == b->epoch)
		buffer = buffers_set(b, r->path, r->content);
	if (!buffer) {
		struct buffer_store_file unwanted = *file;

		/* A dirty one beyond the limits stays where it is. */
		if (!r->dirty && buffer_store_remove(b->buffer_store, &unwanted))
			log_warn("cannot remove the copy of a buffer", "path", "%.*s",
				STR_ARG(r->path), NULL);
		return;
	}
	buffer->line = r->line;
	buffer->column = r->column;
	buffer->dirty = r->dirty;
	buffer->updated = r->updated;
	buffer->log = r->log;
	if (r->based)
		buffers_base(buffer, r->base);
	buffer->file = *file;
}

int buffers_init(struct buffers *b, struct buffer_store *buffer_store, uint64_t epoch)
{
	*b = (struct buffers){.buffer_store = buffer_store, .epoch = epoch};
	return buffer_store_load(buffer_store, on_loaded, b);
}

void buffers_fini(struct buffers *b)
{
	while (b->first)
		release(b, b->first);
	pathmap_fini(&b->by_path);
}
