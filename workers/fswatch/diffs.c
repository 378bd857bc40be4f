/* diffs.c - see diffs.h. */
#include "workers/fswatch/diffs.h"
#include "common/base/log.h"
#include "proto/tables/errors.h"
#include "workers/fswatch/buffers/brief.h"
#include "workers/fswatch/buffers/diff.h"
#include <errno.h>
#include <stdlib.h>

/* Longest time for comparing all buffers with their files; what is over is left out. */
#define ALL_DIFFS_MS 2000

/* The unsaved edits of one file, copied. */
struct edit {
	struct str path; /* NUL-terminated */
	struct str content;
};

struct diffs_job {
	struct job job;
	struct fswatch *fs;
	struct bus_request *request; /* its arena is the job's while that runs */
	struct diffs_query query;
	struct edit *edits;
	size_t count, bytes;
	struct diffs result;
};

/* ---- on the thread ---- */

/*
 * The text on disk: empty when there is no file (P3.6, EC-13). 0, or why it cannot be
 * compared: -ENOTSUP for a binary file.
 */
static int disk_text(const struct project *p, const char *key, struct file_content *file,
	struct str *text)
{
	int error = read_file(p, key, file);

	*text = STR_LIT("");
	if (error == -ENOENT)
		return 0;
	if (!error && file->binary)
		return -ENOTSUP;
	if (!error)
		*text = file->text;
	return error;
}

/* Adds one entry, or none when the edit equals the file. */
static int compare(
	struct diffs_job *job, const struct edit *edit, struct file_content *file)
{
	struct arena *arena = &job->request->arena;
	struct diffs *out = &job->result;
	struct buf text = {.data = NULL};
	struct str disk;
	int error = disk_text(&job->fs->project, edit->path.ptr, file, &disk);

	if (!error)
		error = diff_unified(edit->path, disk, edit->content, &text);
	if (!error && text.len > 0)
		out->items[out->count++] = (struct file_diff){
			.path = edit->path, .diff = arena_str(arena, buf_str(&text))};
	buf_free(&text);
	return error;
}

static void run(struct job *arg)
{
	struct diffs_job *job = (struct diffs_job *)arg;
	struct mono end = mono_add_ms(clock_mono(), ALL_DIFFS_MS);
	struct file_content file = {.binary = false};

	for (size_t i = 0; i < job->count; i++) {
		if (clock_mono().us > end.us) {
			log_warn("only the first unsaved edits were compared", "buffers",
				"%zu", i, "of", "%zu", job->count, NULL);
			break;
		}

		int error = compare(job, &job->edits[i], &file);

		if (!error)
			continue;
		job->result.error = error;
		log_info("a buffer cannot be compared with its file", "path", "%.*s",
			STR_ARG(job->edits[i].path), "error", "%s", strerror(-error),
			NULL);
	}
	read_content_fini(&file);
	if (job->query.brief)
		brief_diffs(&job->request->arena, job->result.items, job->result.count,
			job->query.start_line);
}

/* ---- on the loop ---- */

static void done(struct job *arg)
{
	struct diffs_job *job = (struct diffs_job *)arg;

	job->fs->diff_bytes -= job->bytes;
	job->query.done(job->fs, job->request, job->query.message, &job->result);
	free(job);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(
		((const struct edit *)a)->path.ptr, ((const struct edit *)b)->path.ptr);
}

static void add_edit(struct diffs_job *job, const struct buffer *buffer)
{
	struct arena *arena = &job->request->arena;
	struct str content = {buffer->content ? buffer->content : "", buffer->len};

	if (!buffer->dirty)
		return;
	job->edits[job->count++] =
		(struct edit){arena_str(arena, buffer->path), arena_str(arena, content)};
	job->bytes += content.len;
}

static void take_edits(struct diffs_job *job)
{
	const struct buffers *buffers = &job->fs->buffers;
	size_t most = job->query.one ? 1 : buffers->by_path.count;
	struct arena *arena = &job->request->arena;

	job->edits = arena_array(arena, most + 1, sizeof(*job->edits));
	if (job->query.one)
		add_edit(job, job->query.one);
	for (const struct buffer *b = job->query.one ? NULL : buffers->first; b;
		b = b->next)
		add_edit(job, b);
	qsort(job->edits, job->count, sizeof(*job->edits), by_path);
	job->result.items = arena_array(arena, job->count + 1, sizeof(struct file_diff));
}

void diffs_make(
	struct fswatch *fs, struct bus_request *request, const struct diffs_query *query)
{
	size_t bytes = query->one ? query->one->len : fs->buffers.bytes;
	struct diffs_job *job;

	if (fs->diff_bytes > 0 && fs->diff_bytes + bytes > DIFFS_MAX_BYTES) {
		bus_answer_error(request, error_code_infos[ERROR_BUSY].name,
			(struct str){NULL, 0},
			"Other diffs are still being made; try again in a moment");
		return;
	}
	job = calloc(1, sizeof(*job));
	if (!job)
		abort();
	job->job = (struct job){run, done, NULL};
	job->fs = fs;
	job->request = request;
	job->query = *query;
	take_edits(job);
	fs->diff_bytes += job->bytes;
	jobs_add(fs->diff_jobs, &job->job);
}
