/*
 * reading.h - files of the project read for handlers, so that no turn of the loop is long.
 *
 * A long file is read on a thread beside the loop; what is asked of it meanwhile waits, and is
 * served in the turn in which it is there. Nothing is saved to it meanwhile. Of one file one
 * reading is under way at a time. The requests that wait bound how many there are.
 */
#pragma once

#include "workers/fswatch/fswatch.h"

/* A longer file is read beside the loop. */
#define READING_AT_ONCE_BYTES (256 * 1024)

/* Lies first in what is made of a file, from malloc. */
struct reading {
	/* Set by the maker, or NULL. `run` goes on when the file was read or could not be: it
	 * may be on the thread. Then `done` is called on the loop. The whole is freed behind
	 * it, and behind those who wait. */
	void (*run)(struct reading *reading);
	void (*done)(struct reading *reading);
	/* What was read, valid until it is freed. */
	struct file_content content;
	struct disk disk;
	int error; /* 0 or a negative errno or fault (fault.h) */
	/* For reading.c alone. */
	struct job job;
	LIST_ENTRY(reading) link; /* in fswatch.readings */
	struct fswatch *fs;
	bool beside, only_run;
	char key[PATH_KEY_SIZE];
	struct waiters after; /* asked for since */
};

/* Reads the file: within this call, or beside the loop when it is long. */
void reading_begin(struct fswatch *fs, struct reading *reading, const char *key);

/* Only has `run` called beside the loop, and then `done`: the file is not read. What is asked of it
 * meanwhile waits as if it were. */
void reading_run(struct fswatch *fs, struct reading *reading, const char *key);

/*
 * True when a request has to wait until a file is read beside the loop: `fn` serves it then,
 * with reading_look at hand. That is when the file has more than `at_once` bytes and is not as
 * `known` says (NULL: nothing is known), or when it is being read already.
 */
bool reading_first(struct fswatch *fs, const char *key, const struct disk *known,
	size_t at_once, struct bus_request *request, const void *message,
	bus_serve_fn *fn);

/* disk_look, or what reading_first has waited for. `content` is borrowed until the handler
 * returns; it holds the file when `read`. */
int reading_look(struct fswatch *fs, const char *key, struct disk *disk,
	const struct file_content **content, bool *read)
	__attribute__((warn_unused_result));
/* The same for whoever wants the content in any case; -ENOENT when there is no file. */
int reading_content(struct fswatch *fs, const char *key,
	const struct file_content **content) __attribute__((warn_unused_result));

/*
 * True when a request has to wait before the buffer of a file can be shown (fswatch_current,
 * fswatch_conflict): as reading_first.
 */
bool reading_buffer_first(struct fswatch *fs, const char *key, size_t at_once,
	struct bus_request *request, const void *message, bus_serve_fn *fn);
/* The same for whoever reads the file when it has no buffer. */
bool reading_text_first(struct fswatch *fs, const char *key, size_t at_once,
	struct bus_request *request, const void *message, bus_serve_fn *fn);
