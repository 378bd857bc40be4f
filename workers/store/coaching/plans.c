/*
 * plans.c - keeping a coaching plan: plan, phases and hints in one transaction with their
 * action rows (FR-113, P9.10 to P9.16, P9.20 to P9.22).
 */
#include "common/base/buf.h"
#include "common/base/relative_path.h"
#include "proto/codec/messages.h"
#include "workers/store/coaching/actions.h"
#include "workers/store/db/json_text.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"

/* A plan being written. Its rows have the ids 0, 1, 2 … of the call, in the order of
 * writing. */
struct plan_writer {
	struct store *store;
	struct call *call;
	struct str plan_id;
	unsigned rows;
};

static struct str next_id(struct plan_writer *w)
{
	char *id = arena_alloc(w->call->arena, UUID_SIZE);

	call_row_id(w->call, w->rows++, id);
	return str_of(id);
}

static int insert_plan(
	struct plan_writer *w, const struct plan_store *request, struct str created_at)
{
	AUTO_QUERY *query = query_begin(&w->store->db, STATEMENT_PLAN_INSERT);

	query_text(query, 1, w->plan_id);
	query_text(query, 2, request->session_id);
	query_text(query, 3, request->plan_text);
	query_text(query, 4, created_at);
	return query_run(&w->store->db, query);
}

static int insert_hint(struct plan_writer *w, struct str phase_id, const char *type,
	struct str path, const char *style, const struct coach_line_hint *lines)
{
	AUTO_QUERY *query = query_begin(&w->store->db, STATEMENT_HINT_INSERT);

	query_text(query, 1, next_id(w));
	query_text(query, 2, phase_id);
	query_text(query, 3, str_of(type));
	query_text(query, 4, path);
	if (query && lines) {
		sqlite3_bind_int64(query, 5, lines->start);
		sqlite3_bind_int64(query, 6, lines->end);
		query_text(query, 8, lines->hover_text);
	}
	query_text(query, 7, str_of(style));
	return query_run(&w->store->db, query);
}

static int insert_hints(
	struct plan_writer *w, struct str phase_id, const struct coach_hints *hints)
{
	const char *const *file_styles = coach_file_style_enumeration()->names;
	const char *const *line_styles = coach_line_style_enumeration()->names;
	int result = 0;

	for (size_t i = 0; result >= 0 && i < hints->file_hints.count; i++) {
		const struct coach_file_hint *h = &hints->file_hints.items[i];

		result = insert_hint(
			w, phase_id, "file", h->path, file_styles[h->style], NULL);
	}
	for (size_t i = 0; result >= 0 && i < hints->line_hints.count; i++) {
		const struct coach_line_hint *h = &hints->line_hints.items[i];

		result = insert_hint(
			w, phase_id, "line", h->path, line_styles[h->style], h);
	}
	return result;
}

static int insert_phase(
	struct plan_writer *w, const struct coach_phase *phase, size_t number)
{
	struct str id = next_id(w);
	int result;
	{
		AUTO_QUERY *query = query_begin(&w->store->db, STATEMENT_PHASE_INSERT);

		query_text(query, 1, id);
		query_text(query, 2, w->plan_id);
		if (query)
			sqlite3_bind_int64(query, 3, (sqlite3_int64)number);
		query_text(query, 4, phase->title);
		query_text(query, 5, phase->description);
		query_text(query, 6,
			str_of(hint_level_enumeration()->names[phase->hint_level]));
		query_text(query, 7,
			json_text_strings(w->call->arena, phase->expected_files));
		result = query_run(&w->store->db, query);
	}
	return result < 0 ? result : insert_hints(w, id, &phase->hints);
}

/* ---- action rows: what the windows are shown of the first phase (P9.11) ---- */

static int log_row(struct plan_writer *w, enum action action, const void *data)
{
	return action_log(w->store, w->call, w->rows++, action, data);
}

/* One row for each path, with its number of hints; paths that lead outside are not shown
 * (P9.22). */
static int log_decorations(struct plan_writer *w, const struct coach_hints *hints)
{
	int result = 0;

	for (size_t i = 0; result >= 0 && i < hints->line_hints.count; i++) {
		struct str path = hints->line_hints.items[i].path;
		struct decorations_applied_data data = {.path = path, .has_count = true};
		bool first = relative_path_inside(path);

		for (size_t k = 0; k < hints->line_hints.count; k++) {
			if (!str_eq(hints->line_hints.items[k].path, path))
				continue;
			first = first && k >= i;
			data.count++;
		}
		if (first)
			result = log_row(w, ACTION_DECORATIONS_APPLIED, &data);
	}
	return result;
}

static int log_file_hints(struct plan_writer *w, const struct coach_hints *hints)
{
	struct file_hints_applied_data data = {0};

	data.paths.items =
		arena_array(w->call->arena, hints->file_hints.count, sizeof(struct str));
	for (size_t i = 0; i < hints->file_hints.count; i++)
		if (relative_path_inside(hints->file_hints.items[i].path))
			data.paths.items[data.paths.count++] =
				hints->file_hints.items[i].path;
	return data.paths.count > 0 ? log_row(w, ACTION_FILE_HINTS_APPLIED, &data) : 0;
}

static int log_plan(struct plan_writer *w, const struct plan_store *request)
{
	int result = log_row(w, ACTION_COACHING_PIPELINE,
		&(struct coaching_pipeline_data){.plan_id = w->plan_id,
			.phase_count = (int64_t)request->phases.count,
			.has_phase_count = true});

	if (result >= 0 && request->phases.count > 0)
		result = log_decorations(w, &request->phases.items[0].hints);
	if (result >= 0 && request->phases.count > 0)
		result = log_file_hints(w, &request->phases.items[0].hints);
	return result;
}

/* ---- plan.store ---- */

static int plan_exists(struct plan_writer *w)
{
	AUTO_QUERY *query = query_begin(&w->store->db, STATEMENT_PLAN_GET);

	query_text(query, 1, w->plan_id);
	return query_step(&w->store->db, query);
}

/* The session learns its issue from the plan when it has none (P9.21). */
static int fill_issue(struct plan_writer *w, const struct plan_store *request)
{
	AUTO_QUERY *query = query_begin(&w->store->db, STATEMENT_SESSION_FILL_ISSUE);

	if (!request->has_issue_number)
		return 0;
	query_text(query, 1, request->session_id);
	if (query)
		sqlite3_bind_int64(query, 2, request->issue_number);
	return query_run(&w->store->db, query);
}

static int write_plan(struct plan_writer *w, const struct plan_store *request)
{
	char *at = arena_alloc(w->call->arena, WALL_ISO_SIZE);
	int result;

	call_time(w->call, at);
	result = insert_plan(w, request, str_of(at));
	for (size_t i = 0; result >= 0 && i < request->phases.count; i++)
		result = insert_phase(w, &request->phases.items[i], i + 1);
	if (result >= 0)
		result = fill_issue(w, request);
	if (result >= 0)
		result = log_plan(w, request);
	return result;
}

int plan_store(struct store *store, struct call *call)
{
	const struct plan_store *request = call->message;
	struct plan_writer w = {.store = store, .call = call};
	int result;

	w.plan_id = next_id(&w);
	result = plan_exists(&w);
	if (result == 0) {
		/* The learner may have ended the session while the coach was thinking
		 * (P9.20). */
		if (!str_is(request->session_id, store->sessions.active.id))
			return call_refuse(call, ERROR_NO_SESSION, "No active session");
		result = write_plan(&w, request);
	}
	if (result < 0)
		return result;
	call_answer(call, &(struct plan_stored){.plan_id = w.plan_id});
	return 0;
}
