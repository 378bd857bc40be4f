/* follow.c - buffers and the files they belong to: see fswatch.h. */
#include "common/base/log.h"
#include "workers/fswatch/disk/language.h"
#include "workers/fswatch/reading.h"
#include <errno.h>

/* A saved file that another program has changed: the buffer holds what is there now. */
static bool take_over(
	struct fswatch *fs, struct buffer *buffer, const struct file_content *file)
{
	struct str text = file->text;
	int64_t before = buffer->chars;

	if (file->binary || !buffers_fit(&fs->buffers, buffer, text.len))
		return false;
	if (str_eq(text,
		    (struct str){buffer->content ? buffer->content : "", buffer->len}))
		return true;
	if (!buffers_set_counted(&fs->buffers, buffer->path, text, file->chars))
		return false;
	buffer->lines = (int64_t)file->line_count;
	buffer->updated =
		(struct wall){(int64_t)buffer->disk.st.st_mtim.tv_sec * 1000000 +
			      buffer->disk.st.st_mtim.tv_nsec / 1000};
	/* What others write is no edit of the learner's. Its copy may stay as it is: that of a saved
	 * buffer follows the disk, too, when it is read again. */
	buffer->log.logged_chars += buffer->chars - before;
	commit_tidy(fs);
	return true;
}

/* What is shown of it is what is on disk. */
static bool follows(const struct fswatch *fs, const struct buffer *buffer)
{
	return buffer && !buffer->dirty && !fswatch_save_under_way(fs, buffer->path.ptr);
}

bool fswatch_looks(const struct fswatch *fs, const struct buffer *buffer)
{
	return follows(fs, buffer) || (buffer && fswatch_may_conflict(fs, buffer));
}

struct buffer *fswatch_current(struct fswatch *fs, struct buffer *buffer)
{
	const struct file_content *file;
	bool read;

	if (!follows(fs, buffer))
		return buffer;

	int error = reading_look(fs, buffer->path.ptr, &buffer->disk, &file, &read);

	if (!error && (read ? take_over(fs, buffer, file) : buffer->disk.known))
		return buffer;
	log_debug("a saved file is gone or no text any more", "path", "%s",
		buffer->path.ptr, NULL);
	buffers_remove(&fs->buffers, buffer);
	return NULL;
}

bool fswatch_may_conflict(const struct fswatch *fs, const struct buffer *buffer)
{
	return buffer->dirty && buffer->based &&
	       !fswatch_save_under_way(fs, buffer->path.ptr);
}

bool fswatch_conflict(struct fswatch *fs, struct buffer *buffer)
{
	const struct file_content *file;
	bool read;

	if (!fswatch_may_conflict(fs, buffer))
		return false;
	/* What cannot be read now is not known to have changed. */
	if (reading_look(fs, buffer->path.ptr, &buffer->disk, &file, &read))
		return false;
	return strcmp(buffer->disk.version, buffer->base) != 0;
}

/* The version that the window was given; NULL when none is known. */
static const char *version_given(const struct fswatch *fs, struct str path)
{
	const struct open_file *open = open_files_find(&fs->open_files, path);

	return open && open->version[0] ? open->version : NULL;
}

bool fswatch_edit_looks(const struct fswatch *fs, struct str path)
{
	const struct buffer *buffer = buffers_find(&fs->buffers, path);

	return !version_given(fs, path) && !(buffer && (buffer->dirty || buffer->based));
}

void fswatch_edit_begins(struct fswatch *fs, struct buffer *buffer)
{
	const char *given = version_given(fs, buffer->path);
	const struct file_content *file;
	bool read;

	if (given)
		buffers_base(buffer, given);
	else if (!buffer->based &&
		 !reading_look(fs, buffer->path.ptr, &buffer->disk, &file, &read))
		buffers_base(buffer, buffer->disk.version);
}
