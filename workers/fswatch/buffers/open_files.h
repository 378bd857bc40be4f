/*
 * open_files.h - the files that are open in the editor, in the order in which they were
 * opened (FR-070). Every change is a record in the journal, so a crash loses none.
 */
#pragma once

#include "workers/fswatch/buffers/journal.h"
#include "workers/fswatch/disk/hash.h"
#include "workers/fswatch/disk/pathmap.h"

#define OPEN_FILES_MAX 10000

struct open_file {
	struct open_file *next, *previous;
	int64_t chars; /* length when it was opened, UTF-16 code units (P4.7) */
	char version[HASH_VERSION_SIZE]; /* that windows last got or saved; "": not
					    known since this process started */
	struct str path;
	char text[];
};

/* Zero with a journal (borrowed) is a valid empty set. */
struct open_files {
	struct journal *journal;
	struct pathmap by_path;
	struct open_file *first, *last;
};

/* Adds a file at the end, or leaves it where it is if it is open already. False when
 * OPEN_FILES_MAX files are open. */
bool open_files_add(struct open_files *files, struct str path, int64_t chars);
/* False when it was not open. */
bool open_files_remove(struct open_files *files, struct str path);
/* Notes which version of an open file the windows have. */
void open_files_version(
	struct open_files *files, struct str path, const char version[HASH_VERSION_SIZE]);
const struct open_file *open_files_find(const struct open_files *files, struct str path);
/* Adds the whole set to a journal that is being rewritten. */
void open_files_record(const struct open_files *files);
/* Takes a record that was read from the journal: JOURNAL_OPEN, _CLOSE or _CLEAR. */
void open_files_restore(
	struct open_files *files, enum journal_type type, struct str data);
void open_files_fini(struct open_files *files);
