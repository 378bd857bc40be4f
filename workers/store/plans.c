/* plans.c - what the coaching flows start from and the plans they make (plans.h). */
#include "workers/store/plans.h"
#include "common/buf.h"
#include "proto/messages.h"
#include "workers/store/actions.h"
#include "workers/store/hints.h"
#include "workers/store/phases.h"
#include "workers/store/rows.h"
#include "workers/store/store.h"
#include <errno.h>

/* ---- coaching.context ---- */

static int context_session(
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
	out->has_session = true;
	out->session = (struct context_session){
		.id = query_column(query, 0, call->arena),
		.project_dir = query_column(query, 1, call->arena),
		.issue_number = sqlite3_column_int64(query, 2),
		.has_issue_number = sqlite3_column_type(query, 2) != SQLITE_NULL,
		.issue_title = query_column(query, 3, call->arena),
		.started_at = query_column(query, 5, call->arena),
	};
	return 0;
}

static int context_dreyfus(
	struct store *store, struct call *call, struct coaching_context *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_DREYFUS_CONTEXT);
	size_t room = 0, n = 0;
	int found;

	while ((found = query_step(&store->db, query)) == 1) {
		rows_grow(call->arena, (void **)&out->dreyfus.items, &room, n,
			sizeof(struct context_skill));
		out->dreyfus.items[n++] = (struct context_skill){
			.skill_area = query_column(query, 0, call->arena),
			.stage = query_column(query, 1, call->arena),
			.confidence = sqlite3_column_double(query, 2),
			.has_confidence = true,
			.assessed_at = query_column(query, 3, call->arena),
		};
	}
	out->dreyfus.count = n;
	return found;
}

int plan_context_phase(struct store *store, struct call *call, struct context_phase *out)
{
	struct phase_row row;
	int result = phase_current(store, call, &row);

	if (result != 1)
		return result;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PHASE_EXPECTED_FILES);

	query_text(query, 1, row.info.id);
	result = query_step(&store->db, query);
	if (result != 1)
		return result;
	*out = (struct context_phase){
		.id = row.info.id,
		.number = row.info.number,
		.has_number = true,
		.title = row.info.title,
		.description = row.info.description,
		.expected_files =
			rows_strings(query_column(query, 0, call->arena), call->arena),
	};
	return 1;
}

int coaching_context(struct store *store, struct call *call)
{
	struct coaching_context answer = {0};
	int result = context_session(store, call, &answer);

	if (result == 0)
		result = plan_context_phase(store, call, &answer.phase);
	answer.has_phase = result == 1;
	if (result >= 0)
		result = context_dreyfus(store, call, &answer);
	if (result < 0)
		return result;
	call_answer(call, &answer);
	return 0;
}

/* ---- plan.store ---- */

/* Hands out the row ids of a call one after the other; the first is the plan's. */
struct ids {
	const struct call *call;
	unsigned next;
};

static void next_id(struct ids *ids, char out[UUID_SIZE])
{
	call_row_id(ids->call, ids->next++, out);
}

static int insert_hint(struct store *store, struct ids *ids, const char *phase_id,
	const char *kind, const struct coach_line_hint *hint, const char *style)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PHASE_HINT_INSERT);
	char id[UUID_SIZE];

	next_id(ids, id);
	query_text(query, 1, str_of(id));
	query_text(query, 2, str_of(phase_id));
	query_text(query, 3, str_of(kind));
	query_text(query, 4, hint->path);
	if (hint->has_start) {
		sqlite3_bind_int64(query, 5, hint->start);
		sqlite3_bind_int64(query, 6, hint->end);
	}
	query_text(query, 7, str_of(style));
	query_text(query, 8, hint->hover_text);
	return query_run(&store->db, query);
}

static int insert_hints(struct store *store, struct ids *ids, const char *phase_id,
	const struct coach_hints *hints)
{
	int result = 0;

	for (size_t i = 0; result >= 0 && i < hints->file_hints.count; i++) {
		const struct coach_file_hint *h = &hints->file_hints.items[i];

		result = insert_hint(store, ids, phase_id, "file",
			&(struct coach_line_hint){.path = h->path},
			coach_file_style_enumeration()->names[h->style]);
	}
	for (size_t i = 0; result >= 0 && i < hints->line_hints.count; i++) {
		const struct coach_line_hint *h = &hints->line_hints.items[i];

		result = insert_hint(store, ids, phase_id, "line", h,
			coach_line_style_enumeration()->names[h->style]);
	}
	return result < 0 ? result : 0;
}

static int insert_phase(struct store *store, struct call *call, struct ids *ids,
	const char *plan_id, int64_t number, const struct coach_phase *phase)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PHASE_INSERT);
	char id[UUID_SIZE];
	int result;

	next_id(ids, id);
	query_text(query, 1, str_of(id));
	query_text(query, 2, str_of(plan_id));
	sqlite3_bind_int64(query, 3, number);
	query_text(query, 4, phase->title);
	query_text(query, 5, phase->description);
	query_text(query, 6, str_of(hint_level_enumeration()->names[phase->hint_level]));
	query_text(query, 7, rows_strings_text(phase->expected_files, call->arena));
	result = query_run(&store->db, query);
	return result < 0 ? result : insert_hints(store, ids, id, &phase->hints);
}

/* Line hints are logged once for each path, with their number (contract section 7). */
static int log_decorations(struct store *store, struct call *call, struct ids *ids,
	const struct coach_hints *hints)
{
	int result = 0;

	for (size_t i = 0; result >= 0 && i < hints->line_hints.count; i++) {
		struct str path = hints->line_hints.items[i].path;
		struct decorations_applied_data data = {.path = path, .has_count = true};
		bool before = false;

		for (size_t j = 0; j < hints->line_hints.count; j++) {
			bool same = str_eq(hints->line_hints.items[j].path, path);

			before = before || (same && j < i);
			data.count += same;
		}
		if (!before)
			result = action_log(store, call, ids->next++,
				ACTION_DECORATIONS_APPLIED, &data);
	}
	return result;
}

static int log_file_hints(struct store *store, struct call *call, struct ids *ids,
	const struct coach_hints *hints)
{
	struct file_hints_applied_data data = {
		.paths = {arena_array(call->arena, hints->file_hints.count + 1,
				  sizeof(struct str)),
			0}};

	for (size_t i = 0; i < hints->file_hints.count; i++)
		data.paths.items[data.paths.count++] = hints->file_hints.items[i].path;
	return data.paths.count ? action_log(store, call, ids->next++,
					  ACTION_FILE_HINTS_APPLIED, &data)
				: 0;
}

static int log_plan(struct store *store, struct call *call, struct ids *ids,
	const char *plan_id, const struct plan_store *request)
{
	struct coaching_pipeline_data data = {.plan_id = str_of(plan_id),
		.phase_count = (int64_t)request->phases.count,
		.has_phase_count = true};
	int result =
		action_log(store, call, ids->next++, ACTION_COACHING_PIPELINE, &data);

	if (result >= 0 && request->phases.count > 0)
		result = log_decorations(
			store, call, ids, &request->phases.items[0].hints);
	if (result >= 0 && request->phases.count > 0)
		result =
			log_file_hints(store, call, ids, &request->phases.items[0].hints);
	return result < 0 ? result : 0;
}

static int fill_issue(struct store *store, const struct plan_store *request)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_SESSION_SET_ISSUE);
	int result;

	if (!request->has_issue_number)
		return 0;
	query_text(query, 1, request->session_id);
	sqlite3_bind_int64(query, 2, request->issue_number);
	result = query_run(&store->db, query);
	return result < 0 ? result : 0;
}

static int insert_plan(struct store *store, struct call *call, const char *plan_id,
	const struct plan_store *request)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PLAN_INSERT);
	char now[WALL_ISO_SIZE];

	call_time(call, now);
	query_text(query, 1, str_of(plan_id));
	query_text(query, 2, request->session_id);
	query_text(query, 3, request->plan_text);
	query_text(query, 4, str_of(now));
	return query_run(&store->db, query);
}

int plan_store(struct store *store, struct call *call)
{
	const struct plan_store *request = call->message;
	struct ids ids = {.call = call};
	char plan_id[UUID_SIZE];
	int result;

	next_id(&ids, plan_id);
	if (!str_is(request->session_id, store->sessions.active.id))
		return call_refuse(call, ERROR_NO_SESSION,
			"The session ended while the plan was made; the plan is not "
			"kept");
	result = insert_plan(store, call, plan_id, request);
	/* 0 rows: this very call was done before and its answer got lost. */
	for (size_t i = 0; result == 1 && i < request->phases.count; i++) {
		int inserted = insert_phase(store, call, &ids, plan_id, (int64_t)i + 1,
			&request->phases.items[i]);

		if (inserted < 0)
			result = inserted;
	}
	if (result == 1)
		result = log_plan(store, call, &ids, plan_id, request);
	if (result >= 0)
		result = fill_issue(store, request);
	if (result < 0)
		return result;
	call_answer(call, &(struct plan_stored){.plan_id = str_of(plan_id)});
	return 0;
}
