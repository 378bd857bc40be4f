/*
 * buffer_store.h - the buffers' copy on disk: DATA_DIR/buffers/<hash of the path>.buffer
 *
 * A file holds up to four records of one buffer, each in a slot of its own. The valid record
 * (by checksum) with the highest number counts. A new record goes into a slot that holds
 * neither the latest record nor one that was synced or is being synced. So a process that is
 * killed while it writes loses nothing that was written before, and after a power failure
 * the last synced record is still there.
 *
 * A record is a header, the base version (older records, with another magic, have none), path
 * and content. Slots lie BUFFER_STORE_SLOT_BYTES apart; the file is sparse. Only one process
 * writes it.
 */
#pragma once

#include "common/base/clock.h"
#include "common/base/str.h"
#include "workers/fswatch/buffers/buffer_log.h"
#include "workers/fswatch/disk/hash.h"

#define BUFFER_STORE_SLOTS 4
#define BUFFER_STORE_SLOT_BYTES (16u * 1024 * 1024)
#define BUFFER_STORE_MAX_PATH 8192
#define BUFFER_STORE_MAX_CONTENT (12u * 1024 * 1024)
#define BUFFER_STORE_OPEN_FILES 64

struct buffer_store_record {
	struct str path;
	struct str content;
	int64_t line, column; /* of the cursor */
	bool dirty;
	struct wall updated;
	uint64_t epoch; /* of the daemon that wrote it */
	int64_t chars;	/* of the content, UTF-16 code units */
	struct buffer_log log;
	bool based;
	const char *base; /* version of the file that the edits are based on; "": none.
			     Counts when `based` */
};

/* Before path and content (buffer_store.c). */
struct buffer_store_header {
	char magic[8];
	uint64_t number;
	uint64_t epoch;
	uint32_t path_bytes;
	uint32_t content_bytes;
	int64_t line, column;
	int64_t updated_us;
	int64_t chars;
	int64_t logged_chars, edits;
	uint32_t dirty, unused; /* `unused` of this version, whatever is there */
	struct hash_sum sum;
};

/* A record on its way to the disk. */
struct buffer_store_write {
	struct buffer_store_header header;
	char base[HASH_VERSION_SIZE - 1];
	struct str path, content; /* borrowed */
	int fd;			  /* borrowed */
	int slot;
};

/* The records of one buffer on disk. See buffer_store_file_init. */
struct buffer_store_file {
	char name[48];
	uint64_t number;	   /* of the latest record; 0: none yet */
	int last, synced, syncing; /* slots, or -1 */
	int fd;			   /* -1: closed */
	bool unsynced;		   /* a power failure may lose the latest record */
};

struct buffer_store {
	int dir_fd;
	struct buffer_store_file
		*open[BUFFER_STORE_OPEN_FILES]; /* the next to be closed at open_at */
	size_t open_at;
};

/* Makes DATA_DIR/buffers with mode 0700 when it is missing. 0 or -errno. */
int buffer_store_open(struct buffer_store *buffer_store, const char *data_dir)
	__attribute__((warn_unused_result));
void buffer_store_close(struct buffer_store *buffer_store);

void buffer_store_file_init(struct buffer_store_file *file, struct str path);
/* Closes the descriptor; the records stay. */
void buffer_store_file_fini(
	struct buffer_store *buffer_store, struct buffer_store_file *file);

/*
 * Writes a record and makes it the latest, in three steps: 0, or -errno and the record before
 * it still counts. buffer_store_begin gives it its place (-EFBIG: path or content exceed the limits);
 * buffer_store_put, on any thread, sums it up and writes it, which takes its time when it is
 * long; buffer_store_put_done makes it the latest. One write of a file is under way at a time,
 * and it is not removed meanwhile.
 */
int buffer_store_begin(struct buffer_store *buffer_store, struct buffer_store_file *file,
	const struct buffer_store_record *record, struct buffer_store_write *write)
	__attribute__((warn_unused_result));
int buffer_store_put(struct buffer_store_write *write)
	__attribute__((warn_unused_result));
void buffer_store_put_done(
	struct buffer_store_file *file, const struct buffer_store_write *write);
/* Removes all records of a buffer. 0 or -errno; no file is no error. */
int buffer_store_remove(struct buffer_store *buffer_store, struct buffer_store_file *file)
	__attribute__((warn_unused_result));

/* Returns a descriptor with which another thread can sync the latest record, or -errno. Its
 * slot is not reused before buffer_store_synced. */
int buffer_store_sync_start(struct buffer_store *buffer_store,
	struct buffer_store_file *file) __attribute__((warn_unused_result));
void buffer_store_synced(struct buffer_store_file *file, bool success);

/*
 * Reads all stored buffers. `record` is borrowed during the call. A file without a valid
 * record is renamed to <name>.broken, with a warning. 0 or -errno.
 */
int buffer_store_load(struct buffer_store *buffer_store,
	void (*loaded)(void *arg, const struct buffer_store_record *record,
		const struct buffer_store_file *file),
	void *arg) __attribute__((warn_unused_result));
