/*
 * sources.h - what is carried, and the statement that writes a batch of it.
 *
 * A batch is one statement, which PostgreSQL does whole or not at all: the rows come as one parameter of JSON, and the position
 * moves with them. Rows that are there are left alone, so a batch may be sent again whatever became of it the first time. Pure.
 */
#pragma once

#include "common/base/buf.h"
#include "proto/codec/messages.h"

#define SOURCE_COUNT (MIRROR_ASSESSMENTS + 1)
/* Of paige.schema_version, as schema.sql makes it. */
#define SCHEMA_VERSION 1

/* Its name, which is that of its table. */
const char *source_name(int source);
/* Whether rows of it never change, so that there is a position. Those of others are all looked at now and then. */
bool source_is_log(int source);
/*
 * Appends the statement. Its parameters: $1 the rows, a JSON array; $2 the origin; of a log also $3 and $4, number and id of the
 * last row of the batch.
 */
void source_statement(int source, struct buf *sql);

/*
 * Appends a statement that declares the cursor `came` for all rows of the learner that PostgreSQL has of a source, each as one text of
 * JSON as it was sent. They come in the order of their numbers, and those of an earlier origin first; of assessments the last of a skill.
 */
void source_query(int source, struct buf *sql);

/* A batch, ready to be sent. */
struct batch {
	struct buf rows; /* JSON array of the rows that are right, ended by NUL */
	size_t count;	 /* of them */
	size_t damaged; /* rows that were left out: a value is missing, of another type, or out of its bounds */
	int64_t last; /* number of the last row, also when that was left out; 0: there was no row */
	char last_id[65]; /* its id */
};

/* Makes a batch of the rows that the store gave. Free it with batch_free. */
void batch_make(int source, yyjson_val *rows, struct batch *batch);
void batch_free(struct batch *batch);
