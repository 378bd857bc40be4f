/* follow.c - buffers and the files they belong to: see fswatch.h. */
#include "common/base/log.h"
#include "workers/fswatch/disk/language.h"
#include "workers/fswatch/fswatch.h"
#include <errno.h>

/* A saved file that another program has changed: the buffer holds what is there now. */
static bool take_over(struct fswatch *fs, struct buffer *buffer)
{
	const struct file_content *file = &fs->content;
	struct str text = file->text;
	int64_t before = buffer->chars;

	if (file->binary || !buffers_fit(&fs->buffers, buffer, text.len))
		return false;
	if (str_eq(text,
		    (struct str){buffer->content ? buffer->content : "", buffer->len}))
		return true;
	if (!buffers_set(&fs->buffers, buffer->path, text))
		return false;
	buffer->updated =
		(struct wall){(int64_t)buffer->disk.st.st_mtim.tv_sec * 1000000 +
			      buffer->disk.st.st_mtim.tv_nsec / 1000};
	/* What others write is no edit of the learner's. */
	buffer->log.logged_chars += buffer->chars - before;
	buffers_changed(&fs->buffers, buffer);
	commit_work(fs);
	return true;
}

struct buffer *fswatch_current(struct fswatch *fs, struct buffer *buffer)
{
	bool read;

	if (!buffer || buffer->dirty || fswatch_save_under_way(fs, buffer->path.ptr))
		return buffer;

	int error = disk_look(
		&fs->project, buffer->path.ptr, &buffer->disk, &fs->content, &read);

	if (!error && (read ? take_over(fs, buffer) : buffer->disk.known))
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
	bool read;

	if (!fswatch_may_conflict(fs, buffer))
		return false;
	/* What cannot be read now is not known to have changed. */
	if (disk_look(&fs->project, buffer->path.ptr, &buffer->disk, &fs->content, &read))
		return false;
	return strcmp(buffer->disk.version, buffer->base) != 0;
}

void fswatch_edit_begins(struct fswatch *fs, struct buffer *buffer)
{
	const struct open_file *open = open_files_find(&fs->open_files, buffer->path);
	bool read;

	if (open && open->version[0]) { /* what the window was given */
		buffers_base(buffer, open->version);
	} else if (!buffer->based && !disk_look(&fs->project, buffer->path.ptr,
					     &buffer->disk, &fs->content, &read)) {
		buffers_base(buffer, buffer->disk.version);
	}
}
