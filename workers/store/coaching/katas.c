/*
 * katas.c - katas, for the reviewer and for the learner, and the attempts at them (FR-154,
 * FR-157, FR-158; P2.4, P11.3 to P11.7).
 *
 * An attempt is read, appended and written in one transaction, so two at once are both
 * kept.
 */
#include "common/base/utf8.h"
#include "proto/codec/messages.h"
#include "workers/store/db/json_text.h"
#include "workers/store/service/row_ids.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"

/* Constraints are objects; a title alone, as older rows have it, stands for one of level
 * 1 (P2.3). What is neither is left out. In the arena. */
static struct kata_constraint *read_constraints(
	struct arena *arena, struct str text, size_t *count)
{
	struct strs titles = json_read_strings(arena, text);
	size_t objects;
	struct kata_constraint *found =
		json_read_objects(arena, kata_constraint_type(), text, &objects);
	struct kata_constraint *items =
		arena_array(arena, objects + titles.count, sizeof(*items));

	for (size_t i = 0; i < titles.count; i++)
		items[i] = (struct kata_constraint){.title = titles.items[i],
			.description = titles.items[i],
			.min_level = 1,
			.has_min_level = true};
	for (size_t i = 0; i < objects; i++)
		items[titles.count + i] = found[i];
	*count = titles.count + objects;
	return items;
}

/* 1 with *out in the arena, 0 there is none, or -errno. */
static int read_kata(
	struct store *store, struct call *call, struct str id, struct kata *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_KATA_GET);
	int found;

	query_text(query, 1, id);
	found = query_step(&store->db, query);
	if (found != 1)
		return found;
	*out = (struct kata){
		.id = query_column(query, 0, call->arena),
		.title = query_column(query, 1, call->arena),
		.description = query_column(query, 2, call->arena),
		.instructor_notes = query_column(query, 3, call->arena),
		.attempts = {.raw = query_column(query, 5, call->arena)},
		.topic = query_column(query, 6, call->arena),
	};
	out->constraints.items = read_constraints(call->arena,
		query_column(query, 4, call->arena), &out->constraints.count);
	return 1;
}

static int no_kata(struct call *call)
{
	return call_refuse(call, ERROR_NOT_FOUND, "Kata not found");
}

int kata_get(struct store *store, struct call *call)
{
	const struct kata_query *request = call->message;
	struct kata kata;
	int found = read_kata(store, call, request->kata_id, &kata);

	if (found < 0)
		return found;
	if (found == 0)
		return no_kata(call);
	call_answer(call, &kata);
	return 0;
}

/* ---- for the learner ---- */

/* What practice_attempt in proto/catalogue/server.def promises. */
#define OPENED_ATTEMPTS 20
#define OPENED_CODE_BYTES 16384
#define OPENED_REVIEW_BYTES 8192
#define OPENED_TITLES 20
#define OPENED_TITLE_BYTES 200

/* The beginning of a text, in the arena; absent where there is no text. */
static struct str beginning(
	struct arena *arena, yyjson_val *val, size_t max_bytes, bool *was_cut)
{
	const struct str text = proto_str(val);
	struct str kept;

	if (!text.ptr)
		return text;
	kept = utf8_cut(text, max_bytes);
	*was_cut = kept.len < text.len;
	return arena_str(arena, kept);
}

/* They are titles, or objects that have one (P2.4). */
static struct strs read_titles(struct arena *arena, yyjson_val *constraints)
{
	struct strs titles = {
		.items = arena_array(arena, OPENED_TITLES, sizeof(struct str))};
	yyjson_arr_iter iter = yyjson_arr_iter_with(constraints);
	yyjson_val *item;
	bool was_cut;

	while (titles.count < OPENED_TITLES && (item = yyjson_arr_iter_next(&iter))) {
		struct str title = beginning(arena,
			yyjson_is_obj(item) ? yyjson_obj_get(item, "title") : item,
			OPENED_TITLE_BYTES, &was_cut);

		if (title.ptr)
			titles.items[titles.count++] = title;
	}
	return titles;
}

/* Rows may be older, or written by another program: what is not as it should be is left
 * out. False: it cannot be read. */
static bool read_attempt(
	struct arena *arena, struct str text, struct practice_attempt *out)
{
	struct proto_error error;
	AUTO_DOC *doc = proto_parse(text, &error);
	yyjson_val *root = yyjson_doc_get_root(doc), *level, *passed;

	if (!root)
		return false;
	level = yyjson_obj_get(root, "level");
	passed = yyjson_obj_get(root, "passed");
	out->code = beginning(
		arena, yyjson_obj_get(root, "code"), OPENED_CODE_BYTES, &out->code_cut);
	out->has_code_cut = out->code_cut;
	if (!out->code.ptr)
		out->code = STR_LIT("");
	out->review = beginning(arena, yyjson_obj_get(root, "review"),
		OPENED_REVIEW_BYTES, &out->review_cut);
	out->has_review_cut = out->review_cut;
	out->level = yyjson_get_sint(level);
	out->has_level = yyjson_is_int(level) && out->level >= 1 && out->level <= 10;
	out->passed = yyjson_get_bool(passed);
	out->has_passed = yyjson_is_bool(passed);
	out->constraints = read_titles(arena, yyjson_obj_get(root, "constraints"));
	return true;
}

static int read_last_attempts(struct store *store, struct call *call, struct str kata_id,
	struct practice_kata_load *answer)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_KATA_LAST_ATTEMPTS);
	int found;

	query_text(query, 1, kata_id);
	sqlite3_bind_int64(query, 2, OPENED_ATTEMPTS);
	answer->attempts.items = arena_array(
		call->arena, OPENED_ATTEMPTS, sizeof(*answer->attempts.items));
	while ((found = query_step(&store->db, query)) == 1) {
		struct practice_attempt *attempt =
			&answer->attempts.items[answer->attempts.count];

		*attempt = (struct practice_attempt){
			.number = sqlite3_column_int64(query, 0), .has_number = true};
		answer->attempts.count += read_attempt(
			call->arena, query_column(query, 1, call->arena), attempt);
	}
	return found;
}

/* The notes for the reviewer are not even read (D69). */
int kata_open(struct store *store, struct call *call)
{
	const struct practice_open_kata *request = call->message;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_KATA_OPEN);
	struct practice_kata_load answer = {.has_kata = true};
	int found;

	query_text(query, 1, request->kata_id);
	found = query_step(&store->db, query);
	if (found < 0)
		return found;
	if (found == 0)
		return call_refuse(call, ERROR_NOT_FOUND,
			"kataId \"%.*s\": there is no such kata. dashboard:request tells "
			"which there are.",
			STR_ARG(request->kata_id));
	answer.kata = (struct practice_kata){
		.id = query_column(query, 0, call->arena),
		.title = query_column(query, 1, call->arena),
		.description = query_column(query, 2, call->arena),
		.scaffolding_code = query_column(query, 3, call->arena),
	};
	answer.constraints.items = read_constraints(call->arena,
		query_column(query, 4, call->arena), &answer.constraints.count);
	answer.attempts_count = sqlite3_column_int64(query, 5);
	answer.has_attempts_count = true;
	found = read_last_attempts(store, call, request->kata_id, &answer);
	if (found < 0)
		return found;
	call_answer(call, &answer);
	return 0;
}

/* ---- attempts ---- */

/* An attempt as it stands in user_attempts. */
static struct str attempt_text(struct call *call, const struct kata_attempt *request)
{
	return call_encode(call, stored_attempt_type(),
		&(struct stored_attempt){.code = request->code,
			.review = request->review,
			.level = request->level,
			.has_level = true,
			.passed = request->passed,
			.has_passed = true,
			.constraints = request->constraints});
}

/* What the attempts so far say: the best level, and the last one as JSON text (absent
 * without any). */
static int read_attempts(struct store *store, struct call *call, struct str kata_id,
	bool without_last, int64_t *best, struct str *last)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_KATA_ATTEMPTS);
	int found;

	query_text(query, 1, kata_id);
	*best = 0;
	*last = (struct str){0};
	while ((found = query_step(&store->db, query)) == 1) {
		int64_t level = sqlite3_column_int64(query, 1);

		if (without_last && sqlite3_column_int(query, 2))
			continue;
		if (level > *best)
			*best = level;
		*last = query_column(query, 0, call->arena);
	}
	/* With none, constraints of level 1 are open from the start (P11.3). */
	if (*best == 0)
		*best = 1;
	return found;
}

/*
 * Was this very attempt kept by the process before this one, which was killed before it
 * could say so? An attempt has no place for an id, so: the call was made before this
 * process began, and the last attempt is the same to the byte.
 */
static bool kept_before(
	const struct store *store, struct call *call, struct str last, struct str attempt)
{
	struct wall made;

	return row_key_time(call->key, &made) == 0 && made.us < store->started.us &&
	       str_eq(last, attempt);
}

static int append_attempt(struct store *store, struct str kata_id, struct str attempt)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_KATA_APPEND_ATTEMPT);

	query_text(query, 1, kata_id);
	query_text(query, 2, attempt);
	return query_run(&store->db, query);
}

/* Constraints between the best level so far and the new one (P11.4). */
static void answer_attempt(struct call *call, const struct kata *kata,
	const struct kata_attempt *request, int64_t best)
{
	struct kata_attempted answer = {.previous_best = best, .has_previous_best = true};

	answer.unlocked.items = arena_array(
		call->arena, kata->constraints.count, sizeof(*answer.unlocked.items));
	for (size_t i = 0; i < kata->constraints.count; i++) {
		const struct kata_constraint *c = &kata->constraints.items[i];

		if (c->min_level <= request->level && c->min_level > best)
			answer.unlocked.items[answer.unlocked.count++] = *c;
	}
	call_answer(call, &answer);
}

int kata_attempt(struct store *store, struct call *call)
{
	const struct kata_attempt *request = call->message;
	struct str attempt = attempt_text(call, request), last;
	struct kata kata;
	int64_t best;
	int result = read_kata(store, call, request->kata_id, &kata);

	if (result == 0)
		return no_kata(call);
	if (result > 0)
		result =
			read_attempts(store, call, request->kata_id, false, &best, &last);
	if (result < 0)
		return result;
	if (kept_before(store, call, last, attempt))
		result = read_attempts(store, call, request->kata_id, true, &best, &last);
	else
		result = append_attempt(store, request->kata_id, attempt);
	if (result < 0)
		return result;
	answer_attempt(call, &kata, request, best);
	return 0;
}
