/*
 * open_calls.h - calls to Claude that began and were not ended yet.
 *
 * A call costs money from its first moment, and a llm worker that is killed in the middle
 * can log nothing. So each call is noted before it begins, in memory and in a small file
 * beside the database, and what its maker did not end is logged as failed by the next llm
 * worker (EC-19). Not a table: paige.db has ten. The file is appended to and emptied when
 * nothing is open.
 */
#pragma once

#include "common/base/ids.h"
#include "common/base/str.h"

#define OPEN_CALLS_FILE "api-calls"
/* More than this are not noted; the flows make a handful at a time. */
#define OPEN_CALLS_MAX 1024

struct open_call {
	char key[UUID_SIZE];
	char *row; /* JSON of type api_call */
	size_t row_len;
};

/* Zero is none. */
struct open_calls {
	char *path;
	struct open_call *items;
	size_t count;
};

/* Reads what an earlier process noted in `directory`. 0 or -errno; a line that cannot be
 * read is skipped. */
int open_calls_load(struct open_calls *calls, const char *directory)
	__attribute__((warn_unused_result));
/* Notes a call; the same key again changes nothing. 0, -ENOSPC for too many, or -errno of
 * the file, with the call noted in memory all the same. */
int open_calls_begin(struct open_calls *calls, struct str key, struct str row)
	__attribute__((warn_unused_result));
void open_calls_end(struct open_calls *calls, struct str key);
void open_calls_clear(struct open_calls *calls);
void open_calls_fini(struct open_calls *calls);
