/* reading.c - see reading.h. */
#include "workers/fswatch/reading.h"
#include "common/base/alloc.h"
#include <errno.h>
#include <stdlib.h>

/* ---- on the thread, or at once ---- */

static void run(struct job *job)
{
	struct reading *r = CONTAINER_OF(job, struct reading, job);
	bool read;

	if (!r->only_run) {
		r->error =
			disk_look(&r->fs->project, r->key, &r->disk, &r->content, &read);
		if (!r->error && !read)
			r->error = -ENOENT;
	}
	if (r->run)
		r->run(r);
}

/* ---- on the loop ---- */

static void done(struct job *job)
{
	struct reading *r = CONTAINER_OF(job, struct reading, job);
	struct fswatch *fs = r->fs;
	struct reading *before = fs->read;

	if (r->beside)
		LIST_REMOVE(r, link);
	fs->read = r->only_run ? NULL : r;
	if (r->done)
		r->done(r);
	while (r->after.first)
		fswatch_serve_first(fs, &r->after);
	fs->read = before;
	read_content_fini(&r->content);
	free(r);
}

static void prepare(struct fswatch *fs, struct reading *r, const char *key)
{
	r->job = (struct job){.run = run, .done = done};
	r->fs = fs;
	memcpy(r->key, key, strlen(key) + 1);
}

static void begin_beside(struct reading *r)
{
	r->beside = true;
	LIST_INSERT_HEAD(&r->fs->readings, r, link);
	jobs_add(r->fs->read_jobs, &r->job);
}

void reading_begin(struct fswatch *fs, struct reading *r, const char *key)
{
	prepare(fs, r, key);
	if (disk_needs_reading(&fs->project, key, NULL, READING_AT_ONCE_BYTES)) {
		begin_beside(r);
	} else {
		run(&r->job);
		done(&r->job);
	}
}

void reading_run(struct fswatch *fs, struct reading *r, const char *key)
{
	prepare(fs, r, key);
	r->only_run = true;
	begin_beside(r);
}

bool fswatch_reading(struct fswatch *fs, const char *key, struct bus_request *request,
	const void *message, bus_serve_fn *fn)
{
	struct reading *r;

	LIST_FOREACH(r, &fs->readings, link)
	if (strcmp(r->key, key) == 0) {
		fswatch_wait_in(&r->after, request, message, fn);
		return true;
	}
	return false;
}

/* It is what was waited for. */
static bool at_hand(const struct fswatch *fs, const char *key)
{
	return fs->read && strcmp(fs->read->key, key) == 0;
}

bool reading_first(struct fswatch *fs, const char *key, const struct disk *known,
	size_t at_once, struct bus_request *request, const void *message,
	bus_serve_fn *fn)
{
	struct reading *r;

	if (at_hand(fs, key))
		return false;
	if (fswatch_reading(fs, key, request, message, fn))
		return true;
	if (!disk_needs_reading(&fs->project, key, known, at_once))
		return false;
	r = xcalloc(1, sizeof(*r));
	prepare(fs, r, key);
	fswatch_wait_in(&r->after, request, message, fn);
	begin_beside(r);
	return true;
}

int reading_look(struct fswatch *fs, const char *key, struct disk *disk,
	const struct file_content **content, bool *read)
{
	if (!at_hand(fs, key)) {
		*content = &fs->content;
		return disk_look(&fs->project, key, disk, &fs->content, read);
	}
	*content = &fs->read->content;
	*read = !fs->read->error;
	*disk = fs->read->disk;
	return fs->read->error == -ENOENT ? 0 : fs->read->error;
}

int reading_content(
	struct fswatch *fs, const char *key, const struct file_content **content)
{
	*content = at_hand(fs, key) ? &fs->read->content : &fs->content;
	return at_hand(fs, key) ? fs->read->error
				: read_file(&fs->project, key, &fs->content);
}

/* ---- for buffers ---- */

bool reading_buffer_first(struct fswatch *fs, const char *key, size_t at_once,
	struct bus_request *request, const void *message, bus_serve_fn *fn)
{
	const struct buffer *buffer = buffers_find(&fs->buffers, str_of(key));

	if (!fswatch_looks(fs, buffer))
		return fswatch_reading(fs, key, request, message, fn);
	return reading_first(fs, key, &buffer->disk, at_once, request, message, fn);
}

bool reading_text_first(struct fswatch *fs, const char *key, size_t at_once,
	struct bus_request *request, const void *message, bus_serve_fn *fn)
{
	if (buffers_find(&fs->buffers, str_of(key)))
		return reading_buffer_first(fs, key, at_once, request, message, fn);
	return reading_first(fs, key, NULL, at_once, request, message, fn);
}
