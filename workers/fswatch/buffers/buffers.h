/*
 * buffers.h - what the learner has in the editor, saved or not (FR-027 to FR-030).
 *
 * The last update of a path wins (EC-15). Each buffer has a copy in the buffer store.
 * buffers_flush writes what changed there, once for any number of changes; what is long is left
 * to a thread. Tell nobody of a change before it is written; then a killed process loses nothing
 * that anybody knows of.
 *
 * A clean buffer is only a convenience. It is dropped when the file is closed (P3.14), when
 * another buffer needs its room, and after a restart of the whole daemon, because the file
 * may have changed by then.
 */
#pragma once

#include "workers/fswatch/buffers/buffer_store.h"
#include "workers/fswatch/disk/disk.h"
#include "workers/fswatch/disk/pathmap.h"
#include <sys/queue.h>

#define BUFFERS_MAX 10000
#define BUFFERS_MAX_BYTES (512u * 1024 * 1024)
/* Of all buffers that a flush writes at once; what is beyond is written beside the loop. */
#define BUFFERS_AT_ONCE_BYTES (512u * 1024)

struct buffer_write;
STAILQ_HEAD(buffer_writes, buffer_write);

struct buffer {
	struct buffer *next, *previous;
	LIST_ENTRY(buffer) unwritten_link;
	struct str path;
	char *content;
	size_t len, cap;
	int64_t chars; /* UTF-16 code units */
	int64_t lines; /* of buffers_lines; -1: not counted yet */
	int64_t line, column;
	bool dirty;
	bool unwritten;		      /* waits for buffers_flush */
	struct buffer_write *writing; /* under way; or NULL */
	struct wall updated;
	bool based;		      /* `base` is set */
	char base[HASH_VERSION_SIZE]; /* version of the file on which unsaved edits are
					 based; "": there was no file */
	struct disk disk;	      /* the file as it was last looked at */
	struct buffer_log log;
	uint64_t serial; /* of the latest edit; from buffers.serial */
	struct buffer_store_file file;
	unsigned sync_round; /* the last one in which commit.c synced it */
	char text[];	     /* of the path */
};

struct buffers {
	struct buffer_store *buffer_store; /* borrowed */
	uint64_t epoch;
	struct pathmap by_path;
	struct buffer *first, *last; /* in the order in which they were made */
	LIST_HEAD(, buffer) unwritten;
	size_t bytes;	 /* of all contents */
	uint64_t serial; /* of the latest edit of any buffer */
};

/* Reads what the buffer store has. 0 or -errno. */
int buffers_init(struct buffers *buffers, struct buffer_store *buffer_store,
	uint64_t epoch) __attribute__((warn_unused_result));
void buffers_fini(struct buffers *buffers);

struct buffer *buffers_find(const struct buffers *buffers, struct str path);

/*
 * Sets the content of a buffer, which is made if there is none. The caller then sets what
 * else changed and calls buffers_changed. If there are too many buffers or too many bytes,
 * clean buffers of other files are dropped, the oldest first. NULL if that is not enough;
 * then nothing changes.
 */
struct buffer *buffers_set(struct buffers *buffers, struct str path, struct str content);
/* The same for a content whose UTF-16 code units are already counted. */
struct buffer *buffers_set_counted(
	struct buffers *buffers, struct str path, struct str content, int64_t chars);
/* The same without copying or counting: takes over the memory of `content`, which has
 * `chars` UTF-16 code units, unless the result is NULL. */
struct buffer *buffers_take(
	struct buffers *buffers, struct str path, struct buf *content, int64_t chars);
/* True if `len` bytes fit without dropping another buffer; `buffer`: the one they are for, or
 * NULL. */
bool buffers_fit(const struct buffers *buffers, const struct buffer *buffer, size_t len);
/* Number of lines (lines.h), counted once for each content. */
int64_t buffers_lines(struct buffer *buffer);
/* Notes the version of the file that the edits are based on. */
void buffers_base(struct buffer *buffer, const char version[HASH_VERSION_SIZE]);
/* Marks the buffer for the next flush. */
void buffers_changed(struct buffers *buffers, struct buffer *buffer);

/* Removes a buffer and its copy in the buffer store. */
void buffers_remove(struct buffers *buffers, struct buffer *buffer);

/*
 * Writes the changed buffers: BUFFERS_AT_ONCE_BYTES of them, and appends to `beside` those that
 * are left to buffers_write. 0, or -errno of the first that failed; the next flush tries
 * those again. None may be under way.
 */
int buffers_flush(struct buffers *buffers, struct buffer_writes *beside)
	__attribute__((warn_unused_result));
/* Writes these; on any thread, while the buffers are in use. */
void buffers_write(struct buffer_writes *writes);
/* On the loop behind it; takes them. As buffers_flush. A buffer that has changed since is to
 * be written again. */
int buffers_written(struct buffers *buffers, struct buffer_writes *writes)
	__attribute__((warn_unused_result));
