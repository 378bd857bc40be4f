/*
 * rows.c - makes a paige.db of what the mirror has of a learner (archive.h). The rows are believed as little as an archive: each is
 * decoded by its type.
 */
#include "common/base/alloc.h"
#include "proto/codec/messages.h"
#include "workers/store/archive/archive.h"
#include "workers/store/db/inspect.h"
#include "workers/store/db/statements.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Twice what paige-mirror puts into one. */
#define LINE_BYTES (4 * 1024 * 1024)

static const struct source {
	const struct type *(*type)(void);
	int statement;
	const char *many; /* for people */
} sources[] = {
	[MIRROR_ACTIONS] = {mirror_actions_type, STATEMENT_BRING_ACTION, "actions"},
	[MIRROR_API_CALLS] = {mirror_api_calls_type, STATEMENT_BRING_API_CALL,
		"calls to Claude"},
	[MIRROR_SESSIONS] = {mirror_sessions_type, STATEMENT_BRING_SESSION, "sessions"},
	[MIRROR_PHASES] = {mirror_phases_type, STATEMENT_BRING_PHASE, "phases"},
	[MIRROR_ASSESSMENTS] = {mirror_assessments_type, STATEMENT_BRING_ASSESSMENT,
		"assessments"},
};
#define SOURCES (sizeof(sources) / sizeof(sources[0]))

struct bringing {
	struct database db;
	struct str project_dir;
	int64_t brought[SOURCES], left_out;
	bool whole;
	struct error_text *problem;
};

static int refuse(struct bringing *b, const char *why)
{
	error_text_set(b->problem, "What PostgreSQL has cannot be used: %s", why);
	return -EUCLEAN;
}

/* The number of rows written, or -errno. */
static int write_row(struct bringing *b, int source, int statement, struct str row)
{
	AUTO_QUERY *query = query_begin(&b->db, statement);
	int result;

	query_text(query, 1, row);
	if (source == MIRROR_SESSIONS)
		query_text(query, 2, b->project_dir);
	result = query_run(&b->db, query);
	if (result < 0 && (sqlite3_errcode(b->db.handle) & 0xff) == SQLITE_CONSTRAINT)
		return refuse(b, sqlite3_errmsg(b->db.handle));
	if (result < 0)
		database_error_text(&b->db, b->problem);
	return result;
}

/* A row; of a phase its plan before it. One whose session is not there is left out: it is sent ahead of that. */
static int bring_row(struct bringing *b, int source, yyjson_val *row)
{
	AUTO_FREE char *text = alloc_checked(yyjson_val_write(row, 0, NULL));
	int result = 0;

	if (source == MIRROR_PHASES)
		result = write_row(b, source, STATEMENT_BRING_PLAN, str_of(text));
	if (result >= 0)
		result = write_row(b, source, sources[source].statement, str_of(text));
	if (result > 0)
		b->brought[source]++;
	else if (result == 0)
		b->left_out++;
	return result < 0 ? result : 0;
}

static int bring_rows(struct bringing *b, const struct mirror_part *part)
{
	AUTO_ARENA arena = {0};
	struct proto_error error;
	yyjson_val *row;
	size_t i, max;
	int result = 0;

	if ((size_t)part->source >= SOURCES || !sources[part->source].type)
		return refuse(b, "it holds rows that no paige.db has");
	yyjson_arr_foreach(part->rows.val, i, max, row)
	{
		const struct source *source = &sources[part->source];
		const struct type *type = source->type();

		arena_reset(&arena);
		if (proto_decode(type, row, source->many, DECODE_STRICT, &arena,
			    arena_alloc(&arena, type->size), &error) < 0)
			result = refuse(b, error.text);
		else
			result = bring_row(b, part->source, row);
		if (result < 0)
			break;
	}
	return result;
}

static int take_line(struct bringing *b, struct str line)
{
	AUTO_ARENA arena = {0};
	struct proto_error error;
	struct mirror_part part;
	AUTO_DOC *doc = proto_parse(line, &error);
	int result = 0;

	if (!doc || proto_decode(mirror_part_type(), yyjson_doc_get_root(doc), "line",
			    DECODE_STRICT, &arena, &part, &error) < 0) {
		result = refuse(b, error.text);
	} else if (part.problem.ptr) {
		error_text_set(b->problem, "%.*s", STR_ARG(part.problem));
		result = -EIO;
	} else if (part.has_source) {
		result = bring_rows(b, &part);
	}
	b->whole = result == 0 && part.has_whole && part.whole;
	return result;
}

static int take_lines(struct bringing *b)
{
	AUTO_FREE char *line = xmalloc(LINE_BYTES);
	int64_t rows = 0;
	int result = 0;

	/* One that was cut off, or is longer than any, has no end. */
	while (result == 0 && !b->whole && fgets(line, LINE_BYTES, stdin) &&
		strchr(line, '\n'))
		result = take_line(b, str_of(line));
	if (result < 0)
		return result;
	if (!b->whole)
		return refuse(b, "it broke off");
	for (size_t i = 0; i < SOURCES; i++)
		rows += b->brought[i];
	if (!rows) {
		error_text_set(b->problem,
			"PostgreSQL has no rows of this learner. The name of the role in "
			"MIRROR_URL is the name of the learner");
		return -ENOENT;
	}
	return 0;
}

static void say_what_came(const struct bringing *b)
{
	AUTO_BUF text = {0};

	for (size_t i = 0; i < SOURCES; i++)
		if (sources[i].many)
			buf_printf(&text, "%s%lld %s", i ? ", " : "",
				(long long)b->brought[i], sources[i].many);
	if (b->left_out)
		buf_printf(&text,
			"; %lld rows were left out, since PostgreSQL does not have their "
			"session",
			(long long)b->left_out);
	error_text_set(b->problem, "%.*s", STR_ARG(buf_str(&text)));
}

int archive_rows(const char *project_dir, const char *folder, struct error_text *problem)
{
	struct bringing b = {.project_dir = str_of(project_dir), .problem = problem};
	struct inspection found;
	char path[PATH_MAX];
	int result;

	if (snprintf(path, sizeof(path), "%s/paige.db", folder) >= (int)sizeof(path))
		return refuse(&b, "the path of DATA_DIR is too long");
	result = database_open(&b.db, path, &paige_schema, problem);
	if (result < 0)
		return result;
	result = database_execute(&b.db, STATEMENT_BEGIN_WRITE);
	if (result == 0)
		result = take_lines(&b);
	if (result == 0)
		result = database_execute(&b.db, STATEMENT_COMMIT);
	if (result < 0 && !problem->text[0])
		database_error_text(&b.db, problem);
	database_close(&b.db);
	if (result == 0) {
		result = inspect_file(path, &paige_schema, ARCHIVE_CHECK_MS, &found);
		*problem = found.problem;
	}
	if (result == 0)
		say_what_came(&b);
	return result;
}
