/*
 * requests.h - turns rows of a stream into requests to a model.
 *
 * CONTROL gets the last question and answer; earlier talk is reference.
 * A request to judge a section gets the talk of that section. Pure; called by requests.c.
 */
#pragma once

#include "workers/guard-engine/engine/engine.h"
#include "workers/guard-engine/interview/interview_schema.h"

/* Rows that are read before the event that a request is about. */
#define REQUESTS_ROWS 200
/* Earlier messages that CONTROL is shown, and bytes of each. */
#define REQUESTS_HISTORY 30
#define REQUESTS_HISTORY_TEXT 1000
/* Bytes kept of a text that a model wrote. */
#define REQUESTS_MAX_TEXT 8000
/* Bytes of one line of a transcript. */
#define REQUESTS_LINE 8000

/* How long a model is waited for. A score that does not come must not stall the talk. */
#define REQUESTS_CONTROL_MS 20000
#define REQUESTS_COVERAGE_MS 60000
#define REQUESTS_ASSISTANT_MS 30000

struct request_rows {
	const struct stream_row *rows;
	yyjson_doc **docs; /* of the payloads */
	size_t count;
};

/* Reads the payloads; free with requests_free. The rest is the arena's. */
void requests_read(
	const struct stream_rows *page, struct arena *arena, struct request_rows *out);
void requests_free(struct request_rows *rows);

/* A text of the payload of row `seq`; absent when it is not there. Borrows the rows. */
struct str requests_text(const struct request_rows *rows, int64_t seq, const char *key);

/* False when row `seq` is no answer. */
bool requests_control(const struct request_rows *rows, int64_t seq, struct arena *arena,
	struct control_run *out);

/* What was said in the section, up to row `seq`. */
void requests_coverage(const struct interview_section *section,
	const struct request_rows *rows, int64_t seq, struct arena *arena,
	struct interview_coverage_request *out);
