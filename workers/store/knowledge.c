/* knowledge.c - what a wrap-up looks at and leaves behind (knowledge.h). */
#include "workers/store/knowledge.h"
#include "common/buf.h"
#include "proto/messages.h"
#include "workers/store/phases.h"
#include "workers/store/rows.h"
#include "workers/store/store.h"
#include <strings.h>

/* The newest rows that a model is shown. */
#define ACTIONS_SHOWN "2000"

/* ---- wrap_up.context ---- */

/* How the need for hints moves from session to session (P9.7). */
static const char *hint_trend(const int64_t *hints, size_t count)
{
	double mean = 0;

	if (count < 2)
		return "stable";
	for (size_t i = 0; i + 1 < count; i++)
		mean += (double)hints[i] / (double)(count - 1);
	if ((double)hints[count - 1] > mean)
		return "increasing";
	return (double)hints[count - 1] < mean ? "decreasing" : "stable";
}

static int read_hints(
	struct store *store, struct call *call, int64_t **hints, size_t *count)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_SESSION_HINTS);
	size_t room = 0;
	int found;

	*count = 0;
	while ((found = query_step(&store->db, query)) == 1) {
		rows_grow(call->arena, (void **)hints, &room, *count, sizeof(**hints));
		(*hints)[(*count)++] = sqlite3_column_int64(query, 0);
	}
	return found;
}

static int completion_rate(struct store *store, double *rate)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_COMPLETION_RATE);
	int found = query_step(&store->db, query);

	if (found == 1)
		*rate = sqlite3_column_double(query, 0);
	return found < 0 ? found : 0;
}

/* One entry for each skill that is assessed already; the history is the learner's, not
 * the skill's. */
static int evidence(struct store *store, struct call *call, struct str *out)
{
	AUTO_QUERY *skills = query_begin(&store->db, STATEMENT_DREYFUS_CONTEXT);
	int64_t *hints = NULL;
	struct buf text = {0};
	size_t sessions = 0;
	double rate = 0;
	int found = read_hints(store, call, &hints, &sessions);

	if (found >= 0)
		found = completion_rate(store, &rate);
	buf_add_char(&text, '[');
	while (found >= 0 && (found = query_step(&store->db, skills)) == 1) {
		buf_add_str(&text, text.len > 1 ? STR_LIT(",{\"skill_area\":")
						: STR_LIT("{\"skill_area\":"));
		buf_add_json_string(&text, query_column(skills, 0, call->arena));
		buf_printf(&text,
			",\"sessions\":%zu,\"hint_trend\":\"%s\",\"completion_rate\":%."
			"4g}",
			sessions, hint_trend(hints, sessions), rate);
	}
	buf_add_char(&text, ']');
	*out = arena_str(call->arena, buf_str(&text));
	buf_free(&text);
	return found;
}

static int figures(struct store *store, struct str plan_id, struct recent_session *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PLAN_FIGURES);
	int found;

	query_text(query, 1, plan_id);
	found = query_step(&store->db, query);
	if (found == 1)
		*out = (struct recent_session){
			.phases_completed = sqlite3_column_int64(query, 0),
			.hints_used = sqlite3_column_int64(query, 1),
			.independent_completions = sqlite3_column_int64(query, 2)};
	out->has_phases_completed = out->has_hints_used =
		out->has_independent_completions = true;
	return found < 0 ? found : 0;
}

static int read_json(struct store *store, struct call *call, enum statement which,
	struct str first, struct json *out)
{
	return rows_json(
		&store->db, which, first, STR_LIT(ACTIONS_SHOWN), call->arena, &out->raw);
}

int wrap_up_context(struct store *store, struct call *call)
{
	const struct wrap_up_query *request = call->message;
	struct wrap_up_context answer = {.has_recent_session = true};
	struct str plan_id = {NULL, 0};
	int result = plan_current(store, call, &plan_id);

	if (result >= 0)
		result = read_json(store, call, STATEMENT_ACTIONS_FOR_MODEL,
			request->session_id, &answer.action_log);
	if (result >= 0)
		result = read_json(
			store, call, STATEMENT_PHASES_FOR_MODEL, plan_id, &answer.phases);
	if (result >= 0)
		result = read_json(store, call, STATEMENT_PHASES_DONE_FOR_MODEL, plan_id,
			&answer.completed_phases);
	if (result >= 0)
		result = read_json(store, call, STATEMENT_GAPS_FOR_MODEL, plan_id,
			&answer.existing_gaps);
	if (result >= 0)
		result = read_json(store, call, STATEMENT_DREYFUS_FOR_MODEL, plan_id,
			&answer.current_assessments);
	if (result >= 0)
		result = evidence(store, call, &answer.accumulated_evidence.raw);
	if (result >= 0)
		result = figures(store, plan_id, &answer.recent_session);
	if (result < 0)
		return result;
	call_answer(call, &answer);
	return 0;
}

/* ---- gaps.store ---- */

/* A gap of this call, with the id that katas refer to. */
struct kept_gap {
	struct str topic;
	struct str id;
};

/* Counts a known topic, inserts a new one (P2.10). 1 new, 0 known, or -errno. */
static int keep_gap(struct store *store, struct call *call,
	const struct gaps_store *request, unsigned row, const struct found_gap *gap,
	struct kept_gap *kept)
{
	AUTO_QUERY *known = query_begin(&store->db, STATEMENT_GAP_FIND);
	const char *severity = urgency_enumeration()->names[gap->severity];
	struct str concepts = rows_strings_text(gap->related_concepts, call->arena);
	char id[UUID_SIZE], now[WALL_ISO_SIZE];
	int found, changed;

	call_time(call, now);
	call_row_id(call, row, id);
	kept->topic = gap->topic;
	query_text(known, 1, gap->topic);
	found = query_step(&store->db, known);
	if (found < 0)
		return found;
	kept->id = found == 1 ? query_column(known, 0, call->arena)
			      : arena_str(call->arena, str_of(id));
	if (found == 1 && str_is(kept->id, id))
		return 1; /* this very call was done before */
	AUTO_QUERY *write = query_begin(
		&store->db, found == 1 ? STATEMENT_GAP_COUNT : STATEMENT_GAP_INSERT);

	query_text(write, 1, kept->id);
	if (found == 1) {
		query_text(write, 2, str_of(severity));
		query_text(write, 3, gap->evidence);
		query_text(write, 4, concepts);
		query_text(write, 5, str_of(now));
	} else {
		query_text(write, 2, request->session_id);
		query_text(write, 3, gap->topic);
		query_text(write, 4, str_of(severity));
		query_text(write, 5, gap->evidence);
		query_text(write, 6, concepts);
		query_text(write, 7, str_of(now));
	}
	changed = query_run(&store->db, write);
	return changed < 0 ? changed : found != 1;
}

/* The gap that the kata names, else the one at its place (P9.4). */
static struct str gap_of(const struct kata_store *kata, size_t place,
	const struct kept_gap *gaps, size_t count)
{
	for (size_t i = 0; kata->topic.len > 0 && i < count; i++)
		if (gaps[i].topic.len == kata->topic.len &&
			strncasecmp(
				gaps[i].topic.ptr, kata->topic.ptr, kata->topic.len) == 0)
			return gaps[i].id;
	return gaps[place % count].id;
}

static struct str constraints_text(struct call *call, const struct kata_store *kata)
{
	struct buf text = {0};
	struct str result;

	buf_add_char(&text, '[');
	for (size_t i = 0; i < kata->constraints.count; i++) {
		if (i)
			buf_add_char(&text, ',');
		proto_encode(kata_constraint_type(), &kata->constraints.items[i], &text);
	}
	buf_add_char(&text, ']');
	result = arena_str(call->arena, buf_str(&text));
	buf_free(&text);
	return result;
}

static int keep_kata(struct store *store, struct call *call, unsigned row,
	const struct kata_store *kata, struct str gap_id)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_KATA_INSERT);
	char id[UUID_SIZE];

	call_row_id(call, row, id);
	query_text(query, 1, str_of(id));
	query_text(query, 2, gap_id);
	query_text(query, 3, kata->title);
	query_text(query, 4, kata->description);
	query_text(query, 5, kata->scaffolding_code);
	query_text(query, 6, kata->instructor_notes);
	query_text(query, 7, constraints_text(call, kata));
	return query_run(&store->db, query);
}

int gaps_store(struct store *store, struct call *call)
{
	const struct gaps_store *request = call->message;
	struct gaps_stored answer = {.has_new_gaps = true, .has_katas = true};
	struct kept_gap *kept =
		arena_array(call->arena, request->gaps.count + 1, sizeof(*kept));
	unsigned row = 0;

	for (size_t i = 0; i < request->gaps.count; i++) {
		int result = keep_gap(
			store, call, request, row++, &request->gaps.items[i], &kept[i]);

		if (result < 0)
			return result;
		answer.new_gaps += result;
	}
	for (size_t i = 0; request->gaps.count > 0 && i < request->katas.count; i++) {
		const struct kata_store *kata = &request->katas.items[i];
		int result = keep_kata(store, call, row++, kata,
			gap_of(kata, i, kept, request->gaps.count));

		if (result < 0)
			return result;
		answer.katas++;
	}
	call_answer(call, &answer);
	return 0;
}

/* ---- dreyfus.store ---- */

int dreyfus_store(struct store *store, struct call *call)
{
	const struct dreyfus_store *request = call->message;
	struct written answer = {.has_count = true};
	char now[WALL_ISO_SIZE];

	call_time(call, now);
	for (size_t i = 0; i < request->assessments.count; i++) {
		const struct skill_assessment *a = &request->assessments.items[i];
		AUTO_QUERY *query = query_begin(&store->db, STATEMENT_DREYFUS_UPSERT);
		char id[UUID_SIZE];
		int result;

		call_row_id(call, (unsigned)i, id);
		query_text(query, 1, str_of(id));
		query_text(query, 2, a->skill_area);
		query_text(
			query, 3, str_of(dreyfus_stage_enumeration()->names[a->stage]));
		sqlite3_bind_double(query, 4, a->confidence);
		query_text(query, 5, a->evidence);
		query_text(query, 6, str_of(now));
		result = query_run(&store->db, query);
		if (result < 0)
			return result;
		answer.count++;
	}
	call_answer(call, &answer);
	return 0;
}
