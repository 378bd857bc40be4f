/* serve_open.c - the methods that give windows a file. A long one is read and written as JSON on a
 * thread beside the loop (reading.h). */
#include "common/base/alloc.h"
#include "proto/codec/messages.h"
#include "proto/tables/errors.h"
#include "proto/tables/mcp_tools.h"
#include "workers/fswatch/disk/fault.h"
#include "workers/fswatch/disk/language.h"
#include "workers/fswatch/reading.h"
#include <stdlib.h>

/* Room for the envelope around what a client is sent. */
#define ENVELOPE_BYTES 4096

struct opening {
	struct reading reading;
	struct bus_request *request;
	const struct tool_request *tool; /* whose call is logged; NULL without one */
	bool shown;			 /* to every window */
	struct buf json;		 /* what windows are sent */
};

/* ---- on the thread, or at once ---- */

static void write_shown(struct opening *o, struct str language)
{
	proto_encode(editor_open_file_type(),
		&(struct editor_open_file){
			.path = str_of(o->reading.key),
			.content = o->reading.content.text,
			.language = language,
			.line_count = (int64_t)o->reading.content.line_count,
			.has_line_count = true,
		},
		&o->json);
}

static void write_content(struct opening *o, struct str language)
{
	proto_encode(fs_content_type(),
		&(struct fs_content){
			.path = str_of(o->reading.key),
			.content = o->reading.content.text,
			.language = language,
			.line_count = (int64_t)o->reading.content.line_count,
			.has_line_count = true,
			.version = str_of(o->reading.content.version),
			.binary = true,
			.has_binary = o->reading.content.binary,
		},
		&o->json);
}

static void run(struct reading *reading)
{
	struct opening *o = (struct opening *)reading;
	const struct file_content *content = &reading->content;
	struct str language;

	if (reading->error)
		return;
	language = str_of(
		content->binary ? LANGUAGE_BINARY : language_of(str_of(reading->key)));
	buf_reserve(&o->json, content->text.len + content->text.len / 16 + 256);
	if (o->shown)
		write_shown(o, language);
	else
		write_content(o, language);
	/* What is too big once its characters are escaped. */
	if (o->json.len > READ_MAX_BYTES - ENVELOPE_BYTES)
		reading->error = -FAULT_TOO_BIG;
}

/* ---- on the loop ---- */

/* Adds the file that was read to the open files. False: the request was answered. */
static bool add_open(struct opening *o)
{
	struct fswatch *fs = o->reading.fs;
	struct str path = str_of(o->reading.key);
	struct buffer *buffer = buffers_find(&fs->buffers, path);

	if (open_files_find(&fs->open_files, path)) {
		open_files_version(&fs->open_files, path, o->reading.content.version);
		return true;
	}
	if (!open_files_add(&fs->open_files, path, o->reading.content.chars)) {
		bus_answer_error(o->request, error_code_infos[ERROR_BUSY].name,
			fswatch_path_context(o->request, path),
			"%d files are open already; close some", OPEN_FILES_MAX);
		return false;
	}
	open_files_version(&fs->open_files, path, o->reading.content.version);
	/* How far unsaved edits of a file that was closed meanwhile go is counted anew
	 * (P4.7). */
	if (buffer) {
		buffer_log_opened(&buffer->log, o->reading.content.chars);
		buffers_changed(&fs->buffers, buffer);
	}
	return true;
}

static void answer_content(struct opening *o)
{
	action_queue_add(&o->reading.fs->action_queue, o->request->key, ACTION_FILE_OPEN,
		&(struct path_data){.path = str_of(o->reading.key)});
	commit_answer(o->reading.fs, o->request, &o->json);
}

/* Shows the file to every window, logs the call of the tool if there is one, and answers.
 */
static void answer_shown(struct opening *o)
{
	struct bus_request *request = o->request;

	if (o->tool)
		action_queue_add(&o->reading.fs->action_queue, request->key,
			ACTION_MCP_TOOL_CALL,
			&(struct mcp_tool_call_data){
				.tool_name = str_of(mcp_tool_of(request->method)->name),
				.session_id = o->tool->session_id});
	commit_publish(o->reading.fs, "ui/editor:open_file", &o->json);
	commit_answer_message(o->reading.fs, request,
		&(struct tool_open_file_output){.success = true,
			.has_success = true,
			.path = str_of(o->reading.key)});
}

static void done(struct reading *reading)
{
	struct opening *o = (struct opening *)reading;

	if (reading->error)
		fswatch_refuse(o->request, str_of(reading->key), reading->error);
	else if (add_open(o))
		(o->shown ? answer_shown : answer_content)(o);
	buf_free(&o->json);
}

static void begin(struct fswatch *fs, struct bus_request *request, const char *key,
	bool shown, const struct tool_request *tool)
{
	struct opening *o = xcalloc(1, sizeof(*o));

	o->reading.run = run;
	o->reading.done = done;
	o->request = request;
	o->shown = shown;
	o->tool = tool;
	reading_begin(fs, &o->reading, key);
}

/* ---- the methods ---- */

/* The request waits for what is under way with the file. */
static bool waits(struct fswatch *fs, const char *key, struct bus_request *request,
	const void *message, bus_serve_fn *fn)
{
	return fswatch_saving(fs, key, request, message, fn) ||
	       fswatch_reading(fs, key, request, message, fn);
}

static void serve_open(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	const struct file_open *in = message;
	char key[PATH_KEY_SIZE];

	if (fswatch_key(fs, request, in->path, key) &&
		!fswatch_behind(fs, request, message, serve_open) &&
		!waits(fs, key, request, message, serve_open))
		begin(fs, request, key, false, NULL);
}

/* The arguments of paige_open_file. NULL: they were refused. */
static const struct tool_open_file_input *arguments_of(
	struct bus_request *request, const struct tool_request *tool)
{
	struct proto_error error;
	const void *input =
		mcp_tool_input(request->method, tool, &request->arena, &error);

	if (!input)
		bus_answer_error(request, error_code_infos[ERROR_INVALID_MESSAGE].name,
			(struct str){NULL, 0}, "%s", error.text);
	return input;
}

static void serve_show(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	const struct tool_request *tool = message;
	const struct tool_open_file_input *in = arguments_of(request, tool);
	char key[PATH_KEY_SIZE];

	if (in && fswatch_key(fs, request, in->path, key) &&
		!fswatch_behind(fs, request, message, serve_show) &&
		!waits(fs, key, request, message, serve_show))
		begin(fs, request, key, true, tool);
}

static void serve_show_again(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	const struct tool_open_file_input *in = message;
	char key[PATH_KEY_SIZE];

	if (fswatch_key(fs, request, in->path, key) &&
		!waits(fs, key, request, message, serve_show_again))
		begin(fs, request, key, true, NULL);
}

void serve_open_init(struct fswatch *fs)
{
	bus_serve(fs->bus, METHOD_FS_OPEN, serve_open, fs);
	bus_serve(fs->bus, METHOD_FS_SHOW, serve_show, fs);
	bus_serve(fs->bus, METHOD_FS_SHOW_AGAIN, serve_show_again, fs);
}
