/* sources.c - see sources.h. */
#include "workers/mirror/sources.h"
#include "common/base/alloc.h"
#include "common/base/clock.h"
#include <stdio.h>
#include <stdlib.h>

static const struct source {
	const struct type *(*type)(void);
	bool is_log;
	bool changes; /* a row is written anew when it has changed */
} sources[SOURCE_COUNT] = {
	[MIRROR_ACTIONS] = {mirror_actions_type, true, false},
	[MIRROR_API_CALLS] = {mirror_api_calls_type, true, false},
	[MIRROR_GUARD_EVENTS] = {mirror_guard_events_type, true, false},
	[MIRROR_SESSIONS] = {mirror_sessions_type, false, true},
	[MIRROR_PHASES] = {mirror_phases_type, false, true},
	[MIRROR_ASSESSMENTS] = {mirror_assessments_type, false, false},
};

const char *source_name(int source)
{
	return mirror_source_enumeration()->names[source];
}

bool source_is_log(int source)
{
	return sources[source].is_log;
}

/* ---- the statement ---- */

static bool is_time(const struct field *field)
{
	size_t len = strlen(field->wire);

	return strcmp(field->wire, "at") == 0 ||
	       (len > 3 && strcmp(field->wire + len - 3, "_at") == 0);
}

static const char *sql_type(const struct field *field)
{
	if (is_time(field))
		return " timestamptz";
	if (field->kind == FIELD_INT)
		return " bigint";
	return field->kind == FIELD_NUMBER ? " double precision" : " text";
}

/* Appends the columns, `before` in front of each, with their types or without. */
static void add_columns(
	struct buf *sql, const struct type *type, const char *before, bool types)
{
	for (size_t i = 0; i < type->count; i++)
		buf_printf(sql, "%s%s\"%s\"%s", i ? ", " : "", before,
			type->fields[i].wire, types ? sql_type(&type->fields[i]) : "");
}

void source_statement(int source, struct buf *sql)
{
	const struct source *s = &sources[source];
	const struct type *type = s->type();

	buf_printf(sql, "%sINSERT INTO paige.%s AS there (learner, origin, ",
		s->is_log ? "WITH added AS (" : "", source_name(source));
	add_columns(sql, type, "", false);
	buf_printf(sql, ") SELECT current_user, $2::uuid, ");
	add_columns(sql, type, "", false);
	buf_printf(sql, " FROM json_to_recordset($1::json) AS r(");
	add_columns(sql, type, "", true);
	if (s->changes) {
		buf_printf(sql, ") ON CONFLICT (learner, id) DO UPDATE SET (origin, ");
		add_columns(sql, type, "", false);
		buf_printf(sql, ") = (excluded.origin, ");
		add_columns(sql, type, "excluded.", false);
		buf_printf(sql, ") WHERE (");
		add_columns(sql, type, "there.", false);
		buf_printf(sql, ") IS DISTINCT FROM (");
		add_columns(sql, type, "excluded.", false);
		buf_printf(sql, ")");
	} else {
		buf_printf(sql, ") ON CONFLICT DO NOTHING");
	}
	/* Never back: what an earlier process sent may be done after what this one sent. */
	if (s->is_log)
		buf_printf(sql,
			") INSERT INTO paige.positions AS there (learner, origin, "
			"source, number, id) VALUES (current_user, $2::uuid, '%s', "
			"$3::bigint, $4::text) ON CONFLICT (learner, origin, source) DO "
			"UPDATE SET number = excluded.number, id = excluded.id, moved_at "
			"= now() WHERE there.number < excluded.number",
			source_name(source));
	buf_add_char(sql, '\0');
}

/* ---- the way back ---- */

void source_query(int source, struct buf *sql)
{
	const struct type *type = sources[source].type();

	buf_printf(sql, "DECLARE came NO SCROLL CURSOR FOR SELECT json_build_object(");
	for (size_t i = 0; i < type->count; i++) {
		const struct field *field = &type->fields[i];

		buf_printf(sql,
			is_time(field) ? "%s'%s', to_char(t.\"%s\" AT TIME ZONE 'UTC', "
					 "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
				       : "%s'%s', t.\"%s\"",
			i ? ", " : "", field->wire, field->wire);
	}
	buf_printf(sql, ")::text FROM (SELECT ");
	if (source == MIRROR_ASSESSMENTS)
		buf_printf(sql, "DISTINCT ON (skill) ");
	buf_printf(
		sql, "* FROM paige.%s WHERE learner = current_user", source_name(source));
	if (source == MIRROR_ASSESSMENTS)
		buf_printf(sql, " ORDER BY skill, assessed_at DESC");
	/* The server's clock tells which origin came first; within one it is the number. */
	buf_printf(sql,
		") AS t LEFT JOIN (SELECT origin, max(moved_at) AS moved_at FROM "
		"paige.positions WHERE learner = current_user GROUP BY origin) AS o "
		"USING (origin) ORDER BY o.moved_at NULLS FIRST, origin, t.number");
	buf_add_char(sql, '\0');
}

/* ---- the rows ---- */

/* Whether PostgreSQL takes its texts: no NUL, and times that are times. */
static bool has_right_texts(const struct type *type, yyjson_val *row)
{
	for (size_t i = 0; i < type->count; i++) {
		yyjson_val *value = yyjson_obj_get(row, type->fields[i].wire);
		struct str text = {yyjson_get_str(value), yyjson_get_len(value)};
		struct wall time;

		if (!yyjson_is_str(value))
			continue;
		if (memchr(text.ptr, '\0', text.len) ||
			(is_time(&type->fields[i]) && wall_parse(text, &time) < 0))
			return false;
	}
	return true;
}

static bool is_right(const struct type *type, yyjson_val *row, struct arena *arena)
{
	void *out = arena_alloc(arena, type->size);
	struct proto_error error;

	return proto_decode(type, row, "row", DECODE_STRICT, arena, out, &error) == 0 &&
	       has_right_texts(type, row);
}

void batch_make(int source, yyjson_val *rows, struct batch *batch)
{
	const struct type *type = sources[source].type();
	AUTO_ARENA arena = {0};
	yyjson_val *row;
	size_t i, max;

	*batch = (struct batch){0};
	yyjson_arr_foreach(rows, i, max, row)
	{
		const char *id = yyjson_get_str(yyjson_obj_get(row, "id"));
		AUTO_FREE char *text = NULL;

		batch->last = yyjson_get_sint(yyjson_obj_get(row, "number"));
		snprintf(batch->last_id, sizeof(batch->last_id), "%s", id ? id : "");
		arena_reset(&arena);
		if (!is_right(type, row, &arena)) {
			batch->damaged++;
			continue;
		}
		text = alloc_checked(yyjson_val_write(row, 0, NULL));
		buf_add_char(&batch->rows, batch->count++ ? ',' : '[');
		buf_add_str(&batch->rows, str_of(text));
	}
	buf_add_str(&batch->rows, batch->count ? STR_LIT("]") : STR_LIT("[]"));
	buf_add_char(&batch->rows, '\0');
}

void batch_free(struct batch *batch)
{
	buf_free(&batch->rows);
}
