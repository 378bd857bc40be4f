/*
 * buffers.h - what the learner has in the editor, saved or not (FR-027 to FR-030).
 *
 * By key, the last update stands (EC-15). Every buffer has its copy in the buffer store; what
 * changed is written there by buffers_flush, once for any number of changes in between.
 * Nobody may be told of a change before that: then a killed process loses nothing that
 * anybody knows of.
 *
 * A clean buffer is a convenience: it is dropped when the file is closed (P3.14), when
 * another buffer needs its room, and after a restart of the whole daemon, when the file
 * may be another one by then.
 */
#ifndef PAIGE_FSWATCH_BUFFERS_BUFFERS_H
#define PAIGE_FSWATCH_BUFFERS_BUFFERS_H

#include "workers/fswatch/buffers/buffer_store.h"
#include "workers/fswatch/disk/disk.h"
#include "workers/fswatch/disk/pathmap.h"

#define BUFFERS_MAX 10000
#define BUFFERS_MAX_BYTES (512u * 1024 * 1024)

struct buffer {
	struct buffer *next, *previous;
	struct buffer *next_unwritten;
	struct str path;
	char *content;
	size_t len, cap;
	int64_t chars; /* UTF-16 code units */
	int64_t lines; /* of buffers_lines; -1: not counted yet */
	int64_t line, column;
	bool dirty;
	bool unwritten; /* waits for buffers_flush */
	struct wall updated;
	bool based;		      /* `base` is known */
	char base[HASH_VERSION_SIZE]; /* version of the file that unsaved edits began
					 with; "": there was none */
	struct disk disk;	      /* the file as it was last looked at */
	struct buffer_log log;
	uint64_t serial; /* of the latest edit; from buffers.serial */
	struct buffer_store_file file;
	unsigned sync_round; /* the latest in which commit.c brought it to the disk */
	char text[];	     /* of the path */
};

struct buffers {
	struct buffer_store *buffer_store; /* borrowed */
	uint64_t epoch;
	struct pathmap by_path;
	struct buffer *first, *last; /* in the order in which they came up */
	struct buffer *unwritten;
	size_t bytes;	 /* of all contents */
	uint64_t serial; /* of the latest edit of any buffer */
};

/* Reads what the buffer store has. 0 or -errno. */
int buffers_init(struct buffers *buffers, struct buffer_store *buffer_store,
	uint64_t epoch) __attribute__((warn_unused_result));
void buffers_fini(struct buffers *buffers);

struct buffer *buffers_find(const struct buffers *buffers, struct str path);

/*
 * Sets the content of a buffer, making it when there is none; the caller then sets what
 * else changed and calls buffers_changed. Clean buffers of other files go when there are
 * too many buffers or too much in them, the oldest first; NULL when that is not enough:
 * then the buffer is as it was.
 */
struct buffer *buffers_set(struct buffers *buffers, struct str path, struct str content);
/* The same of a content whose UTF-16 code units were counted before. */
struct buffer *buffers_set_counted(
	struct buffers *buffers, struct str path, struct str content, int64_t chars);
/* The same without copying or counting: the memory of `content`, which has `chars` UTF-16 code
 * units, is taken over unless the result is NULL. */
struct buffer *buffers_take(
	struct buffers *buffers, struct str path, struct buf *content, int64_t chars);
/* True when a content fits beside all others without any of them going; `buffer`: the one
 * it is for, or NULL. */
bool buffers_fit(const struct buffers *buffers, const struct buffer *buffer, size_t len);
/* How many lines there are (lines.h), counted once for each content. */
int64_t buffers_lines(struct buffer *buffer);
/* Notes the version of the file that the edits are based on. */
void buffers_base(struct buffer *buffer, const char version[HASH_VERSION_SIZE]);
/* The buffer is to be written by the next flush. */
void buffers_changed(struct buffers *buffers, struct buffer *buffer);

/* Removes a buffer and its copy in the buffer store. */
void buffers_remove(struct buffers *buffers, struct buffer *buffer);

/* Writes what changed. 0, or -errno of the first that failed; those are tried again by
 * the next flush. */
int buffers_flush(struct buffers *buffers) __attribute__((warn_unused_result));

#endif
