/*
 * contexts.c - what flows and the Observer look at before they ask Claude
 * (proto/catalogue/coaching.def).
 *
 * JSON that only a model reads is made by SQLite from the rows, in the shape of the
 * prompts (X4). Lists have bounds: a session may be long, and a model's window is not.
 */
#include "common/base/buf.h"
#include "proto/codec/messages.h"
#include "proto/tables/actions.h"
#include "workers/store/coaching/phases.h"
#include "workers/store/db/json_text.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"

/* The first column of the first row of a query with up to one parameter; absent without a
 * row. 0 or -errno. */
static int ask_text(struct store *store, struct call *call, enum statement which,
	struct str param, struct str *out)
{
	AUTO_QUERY *query = query_begin(&store->db, which);
	int found;

	*out = (struct str){0};
	if (query && sqlite3_bind_parameter_count(query) > 0)
		query_text(query, 1, param);
	found = query_step(&store->db, query);
	if (found == 1)
		*out = query_column(query, 0, call->arena);
	return found < 0 ? found : 0;
}

/* The same for JSON. */
static int ask_json(struct store *store, struct call *call, enum statement which,
	struct str param, struct json *out)
{
	*out = (struct json){0};
	return ask_text(store, call, which, param, &out->raw);
}

static int read_context_phase(
	struct store *store, struct call *call, struct context_phase *out, bool *has)
{
	struct phase_row row;
	struct str files = {0};
	int found = phase_current(store, call, &row);

	*has = found == 1;
	if (found == 1)
		found = ask_text(store, call, STATEMENT_PHASE_FILES, row.info.id, &files);
	if (found < 0 || !*has)
		return found < 0 ? found : 0;
	*out = (struct context_phase){
		.id = row.info.id,
		.number = row.info.number,
		.has_number = true,
		.title = row.info.title,
		.description = row.info.description,
		.expected_files = json_read_strings(call->arena, files),
	};
	return 0;
}

/* ---- coaching.context ---- */

static int read_context_session(
	struct store *store, struct call *call, struct coaching_context *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_SESSION_GET);
	int found;

	if (!store->sessions.active.id[0])
		return 0;
	query_text(query, 1, str_of(store->sessions.active.id));
	found = query_step(&store->db, query);
	if (found != 1)
		return found;
	out->session = (struct context_session){
		.id = query_column(query, 0, call->arena),
		.project_dir = query_column(query, 1, call->arena),
		.issue_number = sqlite3_column_int64(query, 2),
		.has_issue_number = sqlite3_column_type(query, 2) != SQLITE_NULL,
		.issue_title = query_column(query, 3, call->arena),
		.started_at = query_column(query, 5, call->arena),
	};
	out->has_session = true;
	return 0;
}

static int read_skills(
	struct store *store, struct call *call, struct coaching_context *out)
{
	struct str list;
	int result =
		ask_text(store, call, STATEMENT_DREYFUS_SKILLS, (struct str){0}, &list);

	if (result == 0)
		out->dreyfus.items = json_read_objects(
			call->arena, context_skill_type(), list, &out->dreyfus.count);
	return result;
}

int coaching_context(struct store *store, struct call *call)
{
	struct coaching_context answer = {0};
	int result = read_context_session(store, call, &answer);

	if (result == 0)
		result =
			read_context_phase(store, call, &answer.phase, &answer.has_phase);
	if (result == 0)
		result = read_skills(store, call, &answer);
	if (result < 0)
		return result;
	call_answer(call, &answer);
	return 0;
}

/* ---- wrap_up.context ---- */

/* How the hints of the last completed session compare with the mean of those before
 * (P9.7). */
static int read_hint_trend(struct store *store, const char **trend, int64_t *sessions)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_HINTS_BY_SESSION);
	int64_t last = 0, before = 0;
	int found;

	*sessions = 0;
	while ((found = query_step(&store->db, query)) == 1) {
		before += last;
		last = sqlite3_column_int64(query, 0);
		++*sessions;
	}
	*trend = "stable";
	/* Compared without dividing: last against before / (sessions - 1). */
	if (*sessions > 1 && last * (*sessions - 1) > before)
		*trend = "increasing";
	else if (*sessions > 1 && last * (*sessions - 1) < before)
		*trend = "decreasing";
	return found;
}

static int read_evidence(struct store *store, struct call *call, struct json *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_EVIDENCE);
	const char *trend;
	int64_t sessions;
	int result = read_hint_trend(store, &trend, &sessions);

	if (result < 0)
		return result;
	if (query)
		sqlite3_bind_int64(query, 1, sessions);
	query_text(query, 2, str_of(trend));
	result = query_step(&store->db, query);
	if (result == 1)
		out->raw = query_column(query, 0, call->arena);
	return result < 0 ? result : 0;
}

static int read_recent_session(struct store *store, struct call *call, struct str plan_id,
	struct recent_session *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PLAN_FIGURES);
	int result;

	(void)call;
	query_text(query, 1, plan_id);
	result = query_step(&store->db, query);
	if (result < 0)
		return result;
	*out = (struct recent_session){
		.phases_completed = sqlite3_column_int64(query, 0),
		.has_phases_completed = true,
		.hints_used = sqlite3_column_int64(query, 1),
		.has_hints_used = true,
		.independent_completions = sqlite3_column_int64(query, 2),
		.has_independent_completions = true,
	};
	return 0;
}

int wrap_up_context(struct store *store, struct call *call)
{
	const struct wrap_up_query *request = call->message;
	struct wrap_up_context answer = {.has_recent_session = true};
	const struct str none = {0};
	struct str plan_id;
	const struct {
		enum statement which;
		struct str param;
		struct json *out;
	} parts[] = {
		{STATEMENT_ACTIONS_FOR_MODEL, request->session_id, &answer.action_log},
		{STATEMENT_GAPS_FOR_MODEL, none, &answer.existing_gaps},
		{STATEMENT_DREYFUS_FOR_MODEL, none, &answer.current_assessments},
	};
	int result = ask_text(
		store, call, STATEMENT_PLAN_CURRENT, request->session_id, &plan_id);

	for (size_t i = 0; result == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		result = ask_json(
			store, call, parts[i].which, parts[i].param, parts[i].out);
	if (result == 0)
		result = ask_json(
			store, call, STATEMENT_PHASES_FOR_MODEL, plan_id, &answer.phases);
	if (result == 0)
		result = ask_json(store, call, STATEMENT_COMPLETED_PHASES_FOR_MODEL,
			plan_id, &answer.completed_phases);
	if (result == 0)
		result = read_evidence(store, call, &answer.accumulated_evidence);
	if (result == 0)
		result =
			read_recent_session(store, call, plan_id, &answer.recent_session);
	if (result < 0)
		return result;
	call_answer(call, &answer);
	return 0;
}

/* ---- observer.context ---- */

/* When an action of a type was logged last, or what it carried. */
static int last_action(struct store *store, struct call *call, struct str session_id,
	enum action action, int column, struct str *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_ACTION_LAST_OF_TYPE);
	int found;

	query_text(query, 1, session_id);
	query_text(query, 2, str_of(action_infos[action].name));
	found = query_step(&store->db, query);
	*out = found == 1 ? query_column(query, column, call->arena) : (struct str){0};
	return found < 0 ? found : 0;
}

static bool says_muted(struct str data)
{
	AUTO_DOC *doc = data.ptr ? yyjson_read(data.ptr, data.len, 0) : NULL;

	return yyjson_get_bool(yyjson_obj_get(yyjson_doc_get_root(doc), "muted"));
}

int observer_context(struct store *store, struct call *call)
{
	const struct observer_query *request = call->message;
	struct observer_context answer = {.has_muted = true};
	struct str muted;
	int result = ask_json(store, call, STATEMENT_ACTIONS_RECENT, request->session_id,
		&answer.recent_actions);

	if (result == 0)
		result = last_action(store, call, request->session_id, ACTION_FILE_SAVE,
			1, &answer.last_save_at);
	if (result == 0)
		result = last_action(store, call, request->session_id, ACTION_NUDGE_SENT,
			1, &answer.last_nudge_at);
	if (result == 0)
		result = last_action(store, call, request->session_id,
			ACTION_OBSERVER_MUTED, 0, &muted);
	if (result == 0)
		result =
			read_context_phase(store, call, &answer.phase, &answer.has_phase);
	if (result == 0)
		result = ask_text(store, call, STATEMENT_DREYFUS_NEWEST_STAGE,
			(struct str){0}, &answer.dreyfus_stage);
	if (result < 0)
		return result;
	answer.muted = says_muted(muted);
	if (!answer.dreyfus_stage.ptr)
		answer.dreyfus_stage =
			str_of(dreyfus_stage_enumeration()->names[DREYFUS_NOVICE]);
	call_answer(call, &answer);
	return 0;
}

/* ---- dashboard.context ---- */

int dashboard_context(struct store *store, struct call *call)
{
	struct dashboard_context answer = {0};
	const struct str none = {0};
	struct str titles;
	int result =
		ask_json(store, call, STATEMENT_DREYFUS_FOR_MODEL, none, &answer.dreyfus);

	if (result == 0)
		result = ask_json(store, call, STATEMENT_SESSIONS_FOR_MODEL, none,
			&answer.recent_sessions);
	if (result == 0)
		result = ask_json(
			store, call, STATEMENT_OPEN_GAPS_FOR_MODEL, none, &answer.gaps);
	if (result == 0)
		result = ask_json(store, call, STATEMENT_TOP_GAPS_FOR_MODEL, none,
			&answer.top_gaps);
	if (result == 0)
		result = ask_text(store, call, STATEMENT_KATA_TITLES, none, &titles);
	if (result < 0)
		return result;
	answer.kata_titles = json_read_strings(call->arena, titles);
	call_answer(call, &answer);
	return 0;
}
