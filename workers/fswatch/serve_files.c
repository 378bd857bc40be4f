/*
 * serve_files.c - the methods that save and close files, and what requests about files have
 * in common.
 *
 * Saving waits for the disk, so it is done on the thread of jobs.h; what is asked of the
 * same file meanwhile waits for it.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "proto/codec/messages.h"
#include "proto/tables/errors.h"
#include "proto/tables/mcp_tools.h"
#include "workers/fswatch/buffers/save.h"
#include "workers/fswatch/disk/fault.h"
#include "workers/fswatch/disk/language.h"
#include "workers/fswatch/fswatch.h"
#include <errno.h>
#include <stdlib.h>

#define MAX_SAVES 256

/* ---- refusing ---- */

struct str fswatch_path_context(struct bus_request *request, struct str path)
{
	AUTO_BUF json = {.data = NULL};
	struct path_data data = {.path = path};

	proto_encode(path_data_type(), &data, &json);

	return arena_str(&request->arena, buf_str(&json));
}

/* The same object with one more member. */
static struct str with_member(
	struct bus_request *request, struct str object, const char *member)
{
	return arena_printf(
		&request->arena, "%.*s,%s}", (int)object.len - 1, object.ptr, member);
}

/* A path as it is shown in a message: not endless. */
static struct str shown(struct str path)
{
	return utf8_cut(path, 300);
}

void fswatch_refuse(struct bus_request *request, struct str path, int error)
{
	struct str context = fswatch_path_context(request, path);

	/* So that a window can offer unsaved text of a file that is gone, and of no other. */
	if (error == -ENOENT)
		context = with_member(request, context, "\"missing\":true");
	bus_answer_error(request, error_code_infos[ERROR_FILE_ERROR].name, context,
		"%.*s %s", STR_ARG(shown(path)), fault_text(error));
}

bool fswatch_key(struct fswatch *fs, struct bus_request *request, struct str asked,
	char key[PATH_KEY_SIZE])
{
	enum path_verdict verdict = paths_key(&fs->project.roots, asked, key);

	if (verdict == PATH_OK)
		return true;
	bus_answer_error(request, error_code_infos[ERROR_FILE_ERROR].name,
		fswatch_path_context(request, asked), "The path \"%.*s\" %s",
		STR_ARG(shown(asked)), paths_verdict_text(verdict));
	return false;
}

/* ---- waiting ---- */

/* Lives in the arena of its request. */
struct waiter {
	struct waiter *next;
	struct bus_request *request;
	const void *message;
	bus_serve_fn *fn;
};

void fswatch_wait_in(struct waiters *waiters, struct bus_request *request,
	const void *message, bus_serve_fn *fn)
{
	struct waiter *waiter = arena_alloc(&request->arena, sizeof(*waiter));

	*waiter = (struct waiter){.request = request, .message = message, .fn = fn};
	*(waiters->last ? &waiters->last->next : &waiters->first) = waiter;
	waiters->last = waiter;
}

void fswatch_serve_first(struct fswatch *fs, struct waiters *waiters)
{
	struct waiter waiter = *waiters->first;

	waiters->first = waiter.next;
	if (!waiters->first)
		waiters->last = NULL;
	if (clock_mono().us < waiter.request->deadline.us)
		waiter.fn(fs, waiter.request, waiter.message);
	else
		bus_answer_error(waiter.request, error_code_infos[ERROR_TIMEOUT].name,
			(struct str){NULL, 0}, "The file worker was too far behind");
}

bool fswatch_behind(struct fswatch *fs, struct bus_request *request, const void *message,
	bus_serve_fn *fn)
{
	/* Who comes later waits behind those who wait. */
	if (fs->catching_up ||
		(!action_queue_full(&fs->action_queue) && !fs->behind.first))
		return false;
	fswatch_wait_in(&fs->behind, request, message, fn);
	return true;
}

void fswatch_caught_up(struct fswatch *fs)
{
	fs->catching_up = true;
	while (fs->behind.first && !action_queue_full(&fs->action_queue))
		fswatch_serve_first(fs, &fs->behind);
	fs->catching_up = false;
}

/* ---- closing ---- */

static void serve_close(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	const struct file_close *in = message;
	char key[PATH_KEY_SIZE];

	if (!fswatch_key(fs, request, in->path, key) ||
		fswatch_behind(fs, request, message, serve_close) ||
		fswatch_saving(fs, key, request, message, serve_close) ||
		fswatch_reading(fs, key, request, message, serve_close))
		return;

	struct str path = str_of(key);
	struct buffer *buffer = buffers_find(&fs->buffers, path);

	open_files_remove(&fs->open_files, path);
	diagnostics_forget(&fs->diagnostics, path);
	if (buffer && !buffer->dirty) {
		buffers_remove(&fs->buffers, buffer);
	} else if (buffer) {
		buffer_log_opened(&buffer->log, 0);
		buffers_changed(&fs->buffers, buffer);
	}
	action_queue_add(&fs->action_queue, request->key, ACTION_FILE_CLOSE,
		&(struct path_data){.path = path});

	struct buf json = {.data = NULL};

	buf_add_str(&json, STR_LIT("{}"));
	commit_answer(fs, request, &json);
}

/* ---- saving ---- */

struct save_job {
	struct job job;
	LIST_ENTRY(save_job) link; /* in fswatch.saves */
	struct fswatch *fs;
	struct bus_request *request;
	struct save save;
	char key[PATH_KEY_SIZE];
	uint64_t serial; /* of the latest edit when the save was asked for; 0: none */
	int error;
	/* Made on the thread, of a file that was saved: */
	int64_t chars;	      /* UTF-16 code units of the text */
	struct buf copy;      /* of the text, for the buffer */
	struct waiters after; /* asked for since */
};

static struct save_job *save_under_way(const struct fswatch *fs, const char *key)
{
	struct save_job *job;

	LIST_FOREACH(job, &fs->saves, link)
	if (strcmp(job->key, key) == 0)
		return job;
	return NULL;
}

bool fswatch_save_under_way(const struct fswatch *fs, const char *key)
{
	return save_under_way(fs, key) != NULL;
}

bool fswatch_saving(struct fswatch *fs, const char *key, struct bus_request *request,
	const void *message, bus_serve_fn *fn)
{
	/* The newest save of the file is first in the list. */
	struct save_job *job = save_under_way(fs, key);

	if (!job)
		return false;
	fswatch_wait_in(&job->after, request, message, fn);
	return true;
}

static void run_save(struct job *arg)
{
	struct save_job *job = (struct save_job *)arg;

	/* Whoever asked has been told that it failed. */
	if (clock_mono().us >= job->request->deadline.us)
		job->error = -ETIMEDOUT;
	else
		job->error = save_file(&job->fs->project, &job->save);
	if (job->error)
		return;
	job->chars = (int64_t)utf8_utf16_len(job->save.text);
	buf_add_str(&job->copy, job->save.text);
}

/* The editor and the disk agree now, unless there was an edit meanwhile (P3.5). */
static void clean_buffer(struct save_job *job)
{
	struct fswatch *fs = job->fs;
	struct str path = str_of(job->key);
	struct buffer *buffer = buffers_find(&fs->buffers, path);
	const struct open_file *open = open_files_find(&fs->open_files, path);
	bool is_new = buffer == NULL;

	if (buffer && buffer->dirty) /* also of what was typed meanwhile */
		buffers_base(buffer, job->save.version);
	if (language_is_binary(path) || (buffer ? buffer->serial : 0) != job->serial)
		return;
	buffer = buffers_take(&fs->buffers, path, &job->copy, job->chars);
	if (!buffer)
		return;
	if (is_new)
		buffer_log_opened(&buffer->log, open ? open->chars : 0);
	buffer->dirty = false;
	buffer->updated = clock_wall();
	buffers_base(buffer, job->save.version);
	buffer->disk.known = false;
	buffers_changed(&fs->buffers, buffer);
	fs->turn.bytes += job->save.text.len;
}

static void answer_saved(struct save_job *job)
{
	struct fswatch *fs = job->fs;
	char now[WALL_ISO_SIZE];
	struct str path = str_of(job->key);

	open_files_version(&fs->open_files, path, job->save.version);
	clean_buffer(job);
	action_queue_add(&fs->action_queue, job->request->key, ACTION_FILE_SAVE,
		&(struct file_save_data){
			.path = path,
			.char_count = job->chars,
			.has_char_count = true,
		});
	wall_iso(clock_wall(), now);
	commit_answer_message(fs, job->request,
		&(struct fs_save_ack){
			.path = path,
			.success = true,
			.has_success = true,
			.timestamp = str_of(now),
			.version = str_of(job->save.version),
		});
}

static void answer_conflict(struct save_job *job)
{
	struct bus_request *request = job->request;
	struct str context = fswatch_path_context(request, str_of(job->key));

	if (job->save.version[0])
		context = with_member(request, context,
			arena_printf(
				&request->arena, "\"version\":\"%s\"", job->save.version)
				.ptr);
	bus_answer_error(request, error_code_infos[ERROR_CONFLICT].name, context, "%s %s",
		job->key, fault_text(FAULT_CONFLICT));
}

static void done_save(struct job *arg)
{
	struct save_job *job = (struct save_job *)arg;
	struct fswatch *fs = job->fs;

	LIST_REMOVE(job, link);
	fs->save_count--;
	if (!job->error)
		answer_saved(job);
	else if (job->error == -FAULT_CONFLICT)
		answer_conflict(job);
	else
		fswatch_refuse(job->request, str_of(job->key), job->error);
	while (job->after.first)
		fswatch_serve_first(fs, &job->after);
	buf_free(&job->copy);
	free(job);
}

static void serve_save(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	const struct file_save *in = message;
	char key[PATH_KEY_SIZE];

	if (!fswatch_key(fs, request, in->path, key) ||
		fswatch_behind(fs, request, message, serve_save) ||
		fswatch_reading(fs, key, request, message, serve_save))
		return;
	if (fs->save_count >= MAX_SAVES) {
		bus_answer_error(request, error_code_infos[ERROR_BUSY].name,
			fswatch_path_context(request, str_of(key)),
			"%s was not saved: the disk is behind; try again", key);
		return;
	}

	struct save_job *job = xcalloc(1, sizeof(*job));
	struct buffer *buffer = buffers_find(&fs->buffers, str_of(key));

	memcpy(job->key, key, strlen(key) + 1);
	job->job = (struct job){.run = run_save, .done = done_save};
	job->fs = fs;
	job->request = request;
	job->save = (struct save){.key = job->key,
		.text = in->content,
		.base = in->base_version,
		.record_dir = fs->buffer_store.dir_fd};
	job->serial = buffer ? buffer->serial : 0;
	LIST_INSERT_HEAD(&fs->saves, job, link);
	fs->save_count++;
	jobs_add(fs->jobs, &job->job);
}

static void serve_open_files(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	size_t count = 0;
	struct str *files = arena_array(
		&request->arena, fs->open_files.by_path.count + 1, sizeof(*files));

	(void)message;
	for (const struct open_file *f = fs->open_files.first; f; f = f->next)
		files[count++] = f->path;
	commit_answer_message(fs, request,
		&(struct tool_get_open_files_output){.files = {files, count}});
}

void serve_files_init(struct fswatch *fs)
{
	bus_serve(fs->bus, METHOD_FS_SAVE, serve_save, fs);
	bus_serve(fs->bus, METHOD_FS_CLOSE, serve_close, fs);
	bus_serve(fs->bus, METHOD_FS_OPEN_FILES, serve_open_files, fs);
}
