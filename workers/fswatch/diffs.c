/* diffs.c - see diffs.h. */
#include "workers/fswatch/diffs.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "proto/tables/errors.h"
#include "workers/fswatch/buffers/brief.h"
#include "workers/fswatch/buffers/diff.h"
#include "workers/fswatch/buffers/lines.h"
#include <errno.h>
#include <stdlib.h>

struct diff_job {
	struct job job;
	struct fswatch *fs;
	struct bus_request *request; /* its arena is the job's while that runs */
	struct diff_query query;
	struct str path; /* NUL-terminated */
	struct str edit;
	struct diff_made made;
};

/* ---- on the thread ---- */

/* The text on disk: empty when there is no file (P3.6, EC-13). */
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

int diff_with_disk(const struct project *project, struct str path, struct str edit,
	struct file_content *scratch, struct buf *out)
{
	struct str disk;
	int error = disk_text(project, path.ptr, scratch, &disk);

	if (!error)
		error = diff_unified(path, disk, edit, out);
	if (error)
		log_info("a buffer cannot be compared with its file", "path", "%.*s",
			STR_ARG(path), "error", "%s", strerror(-error), NULL);
	return error;
}

static void run(struct job *arg)
{
	struct diff_job *job = (struct diff_job *)arg;
	struct arena *arena = &job->request->arena;
	struct file_content file = {.binary = false};
	AUTO_BUF text = {.data = NULL};
	size_t left = LINES_MAX_BYTES;

	job->made.error =
		diff_with_disk(&job->fs->project, job->path, job->edit, &file, &text);
	if (!job->made.error && text.len > 0) {
		job->made.diff =
			(struct file_diff){.path = job->path, .diff = buf_str(&text)};
		brief_diff(&job->made.diff, job->query.start_line, arena, &left);
		job->made.diff.diff = arena_str(arena, job->made.diff.diff);
	}
	read_content_fini(&file);
}

/* ---- on the loop ---- */

static void done(struct job *arg)
{
	struct diff_job *job = (struct diff_job *)arg;

	job->fs->diff_bytes -= job->edit.len;
	job->query.done(job->fs, job->request, job->query.message, &job->made);
	free(job);
}

void diff_make(
	struct fswatch *fs, struct bus_request *request, const struct diff_query *query)
{
	const struct buffer *buffer = query->buffer;
	struct str edit = {buffer->content ? buffer->content : "", buffer->len};
	struct diff_job *job;

	if (fs->diff_bytes > 0 && fs->diff_bytes + edit.len > DIFFS_MAX_BYTES) {
		bus_answer_error(request, error_code_infos[ERROR_BUSY].name,
			(struct str){NULL, 0},
			"Other diffs are still being made; try again in a moment");
		return;
	}
	job = xcalloc(1, sizeof(*job));
	job->job = (struct job){.run = run, .done = done};
	job->fs = fs;
	job->request = request;
	job->query = *query;
	job->path = arena_str(&request->arena, buffer->path);
	job->edit = arena_str(&request->arena, edit);
	fs->diff_bytes += job->edit.len;
	jobs_add(fs->diff_jobs, &job->job);
}
