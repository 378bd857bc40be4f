/* diagnostics.c - see diagnostics.h. */
#include "workers/fswatch/buffers/diagnostics.h"
#include "common/base/alloc.h"
#include "common/base/utf8.h"
#include "workers/fswatch/disk/paths.h"
#include <errno.h>
#include <stdlib.h>

#define CUT "..."

struct item {
	struct text_range range;
	int severity;
	struct str message, source;
};

/* One block of memory: the items, then the path and their texts. */
struct diagnostics_file {
	struct diagnostics_file *next;
	struct str path;
	size_t count;
	size_t left_out; /* of the message, beyond DIAGNOSTICS_MAX_OF_FILE */
	size_t bytes;	 /* of the block */
	struct item items[];
};

/* ---- one file ---- */

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Those of one line stay in the order in which they came. */
static int by_severity(const void *a, const void *b)
{
	const struct editor_diagnostic *x = *(const struct editor_diagnostic *const *)a;
	const struct editor_diagnostic *y = *(const struct editor_diagnostic *const *)b;
	int order = compare(x->severity, y->severity);

	if (order == 0)
		order = compare(x->range.start.line, y->range.start.line);
	if (order == 0)
		order = compare(x->range.start.column, y->range.start.column);
	return order ? order : (x > y) - (x < y);
}

static size_t kept_len(struct str text)
{
	return text.len <= DIAGNOSTICS_MAX_TEXT ? text.len
						: DIAGNOSTICS_MAX_TEXT + strlen(CUT);
}

static struct str put(char **at, struct str text)
{
	struct str part = utf8_cut(text, DIAGNOSTICS_MAX_TEXT), kept = {*at, part.len};

	if (!text.ptr)
		return text;
	memcpy(*at, part.ptr, part.len);
	if (part.len < text.len) {
		memcpy(*at + part.len, CUT, strlen(CUT));
		kept.len += strlen(CUT);
	}
	*at += kept.len;
	return kept;
}

static struct diagnostics_file *file_new(struct str path,
	const struct editor_diagnostic *const *sorted, size_t count, size_t left_out)
{
	size_t bytes =
		sizeof(struct diagnostics_file) + count * sizeof(struct item) + path.len;
	struct diagnostics_file *file;
	char *at;

	for (size_t i = 0; i < count; i++)
		bytes += kept_len(sorted[i]->message) + kept_len(sorted[i]->source);
	file = xmalloc(bytes);
	at = (char *)&file->items[count];
	memcpy(at, path.ptr, path.len);
	*file = (struct diagnostics_file){.path = {at, path.len},
		.count = count,
		.left_out = left_out,
		.bytes = bytes};
	at += path.len;
	for (size_t i = 0; i < count; i++) {
		struct item *item = &file->items[i];

		*item = (struct item){
			.range = sorted[i]->range, .severity = sorted[i]->severity};
		item->message = put(&at, sorted[i]->message);
		item->source = put(&at, sorted[i]->source);
	}
	return file;
}

/* The most severe of a message; NULL for an empty one. */
static struct diagnostics_file *file_of(
	struct str path, const struct editor_diagnostics *in)
{
	size_t total = in->diagnostics.count;
	size_t count = total < DIAGNOSTICS_MAX_OF_FILE ? total : DIAGNOSTICS_MAX_OF_FILE;
	AUTO_FREE const struct editor_diagnostic **sorted = NULL;

	if (total == 0)
		return NULL;
	sorted = xmalloc(total * sizeof(*sorted));
	for (size_t i = 0; i < total; i++)
		sorted[i] = &in->diagnostics.items[i];
	qsort(sorted, total, sizeof(*sorted), by_severity);
	return file_new(path, sorted, count, total - count);
}

/* ---- all files ---- */

static void take_out(struct diagnostics *d, struct diagnostics_file **at)
{
	struct diagnostics_file *file = *at;

	*at = file->next;
	d->files--;
	d->bytes -= file->bytes;
	free(file);
}

int diagnostics_set(
	struct diagnostics *d, struct str path, const struct editor_diagnostics *in)
{
	struct diagnostics_file *file = file_of(path, in), **at = &d->first;
	int result = 0;

	while (*at && str_order((*at)->path, path) < 0)
		at = &(*at)->next;
	if (*at && str_eq((*at)->path, path))
		take_out(d, at);
	if (file && d->files == DIAGNOSTICS_MAX_FILES)
		result = -ENFILE;
	else if (file && d->bytes + file->bytes > DIAGNOSTICS_MAX_BYTES)
		result = -ENOSPC;
	if (!file || result < 0) {
		free(file);
		return result;
	}
	file->next = *at;
	*at = file;
	d->files++;
	d->bytes += file->bytes;
	return 0;
}

void diagnostics_forget(struct diagnostics *d, struct str path)
{
	struct diagnostics_file **at = &d->first;

	while (*at)
		if (paths_within((*at)->path, path))
			take_out(d, at);
		else
			at = &(*at)->next;
}

void diagnostics_forget_unless(
	struct diagnostics *d, bool (*is_there)(void *arg, struct str path), void *arg)
{
	struct diagnostics_file **at = &d->first;

	while (*at)
		if (is_there(arg, (*at)->path))
			at = &(*at)->next;
		else
			take_out(d, at);
}

void diagnostics_fini(struct diagnostics *d)
{
	while (d->first)
		take_out(d, &d->first);
}

/* ---- for a model ---- */

/* Adds the diagnostics of a file that have a severity, as long as there is room. */
static void show(const struct diagnostics_file *file, int severity, size_t *bytes,
	struct arena *arena, struct state_diagnostics *out)
{
	for (size_t i = 0; i < file->count; i++) {
		const struct item *item = &file->items[i];
		size_t len = file->path.len + item->message.len + item->source.len;

		if (item->severity != severity)
			continue;
		if (out->items.count == DIAGNOSTICS_SHOWN ||
			*bytes + len > DIAGNOSTICS_SHOWN_BYTES) {
			out->left_out++;
			continue;
		}
		*bytes += len;
		out->items.items[out->items.count++] = (struct state_diagnostic){
			.path = arena_str(arena, file->path),
			.range = item->range,
			.has_range = true,
			.severity = severity,
			.has_severity = true,
			.message = arena_str(arena, item->message),
			.source = arena_str(arena, item->source),
		};
	}
}

void diagnostics_show(
	const struct diagnostics *d, struct arena *arena, struct state_diagnostics *out)
{
	int severities = (int)diagnostic_severity_enumeration()->count;
	size_t bytes = 0;

	*out = (struct state_diagnostics){
		.items = {.items = arena_array(arena, DIAGNOSTICS_SHOWN,
				  sizeof(struct state_diagnostic))}};
	for (int severity = 0; severity < severities; severity++)
		for (const struct diagnostics_file *f = d->first; f; f = f->next)
			show(f, severity, &bytes, arena, out);
	for (const struct diagnostics_file *f = d->first; f; f = f->next)
		out->left_out += (int64_t)f->left_out;
	out->has_left_out = out->left_out > 0;
}
