/*
 * serve_state.c - fs.state, and the diffs of all unsaved edits, in slices.
 *
 * There may be megabytes in thousands of buffers. The loop copies those of a slice; the
 * thread of the diffs compares and cuts them; after the last slice it writes the answer.
 * For a model that is bounded by what is left out. Else the answer ends with the slice that
 * makes it long, and says where the next one begins.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include "proto/tables/errors.h"
#include "workers/fswatch/buffers/brief.h"
#include "workers/fswatch/buffers/lines.h"
#include "workers/fswatch/diffs.h"
#include "workers/fswatch/reading.h"
#include <stdlib.h>

/* No buffer is added to a slice that has so many, or so much content. */
#define SLICE_BUFFERS 256
#define SLICE_BYTES (256u * 1024)
/* No slice is added to an answer with so much content and diffs, unless it is brief. */
#define ANSWER_BYTES (1024u * 1024)
/* Longest time for comparing all buffers with their files; what is over is left out. */
#define ALL_DIFFS_MS 2000

/* A buffer of the slice. */
struct sliced {
	struct state_buffer state;
	struct brief_facts facts;
	bool looks;	  /* for a conflict: whether the file is no longer `base` */
	struct disk disk; /* of the buffer; brought up to date */
	char base[HASH_VERSION_SIZE];
};

struct state_job {
	struct job job;
	struct fswatch *fs;
	struct bus_request *request; /* its arena is the job's while that runs, which lies
					in it */
	bool buffers, diffs, brief;
	struct str *paths; /* of the buffers that there were, in order, NUL-terminated */
	size_t count, at;
	size_t buffers_left, diffs_left; /* as brief.h counts */
	struct mono diffs_end;
	bool late;    /* and said so */
	size_t bytes; /* in the answer */
	struct fs_state answer;
	struct arena arena; /* of the slice */
	struct arena texts; /* its contents; freed on the thread, as they may be long */
	struct arena taken; /* the contents and diffs in the answer; likewise */
	struct sliced *slice;
	size_t slice_count;
	struct buf body; /* the answer; empty: there is more to do */
};

/* ---- on the thread ---- */

static void add_diff(
	struct state_job *job, const struct sliced *s, struct file_content *file)
{
	struct arena *arena = &job->request->arena;
	AUTO_BUF text = {.data = NULL};
	int error = diff_with_disk(
		&job->fs->project, s->state.path, s->state.content, file, &text);

	if (!error && text.len > 0) {
		struct file_diff diff = {.path = s->state.path, .diff = buf_str(&text)};

		if (job->brief)
			brief_diff(&diff, 1, arena, &job->diffs_left);
		diff.diff = arena_str(&job->taken, diff.diff);
		job->bytes += diff.diff.len;
		job->answer.diffs.items[job->answer.diffs.count++] = diff;
	}
}

/* As fswatch_conflict. */
static bool conflicts(
	const struct state_job *job, struct sliced *s, struct file_content *file)
{
	bool read;

	return s->looks &&
	       disk_look(&job->fs->project, s->state.path.ptr, &s->disk, file, &read) ==
		       0 &&
	       strcmp(s->disk.version, s->base) != 0;
}

static void add_buffer(struct state_job *job, struct sliced *s, struct file_content *file)
{
	struct arena *arena = &job->request->arena;
	struct state_buffer state = s->state;

	state.conflict = true;
	state.has_conflict = conflicts(job, s, file);
	if (job->brief)
		brief_state_buffer(&state, &s->facts, arena, &job->buffers_left);
	state.content = arena_str(&job->taken, state.content);
	job->bytes += state.content.len;
	job->answer.buffers.items[job->answer.buffers.count++] = state;
}

/* False when there was time for the diffs of the first edits only. */
static bool has_time(struct state_job *job)
{
	if (clock_mono().us < job->diffs_end.us)
		return true;
	if (!job->late)
		log_warn("only the first unsaved edits were compared", "diffs", "%zu",
			job->answer.diffs.count, "buffers", "%zu", job->count, NULL);
	job->late = true;
	return false;
}

static void run(struct job *arg)
{
	struct state_job *job = (struct state_job *)arg;
	struct file_content file = {.binary = false};
	bool full;

	for (size_t i = 0; i < job->slice_count; i++) {
		struct sliced *s = &job->slice[i];

		if (job->diffs && s->state.dirty && has_time(job))
			add_diff(job, s, &file);
		if (job->buffers)
			add_buffer(job, s, &file);
	}
	read_content_fini(&file);
	arena_free(&job->texts);
	full = !job->brief && job->bytes >= ANSWER_BYTES;
	if (job->at < job->count && !full)
		return;
	if (job->at < job->count)
		job->answer.next = job->paths[job->at - 1];
	proto_encode(fs_state_type(), &job->answer, &job->body);
	arena_free(&job->taken);
}

/* ---- on the loop ---- */

static void add_to_slice(struct state_job *job, struct buffer *buffer)
{
	struct str content = {buffer->content ? buffer->content : "", buffer->len};
	struct sliced *s = &job->slice[job->slice_count++];

	*s = (struct sliced){
		.state =
			{
				.path = job->paths[job->at],
				.content = arena_str(&job->texts, content),
				.cursor_position = {.line = buffer->line,
					.has_line = true,
					.column = buffer->column,
					.has_column = true},
				.has_cursor_position = true,
				.dirty = buffer->dirty,
				.has_dirty = true,
			},
		.facts = {buffer->updated, buffer->chars},
		.looks = job->buffers && fswatch_may_conflict(job->fs, buffer),
		.disk = buffer->disk,
	};
	memcpy(s->base, buffer->base, sizeof(s->base));
}

/* Whether a long file is to be read before its buffer is shown. */
static bool is_to_be_read(const struct state_job *job, const struct buffer *buffer)
{
	return job->buffers && buffer && fswatch_looks(job->fs, buffer) &&
	       !buffer->dirty && /* the thread looks whether these conflict */
	       disk_needs_reading(&job->fs->project, buffer->path.ptr, &buffer->disk,
		       READING_AT_ONCE_BYTES);
}

static void begin_slice(struct state_job *job);

static void go_on(void *arg, struct bus_request *request, const void *message)
{
	(void)arg;
	(void)request;
	begin_slice(*(struct state_job *const *)message);
}

/* True when the slice begins later, with a file that is read beside the loop. */
static bool waits(struct state_job *job)
{
	struct str path = job->at < job->count ? job->paths[job->at] : STR_LIT("");
	const struct buffer *buffer = buffers_find(&job->fs->buffers, path);
	struct state_job **message;

	if (!is_to_be_read(job, buffer))
		return false;
	message = arena_alloc(&job->request->arena, sizeof(struct state_job *));
	*message = job;
	return reading_first(job->fs, path.ptr, &buffer->disk, READING_AT_ONCE_BYTES,
		job->request, message, go_on);
}

static void begin_slice(struct state_job *job)
{
	struct fswatch *fs = job->fs;
	size_t bytes = 0, first = job->at;

	if (waits(job))
		return;
	job->slice = arena_array(&job->arena, SLICE_BUFFERS, sizeof(*job->slice));
	job->slice_count = 0;
	for (; job->at < job->count && job->at - first < SLICE_BUFFERS &&
		bytes < SLICE_BYTES;
		job->at++) {
		struct buffer *buffer = buffers_find(&fs->buffers, job->paths[job->at]);

		if (job->at > first && is_to_be_read(job, buffer))
			break;
		if (job->buffers)
			buffer = fswatch_current(fs, buffer);
		if (!buffer || !(job->buffers || buffer->dirty))
			continue;
		add_to_slice(job, buffer);
		bytes += buffer->len;
	}
	jobs_add(fs->diff_jobs, &job->job);
}

/* What the thread has found out of files need not be read again. */
static void end_slice(struct state_job *job)
{
	for (size_t i = 0; i < job->slice_count; i++) {
		const struct sliced *s = &job->slice[i];
		struct buffer *buffer = buffers_find(&job->fs->buffers, s->state.path);

		if (buffer && s->looks)
			buffer->disk = s->disk;
	}
	arena_free(&job->arena);
}

static void done(struct job *arg)
{
	struct state_job *job = (struct state_job *)arg;
	struct bus_request *request = job->request;

	end_slice(job);
	if (job->body.len > 0) {
		commit_answer(job->fs, request, &job->body);
	} else if (job->fs->stopping) {
		arena_free(&job->taken);
		bus_answer_error(request, error_code_infos[ERROR_UNAVAILABLE].name,
			(struct str){NULL, 0}, "The file worker is stopping");
	} else if (clock_mono().us >= request->deadline.us) {
		arena_free(&job->taken);
		bus_answer_error(request, error_code_infos[ERROR_TIMEOUT].name,
			(struct str){NULL, 0},
			"The buffers are too large to be sent in time");
	} else {
		begin_slice(job);
	}
}

static int by_path(const void *a, const void *b)
{
	return str_order(*(const struct str *)a, *(const struct str *)b);
}

/* Those behind `after`, all when that is absent. */
static void list_paths(struct state_job *job, struct str after)
{
	const struct buffers *buffers = &job->fs->buffers;
	struct arena *arena = &job->request->arena;
	size_t dirty = 0;

	job->paths = arena_array(arena, buffers->by_path.count + 1, sizeof(struct str));
	for (const struct buffer *b = buffers->first; b; b = b->next) {
		dirty += b->dirty;
		if (!after.ptr || str_order(b->path, after) > 0)
			job->paths[job->count++] = arena_str(arena, b->path);
	}
	qsort(job->paths, job->count, sizeof(struct str), by_path);
	job->answer.buffers.items =
		arena_array(arena, job->count + 1, sizeof(struct state_buffer));
	job->answer.diffs.items =
		arena_array(arena, job->count + 1, sizeof(struct file_diff));
	job->diffs_left = dirty > 1 ? BRIEF_DIFFS_BYTES : LINES_MAX_BYTES;
}

static void tell(struct fswatch *fs, struct bus_request *request, struct state_job job,
	struct str after)
{
	struct state_job *copy = arena_alloc(&request->arena, sizeof(*copy));

	*copy = job;
	copy->job = (struct job){.run = run, .done = done};
	copy->fs = fs;
	copy->request = request;
	copy->buffers_left = BRIEF_BUFFERS_BYTES;
	copy->diffs_end = mono_add_ms(clock_mono(), ALL_DIFFS_MS);
	if (copy->buffers || copy->diffs)
		list_paths(copy, after);
	if (!copy->buffers)
		copy->answer.buffers.items = NULL;
	if (!copy->diffs)
		copy->answer.diffs.items = NULL;
	begin_slice(copy);
}

void fswatch_all_diffs(struct fswatch *fs, struct bus_request *request)
{
	tell(fs, request, (struct state_job){.diffs = true, .brief = true},
		(struct str){NULL, 0});
}

static bool wanted(const struct fs_state_query *in, const char *item)
{
	for (size_t i = 0; i < in->include.count; i++)
		if (str_is(in->include.items[i], item))
			return true;
	return false;
}

static void add_open_files(
	struct fswatch *fs, struct bus_request *request, struct fs_state *answer)
{
	answer->open_files.items = arena_array(
		&request->arena, fs->open_files.by_path.count + 1, sizeof(struct str));
	for (const struct open_file *f = fs->open_files.first; f; f = f->next)
		answer->open_files.items[answer->open_files.count++] =
			arena_str(&request->arena, f->path);
}

static void serve_state(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	const struct fs_state_query *in = message;
	struct state_job job = {.buffers = wanted(in, "buffers"),
		.diffs = wanted(in, "diffs"),
		.brief = in->brief};

	if (wanted(in, "open_files"))
		add_open_files(fs, request, &job.answer);
	if (wanted(in, "diagnostics")) {
		fswatch_diagnostics(fs, &request->arena, &job.answer.diagnostics);
		job.answer.has_diagnostics = true;
	}
	tell(fs, request, job, in->after);
}

void serve_state_init(struct fswatch *fs)
{
	bus_serve(fs->bus, METHOD_FS_STATE, serve_state, fs);
}
