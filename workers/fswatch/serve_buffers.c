/* serve_buffers.c - the methods about what is in the editor and not, or not yet, saved.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "proto/codec/messages.h"
#include "proto/tables/errors.h"
#include "workers/fswatch/buffers/lines.h"
#include "workers/fswatch/diffs.h"
#include "workers/fswatch/disk/language.h"
#include "workers/fswatch/reading.h"
#include <errno.h>

/* Edits that the Observer is told of one by one; a learner makes far fewer. */
#define MAX_EDITS_TOLD 20
#define EDITS_TOLD_MS 100

static struct str content_of(const struct buffer *buffer)
{
	return (struct str){buffer->content ? buffer->content : "", buffer->len};
}

static void answer_text(struct fswatch *fs, struct bus_request *request, const char *text)
{
	struct buf json = {.data = NULL};

	buf_add_str(&json, str_of(text));
	commit_answer(fs, request, &json);
}

/* ---- fs.buffer_update ---- */

/* For the Observer: an edit arrived (P10.1). */
static void tell_edit(struct fswatch *fs, struct str path)
{
	AUTO_BUF json = {.data = NULL};
	struct mono now = clock_mono();

	if (mono_diff_ms(now, fs->edits_since) >= EDITS_TOLD_MS) {
		fs->edits_since = now;
		fs->edits_told = 0;
	}
	if (!fs->session_id[0] || fs->edits_told >= MAX_EDITS_TOLD)
		return;
	fs->edits_told++;
	proto_encode(path_data_type(), &(struct path_data){.path = path}, &json);
	bus_publish(fs->bus, "buffer/update", buf_str(&json));
}

/* A row at once when the length is far from the one last logged (FR-044). */
static void log_edit(struct fswatch *fs, struct buffer *buffer)
{
	struct buffer_log_change change;

	if (!buffer_log_edited(&buffer->log, &fs->log_limits, buffer->chars, &change))
		return;
	action_queue_add(&fs->action_queue, (struct str){NULL, 0},
		ACTION_BUFFER_SIGNIFICANT_CHANGE,
		&(struct buffer_significant_change_data){
			.path = buffer->path,
			.previous_char_count = change.previous,
			.has_previous_char_count = true,
			.new_char_count = change.now,
			.has_new_char_count = true,
			.delta = change.delta,
			.has_delta = true,
		});
}

static void serve_update(void *arg, struct bus_request *request, const void *message);

/* An edit waits until it is known which version of a long file it is based on, and behind
 * earlier ones that do. */
static bool edit_waits(struct fswatch *fs, const char *key, struct bus_request *request,
	const void *message)
{
	struct str path = str_of(key);
	const struct buffer *buffer = buffers_find(&fs->buffers, path);

	if (!fswatch_edit_looks(fs, path))
		return fswatch_reading(fs, key, request, message, serve_update);
	return reading_first(fs, key, buffer ? &buffer->disk : NULL,
		READING_AT_ONCE_BYTES, request, message, serve_update);
}

/* An edit that is taken in. */
struct editing {
	struct reading reading; /* of a long one */
	struct bus_request *request;
	const struct buffer_update *in;
	bool looked; /* `base` was found out before it was copied */
	char base[HASH_VERSION_SIZE];
	struct buf copy; /* of its text, made beside the loop */
	int64_t chars;
};

static void refuse_edit(struct bus_request *request, const char *key)
{
	bus_answer_error(request, error_code_infos[ERROR_TOO_BIG].name,
		(struct str){NULL, 0},
		"The edit of %s was not kept: there are too many unsaved edits, or too "
		"long ones; save some files",
		key);
}

/* The buffer holds the text. */
static void edited(
	struct fswatch *fs, const struct editing *e, struct buffer *buffer, bool is_new)
{
	const struct buffer_update *in = e->in;

	if (is_new) {
		const struct open_file *open =
			open_files_find(&fs->open_files, buffer->path);

		buffer_log_opened(&buffer->log, open ? open->chars : 0);
	}
	if (in->has_cursor_position) {
		buffer->line = in->cursor_position.line;
		buffer->column = in->cursor_position.column;
	}
	if (!buffer->dirty && e->looked && fswatch_edit_looks(fs, buffer->path))
		buffers_base(buffer, e->base);
	else if (!buffer->dirty)
		fswatch_edit_begins(fs, buffer);
	buffer->dirty = true;
	buffer->updated = clock_wall();
	buffer->serial = ++fs->buffers.serial;
	log_edit(fs, buffer);
	buffers_changed(&fs->buffers, buffer);
	tell_edit(fs, buffer->path);
	fs->turn.bytes += in->content.len;
	answer_text(fs, e->request, "{}");
}

static void run_edit(struct reading *reading)
{
	struct editing *e = (struct editing *)reading;

	buf_add_str(&e->copy, e->in->content);
	e->chars = (int64_t)utf8_utf16_len(e->in->content);
}

static void done_edit(struct reading *reading)
{
	struct editing *e = (struct editing *)reading;
	struct fswatch *fs = reading->fs;
	struct str path = str_of(reading->key);
	bool is_new = !buffers_find(&fs->buffers, path);
	struct buffer *buffer = buffers_take(&fs->buffers, path, &e->copy, e->chars);

	if (buffer)
		edited(fs, e, buffer, is_new);
	else
		refuse_edit(e->request, reading->key);
	buf_free(&e->copy);
}

/* A long text is copied and counted beside the loop. */
static void begin_edit(struct fswatch *fs, struct bus_request *request,
	const struct buffer_update *in, const char *key)
{
	struct editing *e = xcalloc(1, sizeof(*e));
	const struct file_content *file;
	struct disk disk = {.known = false};
	bool read;

	e->reading.run = run_edit;
	e->reading.done = done_edit;
	e->request = request;
	e->in = in;
	/* It is at hand now (edit_waits), and not later. */
	if (fswatch_edit_looks(fs, str_of(key)) &&
		reading_look(fs, key, &disk, &file, &read) == 0) {
		e->looked = true;
		memcpy(e->base, disk.version, sizeof(e->base));
	}
	reading_run(fs, &e->reading, key);
}

static void serve_update(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	const struct buffer_update *in = message;
	const struct editing edit = {.request = request, .in = in};
	char key[PATH_KEY_SIZE];
	struct buffer *buffer;
	bool is_new;

	if (!fswatch_key(fs, request, in->path, key) ||
		fswatch_behind(fs, request, message, serve_update))
		return;
	if (language_is_binary(str_of(key))) { /* FR-038, P3.8 */
		log_debug(
			"an edit of a binary file was ignored", "path", "%s", key, NULL);
		answer_text(fs, request, "{}");
		return;
	}
	if (edit_waits(fs, key, request, message))
		return;
	if (in->content.len > READING_AT_ONCE_BYTES) {
		begin_edit(fs, request, in, key);
		return;
	}
	is_new = !buffers_find(&fs->buffers, str_of(key));
	buffer = buffers_set(&fs->buffers, str_of(key), in->content);
	if (buffer)
		edited(fs, &edit, buffer, is_new);
	else
		refuse_edit(request, key);
}

/* ---- fs.diff ---- */

static void answer_diff(struct fswatch *fs, struct bus_request *request,
	const void *message, struct diff_made *made)
{
	const struct tool_get_diff_input *in = message;
	char key[PATH_KEY_SIZE];

	if (made->error && made->error != -ENOTSUP) {
		if (fswatch_key(fs, request, in->path, key))
			fswatch_refuse(request, str_of(key), made->error);
		return;
	}
	commit_answer_message(fs, request,
		&(struct tool_get_diff_output){
			.diffs = {&made->diff, made->diff.path.ptr != NULL}});
}

static void serve_diff(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	const struct tool_get_diff_input *in = message;
	const struct buffer *buffer;
	char key[PATH_KEY_SIZE];

	if (!in->path.ptr && in->has_start_line) {
		bus_answer_error(request, error_code_infos[ERROR_INVALID_MESSAGE].name,
			(struct str){NULL, 0},
			"arguments.startLine: expected a path beside it");
		return;
	}
	if (!in->path.ptr) {
		fswatch_all_diffs(fs, request);
		return;
	}
	if (!fswatch_key(fs, request, in->path, key) ||
		fswatch_reading(fs, key, request, message, serve_diff))
		return;
	buffer = buffers_find(&fs->buffers, str_of(key));
	if (!buffer || !buffer->dirty) {
		commit_answer_message(
			fs, request, &(struct tool_get_diff_output){.empty_ = 0});
		return;
	}
	diff_make(fs, request,
		&(struct diff_query){.buffer = buffer,
			.start_line = in->has_start_line ? in->start_line : 1,
			.message = message,
			.done = answer_diff});
}

/* ---- fs.excerpt ---- */

/* From `first` to `last`, counted from 1; what lies behind the end is not there. */
static struct str lines_of(struct str text, int64_t first, int64_t last)
{
	struct str from = lines_behind(text, first - 1), rest;

	if (!from.ptr)
		return STR_LIT("");
	rest = lines_behind(from, last - first + 1);
	if (rest.ptr)
		from.len = (size_t)(rest.ptr - from.ptr);
	return from;
}

static void serve_excerpt(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	const struct fs_excerpt_query *in = message;
	const struct file_content *file = NULL;
	char key[PATH_KEY_SIZE];
	struct str text;

	if (!fswatch_key(fs, request, in->path, key) ||
		reading_text_first(
			fs, key, READING_AT_ONCE_BYTES, request, message, serve_excerpt))
		return;

	const struct buffer *buffer =
		fswatch_current(fs, buffers_find(&fs->buffers, str_of(key)));
	int error = buffer ? 0 : reading_content(fs, key, &file);
	bool binary =
		language_is_binary(str_of(key)) || (!buffer && !error && file->binary);

	if (error && error != -ENOENT) {
		fswatch_refuse(request, str_of(key), error);
		return;
	}
	text = buffer ? content_of(buffer) : error ? STR_LIT("") : file->text;

	int64_t first = in->start_line > in->around ? in->start_line - in->around : 1;
	const struct fs_excerpt reply = {
		.path = str_of(key),
		.text = lines_of(text, first, in->end_line + in->around),
		.language = str_of(binary ? LANGUAGE_BINARY : language_of(str_of(key))),
		.binary = binary,
		.has_binary = true,
		.exists = !error,
		.has_exists = true,
	};

	commit_answer_message(fs, request, &reply);
}

void serve_buffers_init(struct fswatch *fs)
{
	bus_serve(fs->bus, METHOD_FS_BUFFER_UPDATE, serve_update, fs);
	bus_serve(fs->bus, METHOD_FS_DIFF, serve_diff, fs);
	bus_serve(fs->bus, METHOD_FS_EXCERPT, serve_excerpt, fs);
}
