/* open_files.c - see open_files.h. */
#include "workers/fswatch/buffers/open_files.h"
#include "common/base/alloc.h"
#include <stdlib.h>

static const struct str nothing = {"", 0};

static void record_open(const struct open_files *files, const struct open_file *file)
{
	journal_add(files->journal, JOURNAL_OPEN,
		(struct str){(const char *)&file->chars, sizeof(file->chars)},
		file->path);
}

static struct open_file *insert(struct open_files *files, struct str path, int64_t chars)
{
	struct open_file *file = xcalloc(1, sizeof(*file) + path.len + 1);

	memcpy(file->text, path.ptr, path.len);
	file->path = (struct str){file->text, path.len};
	file->chars = chars;
	file->previous = files->last;
	*(files->last ? &files->last->next : &files->first) = file;
	files->last = file;
	pathmap_put(&files->by_path, file->path, file);
	return file;
}

static bool take_out(struct open_files *files, struct str path)
{
	struct open_file *file = pathmap_remove(&files->by_path, path);

	if (!file)
		return false;
	*(file->previous ? &file->previous->next : &files->first) = file->next;
	*(file->next ? &file->next->previous : &files->last) = file->previous;
	free(file);
	return true;
}

static void take_out_all(struct open_files *files)
{
	while (files->first)
		take_out(files, files->first->path);
}

bool open_files_add(struct open_files *files, struct str path, int64_t chars)
{
	if (open_files_find(files, path))
		return true;
	if (files->by_path.count >= OPEN_FILES_MAX)
		return false;
	record_open(files, insert(files, path, chars));
	return true;
}

bool open_files_remove(struct open_files *files, struct str path)
{
	if (!take_out(files, path))
		return false;
	journal_add(files->journal, JOURNAL_CLOSE, path, nothing);
	return true;
}

void open_files_version(
	struct open_files *files, struct str path, const char version[HASH_VERSION_SIZE])
{
	struct open_file *file = pathmap_get(&files->by_path, path);

	if (file)
		memcpy(file->version, version, sizeof(file->version));
}

const struct open_file *open_files_find(const struct open_files *files, struct str path)
{
	return pathmap_get(&files->by_path, path);
}

void open_files_record(const struct open_files *files)
{
	for (const struct open_file *file = files->first; file; file = file->next)
		record_open(files, file);
}

void open_files_restore(struct open_files *files, enum journal_type type, struct str data)
{
	int64_t chars;

	if (type == JOURNAL_CLEAR)
		take_out_all(files);
	if (type == JOURNAL_CLOSE)
		take_out(files, data);
	if (type != JOURNAL_OPEN || data.len < sizeof(chars))
		return;
	memcpy(&chars, data.ptr, sizeof(chars));

	struct str path = {data.ptr + sizeof(chars), data.len - sizeof(chars)};

	if (!open_files_find(files, path) && files->by_path.count < OPEN_FILES_MAX)
		insert(files, path, chars);
}

void open_files_fini(struct open_files *files)
{
	take_out_all(files);
	pathmap_fini(&files->by_path);
}
