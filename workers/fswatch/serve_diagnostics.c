/* serve_diagnostics.c - fs.diagnostics, and what fs.state tells of them. */
#include "common/base/file_io.h"
#include "proto/tables/errors.h"
#include "workers/fswatch/fswatch.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* What is wrong with the range of a diagnostic, and where it stands; NULL: nothing. */
static const char *range_fault(const struct text_range *range, const char **field)
{
	const struct position *start = &range->start, *end = &range->end;

	*field = start->line < 1 ? "start.line" : "start.column";
	if (start->line < 1 || start->column < 1)
		return "expected a number from 1 on";
	*field = end->line < 1 ? "end.line" : "end.column";
	if (end->line < 1 || end->column < 1)
		return "expected a number from 1 on";
	*field = "end";
	return end->line < start->line ||
			       (end->line == start->line && end->column < start->column)
		       ? "expected a place not before the start"
		       : NULL;
}

static bool ranges_right(struct bus_request *request, const struct editor_diagnostics *in)
{
	for (size_t i = 0; i < in->diagnostics.count; i++) {
		const struct text_range *range = &in->diagnostics.items[i].range;
		const char *field, *fault = range_fault(range, &field);

		if (!fault)
			continue;
		bus_answer_error(request, error_code_infos[ERROR_INVALID_MESSAGE].name,
			(struct str){NULL, 0},
			"payload.diagnostics[%zu].range.%s: %s, got %lld:%lld to "
			"%lld:%lld (line:column)",
			i, field, fault, (long long)range->start.line,
			(long long)range->start.column, (long long)range->end.line,
			(long long)range->end.column);
		return false;
	}
	return true;
}

static void refuse(struct bus_request *request, const char *key, int error)
{
	if (error == -ENFILE)
		bus_answer_error(request, error_code_infos[ERROR_BUSY].name,
			(struct str){NULL, 0},
			"The diagnostics of %s were not kept: those of %d files are kept "
			"already",
			key, DIAGNOSTICS_MAX_FILES);
	else
		bus_answer_error(request, error_code_infos[ERROR_TOO_BIG].name,
			(struct str){NULL, 0},
			"The diagnostics of %s were not kept: with them, those of all "
			"files would have more than %u bytes",
			key, DIAGNOSTICS_MAX_BYTES);
}

static void serve_diagnostics(void *arg, struct bus_request *request, const void *message)
{
	struct fswatch *fs = arg;
	const struct editor_diagnostics *in = message;
	char key[PATH_KEY_SIZE];
	int error;

	if (!fswatch_key(fs, request, in->path, key) || !ranges_right(request, in))
		return;
	error = diagnostics_set(&fs->diagnostics, str_of(key), in);
	if (error)
		refuse(request, key, error);
	else
		bus_answer(request, (struct str){NULL, 0});
}

/* A file that was never saved is there as long as it has a buffer. */
static bool is_there(void *arg, struct str path)
{
	struct fswatch *fs = arg;
	char key[PATH_KEY_SIZE];
	AUTO_FD fd = -1;

	if (buffers_find(&fs->buffers, path))
		return true;
	memcpy(key, path.ptr, path.len);
	key[path.len] = '\0';
	fd = project_openat(&fs->project, key, O_PATH | O_CLOEXEC);
	return fd != -ENOENT && fd != -ENOTDIR;
}

void fswatch_diagnostics(
	struct fswatch *fs, struct arena *arena, struct state_diagnostics *out)
{
	diagnostics_forget_unless(&fs->diagnostics, is_there, fs);
	diagnostics_show(&fs->diagnostics, arena, out);
}

void serve_diagnostics_init(struct fswatch *fs)
{
	bus_serve(fs->bus, METHOD_FS_DIAGNOSTICS, serve_diagnostics, fs);
}
