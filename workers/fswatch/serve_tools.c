/* serve_tools.c - the methods behind tools alone: a buffer for a model, and the places
 * that it wants to show. */
#include "common/base/file_io.h"
#include "common/base/utf8.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "proto/tables/errors.h"
#include "workers/fswatch/buffers/brief.h"
#include "workers/fswatch/disk/fault.h"
#include "workers/fswatch/reading.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path as it is shown in a message: not endless. */
#define SHOWN_BYTES 300

static struct str content_of(const struct buffer *buffer)
{
	return (struct str){buffer->content ? buffer->content : "", buffer->len};
}

/* ---- fs.buffer ---- */

static void refuse_range(struct bus_request *request, const char *key,
	const struct tool_get_buffer_input *in, int64_t total)
{
	bus_answer_error(request, error_code_infos[ERROR_INVALID_MESSAGE].name,
		(struct str){NULL, 0},
		"arguments.startLine: expected a line of %s, which has %lld, got %lld",
		key, (long long)total, (long long)in->start_line);
}

static void serve_buffer(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	const struct tool_get_buffer_input *in = message;
	char key[PATH_KEY_SIZE], updated[WALL_ISO_SIZE];
	struct tool_get_buffer_output reply;
	struct buffer *buffer;
	struct buf json = {.data = NULL};

	if (in->has_end_line && in->has_start_line && in->end_line < in->start_line) {
		bus_answer_error(request, error_code_infos[ERROR_INVALID_MESSAGE].name,
			(struct str){NULL, 0},
			"arguments.endLine: expected a line not before startLine (%lld), "
			"got %lld",
			(long long)in->start_line, (long long)in->end_line);
		return;
	}
	if (!fswatch_key(fs, request, in->path, key) ||
		reading_buffer_first(
			fs, key, READING_AT_ONCE_BYTES, request, message, serve_buffer))
		return;
	buffer = fswatch_current(fs, buffers_find(&fs->buffers, str_of(key)));
	if (!buffer) {
		buf_add_str(&json, STR_LIT("null"));
		commit_answer(fs, request, &json);
		return;
	}
	wall_iso(buffer->updated, updated);
	reply = (struct tool_get_buffer_output){
		.path = buffer->path,
		.cursor_position = {.line = buffer->line,
			.has_line = true,
			.column = buffer->column,
			.has_column = true},
		.has_cursor_position = true,
		.dirty = buffer->dirty,
		.has_dirty = true,
		.last_updated = str_of(updated),
		.conflict = true,
		.has_conflict = fswatch_conflict(fs, buffer),
	};
	if (brief_buffer(content_of(buffer), buffers_lines(buffer), in, &request->arena,
		    &reply) < 0) {
		refuse_range(request, key, in, buffers_lines(buffer));
		return;
	}
	proto_encode(tool_get_buffer_output_type(), &reply, &json);
	commit_answer(fs, request, &json);
}

/* ---- fs.places ---- */

static void refuse_place(
	struct bus_request *request, const struct fs_place *place, const char *why)
{
	bus_answer_error(request, error_code_infos[ERROR_INVALID_MESSAGE].name,
		(struct str){NULL, 0},
		"%.*s: %.*s %s. Give a path relative to the project, or absolute inside "
		"it.",
		STR_ARG(place->field), STR_ARG(utf8_cut(place->path, SHOWN_BYTES)), why);
}

/* 0 when a file is there, or -errno. */
static int is_there(struct fswatch *fs, const char *key)
{
	AUTO_FD fd = project_openat(&fs->project, key, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? -EISDIR : 0;
}

/* Each costs some system calls; the others follow in the next turn of the loop. */
#define PLACES_A_TURN 128

/* Where a request is. Lies in its arena. */
struct looking {
	struct fswatch *fs;
	struct bus_request *request;
	const struct fs_places *in;
	struct fs_places_found found; /* the places behind them are to be looked at */
	size_t bytes;		      /* read in this turn of the loop */
};

/* How many lines the learner sees in a file that is there; 0 for one without lines. Only
 * when they are wanted. 0 or a negative errno or fault. */
static int count_lines(struct fswatch *fs, const char *key, bool wanted,
	struct looking *looking, int64_t *lines)
{
	struct buffer *buffer =
		fswatch_current(fs, buffers_find(&fs->buffers, str_of(key)));
	const struct file_content *file;
	int error;

	*lines = buffer && wanted ? buffers_lines(buffer) : 0;
	if (buffer)
		return 0;
	if (!wanted)
		return is_there(fs, key);
	error = reading_content(fs, key, &file);
	if (!error) {
		*lines = (int64_t)file->line_count;
		looking->bytes += file->raw.len;
	}
	return error;
}

static void go_on_looking(void *arg, struct bus_request *request, const void *message);

/* Waits when the file is long, or much was read before. */
static bool place_waits(struct fswatch *fs, struct bus_request *request, const char *key,
	bool wanted, struct looking *looking)
{
	size_t left = looking->bytes < READING_AT_ONCE_BYTES
			      ? READING_AT_ONCE_BYTES - looking->bytes
			      : 0;
	struct looking **message = arena_alloc(&request->arena, sizeof(struct looking *));

	*message = looking;
	return (wanted ? reading_text_first : reading_buffer_first)(
		fs, key, left, request, message, go_on_looking);
}

static void refuse_line(struct bus_request *request, const struct fs_place *place,
	const char *key, int64_t lines)
{
	bus_answer_error(request, error_code_infos[ERROR_INVALID_MESSAGE].name,
		(struct str){NULL, 0},
		"%.*s: expected a line of %s, which has %lld, got %lld. "
		"paige_get_buffer shows its lines with their numbers.",
		STR_ARG(place->line_field), key, (long long)lines,
		(long long)place->last_line);
}

/* True when a place is right, with its path; else the request was answered, or waits. */
static bool look_at(struct fswatch *fs, struct bus_request *request,
	const struct fs_place *place, struct looking *looking)
{
	char key[PATH_KEY_SIZE];
	enum path_verdict verdict = paths_key(&fs->project.roots, place->path, key);
	int64_t lines = 0;
	int error = 0;

	if (verdict != PATH_OK) {
		refuse_place(request, place, paths_verdict_text(verdict));
		return false;
	}
	if (!place->may_be_gone &&
		place_waits(fs, request, key, place->has_last_line, looking))
		return false;
	if (!place->may_be_gone)
		error = count_lines(fs, key, place->has_last_line, looking, &lines);
	if (error) {
		refuse_place(request, place, fault_text(error));
		return false;
	}
	if (place->has_last_line && place->last_line > lines) {
		refuse_line(request, place, key, lines);
		return false;
	}
	looking->found.paths.items[looking->found.paths.count++] =
		arena_str(&request->arena, str_of(key));
	return true;
}

static void on_next_turn(EVENT_UNUSED, void *arg)
{
	struct looking *looking = arg;

	go_on_looking(looking->fs, looking->request, &looking);
}

static void look_in_the_next_turn(struct looking *looking)
{
	if (event_once_ms(looking->fs->worker->base, on_next_turn, looking, 0) < 0)
		abort(); /* out of memory */
}

static void go_on_looking(void *arg, struct bus_request *request, const void *message)
{
	struct looking *looking = *(struct looking *const *)message;
	const size_t stop = looking->found.paths.count + PLACES_A_TURN;

	looking->bytes = 0;
	while (looking->found.paths.count < looking->in->places.count) {
		if (looking->found.paths.count == stop) {
			look_in_the_next_turn(looking);
			return;
		}
		if (!look_at(arg, request,
			    &looking->in->places.items[looking->found.paths.count],
			    looking))
			return;
	}
	commit_answer_message(arg, request, &looking->found);
}

static void serve_places(void *arg, struct bus_request *request, const void *message)
{
	const struct fs_places *in = message;
	struct looking *looking = arena_alloc(&request->arena, sizeof(*looking));

	*looking = (struct looking){.fs = arg,
		.request = request,
		.in = in,
		.found.paths.items = arena_array(
			&request->arena, in->places.count + 1, sizeof(struct str))};
	go_on_looking(arg, request, &looking);
}

void serve_tools_init(struct fswatch *fs)
{
	bus_serve(fs->bus, METHOD_FS_BUFFER, serve_buffer, fs);
	bus_serve(fs->bus, METHOD_FS_PLACES, serve_places, fs);
}
