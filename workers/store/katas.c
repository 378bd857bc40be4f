/* katas.c - katas and the attempts at them (katas.h). */
#include "workers/store/katas.h"
#include "common/log.h"
#include "proto/messages.h"
#include "workers/store/hints.h"
#include "workers/store/rows.h"
#include "workers/store/store.h"
#include <stdlib.h>

#define FIRST_LEVEL 1 /* of who never tried (P11.3) */

enum {
	COLUMN_ID,
	COLUMN_TITLE,
	COLUMN_DESCRIPTION,
	COLUMN_NOTES,
	COLUMN_CONSTRAINTS,
	COLUMN_ATTEMPTS,
	COLUMN_TOPIC
};

/* Rows of one call (row_ids.h). */
enum kata_row { ROW_ATTEMPT, ROW_PROGRESS };

/* Constraints are objects; a title alone, as older rows have it, stands for one of level
 * 1 (P2.3). */
static bool read_constraint(
	yyjson_val *val, struct arena *arena, struct kata_constraint *out)
{
	struct proto_error error;
	struct str title = {yyjson_get_str(val), yyjson_get_len(val)};

	if (yyjson_is_str(val)) {
		title = arena_str(arena, title);
		*out = (struct kata_constraint){.title = title,
			.description = title,
			.min_level = FIRST_LEVEL,
			.has_min_level = true};
		return true;
	}
	if (proto_decode(kata_constraint_type(), val, "constraint", DECODE_LENIENT, arena,
		    out, &error) < 0)
		return false;
	out->title = arena_str(arena, out->title);
	out->description = arena_str(arena, out->description);
	return true;
}

/* Broken JSON and what is no constraint are left out. */
static void read_constraints(struct str json, struct arena *arena,
	struct kata_constraint **items, size_t *count)
{
	yyjson_doc *doc = json.ptr ? yyjson_read(json.ptr, json.len, 0) : NULL;
	yyjson_val *root = yyjson_doc_get_root(doc), *one;
	size_t i, max;

	*items = arena_array(arena, yyjson_arr_size(root) + 1, sizeof(**items));
	*count = 0;
	yyjson_arr_foreach(root, i, max, one) *count +=
		read_constraint(one, arena, &(*items)[*count]);
	yyjson_doc_free(doc);
}

/* The row with its columns as above, begun and at its row. 1, or call refused or failed.
 */
static int find_kata(
	struct store *store, struct call *call, sqlite3_stmt *query, struct str id)
{
	int found;

	query_text(query, 1, id);
	found = query_step(&store->db, query);
	return found == 0 ? call_refuse(call, ERROR_NOT_FOUND, "Kata not found") : found;
}

int kata_get(struct store *store, struct call *call)
{
	const struct kata_query *request = call->message;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_KATA_GET);
	struct kata answer;
	int found = find_kata(store, call, query, request->kata_id);

	if (found < 0)
		return found;
	answer = (struct kata){
		.id = query_column(query, COLUMN_ID, call->arena),
		.title = query_column(query, COLUMN_TITLE, call->arena),
		.description = query_column(query, COLUMN_DESCRIPTION, call->arena),
		.instructor_notes = query_column(query, COLUMN_NOTES, call->arena),
		.attempts = {.raw = query_column(query, COLUMN_ATTEMPTS, call->arena)},
		.topic = query_column(query, COLUMN_TOPIC, call->arena),
	};
	read_constraints(query_column(query, COLUMN_CONSTRAINTS, call->arena),
		call->arena, &answer.constraints.items, &answer.constraints.count);
	call_answer(call, &answer);
	return 0;
}

/* ---- kata.attempt ---- */

static int64_t best_level(yyjson_mut_val *attempts)
{
	int64_t best = 0;
	size_t i, max;
	yyjson_mut_val *attempt;

	yyjson_mut_arr_foreach(attempts, i, max, attempt)
	{
		yyjson_mut_val *level = yyjson_mut_obj_get(attempt, "level");

		if (yyjson_mut_is_num(level) && (int64_t)yyjson_mut_get_num(level) > best)
			best = (int64_t)yyjson_mut_get_num(level);
	}
	return best > 0 ? best : FIRST_LEVEL;
}

static void append_attempt(
	yyjson_mut_doc *doc, yyjson_mut_val *attempts, const struct kata_attempt *a)
{
	yyjson_mut_val *entry = yyjson_mut_arr_add_obj(doc, attempts), *titles;

	yyjson_mut_obj_add_strn(doc, entry, "code", a->code.ptr, a->code.len);
	yyjson_mut_obj_add_strn(doc, entry, "review", a->review.ptr, a->review.len);
	yyjson_mut_obj_add_sint(doc, entry, "level", a->level);
	yyjson_mut_obj_add_bool(doc, entry, "passed", a->passed);
	titles = yyjson_mut_obj_add_arr(doc, entry, "constraints");
	for (size_t i = 0; i < a->constraints.count; i++)
		yyjson_mut_arr_add_strn(doc, titles, a->constraints.items[i].ptr,
			a->constraints.items[i].len);
}

/* The attempts with the new one behind them, as text; *previous_best is of those before.
 */
static struct str add_attempt(struct call *call, struct str json,
	const struct kata_attempt *a, int64_t *previous_best)
{
	yyjson_doc *old = json.ptr ? yyjson_read(json.ptr, json.len, 0) : NULL;
	yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
	yyjson_mut_val *attempts =
		yyjson_is_arr(yyjson_doc_get_root(old))
			? yyjson_val_mut_copy(doc, yyjson_doc_get_root(old))
			: yyjson_mut_arr(doc);
	struct str result = {NULL, 0};
	size_t len;
	char *text;

	*previous_best = best_level(attempts);
	append_attempt(doc, attempts, a);
	yyjson_mut_doc_set_root(doc, attempts);
	text = yyjson_mut_write(doc, 0, &len);
	if (text)
		result = arena_str(call->arena, (struct str){text, len});
	free(text);
	yyjson_mut_doc_free(doc);
	yyjson_doc_free(old);
	return result;
}

/* What the new level reaches and the best one before did not (P11.4). */
static void unlock(struct kata_attempted *answer, int64_t level, struct arena *arena,
	const struct kata_constraint *items, size_t count)
{
	answer->unlocked.items = arena_array(arena, count + 1, sizeof(*items));
	for (size_t i = 0; i < count; i++)
		if (items[i].min_level <= level &&
			items[i].min_level > answer->previous_best)
			answer->unlocked.items[answer->unlocked.count++] = items[i];
}

static int set_attempts(struct store *store, struct str kata_id, struct str attempts)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_KATA_SET_ATTEMPTS);

	query_text(query, 1, kata_id);
	query_text(query, 2, attempts);
	return query_run(&store->db, query);
}

int kata_attempt(struct store *store, struct call *call)
{
	const struct kata_attempt *request = call->message;
	struct kata_attempted answer = {.has_previous_best = true};
	struct kata_constraint *constraints;
	struct str attempts, json;
	size_t count;
	int result;
	{
		AUTO_QUERY *query = query_begin(&store->db, STATEMENT_KATA_GET);

		result = find_kata(store, call, query, request->kata_id);
		if (result < 0)
			return result;
		json = query_column(query, COLUMN_ATTEMPTS, call->arena);
		read_constraints(query_column(query, COLUMN_CONSTRAINTS, call->arena),
			call->arena, &constraints, &count);
	}
	attempts = add_attempt(call, json, request, &answer.previous_best);
	if (!attempts.ptr)
		return call_refuse(call, ERROR_INTERNAL_ERROR,
			"The attempt could not be written as JSON");
	result = set_attempts(store, request->kata_id, attempts);
	if (result >= 0 && request->passed)
		result = progress_record(store, call, ROW_PROGRESS, "review_passed",
			kata_query_type(),
			&(struct kata_query){.kata_id = request->kata_id});
	if (result < 0)
		return result;
	unlock(&answer, request->level, call->arena, constraints, count);
	call_answer(call, &answer);
	return 0;
}
