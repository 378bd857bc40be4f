/* phases.c - plans and their phases (phases.h). */
#include "workers/store/coaching/phases.h"
#include "workers/store/coaching/actions.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include "workers/store/service/tool_calls.h"
#include <errno.h>

/* Rows of one call (row_ids.h). */
enum phase_call_row { ROW_STARTED = ROW_OF_TOOL, ROW_COMPLETED };

int plan_current(struct store *store, struct call *call, struct str *plan_id)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PLAN_CURRENT);
	int found;

	if (!store->sessions.active.id[0])
		return 0;
	query_text(query, 1, str_of(store->sessions.active.id));
	found = query_step(&store->db, query);
	if (found == 1)
		*plan_id = query_column(query, 0, call->arena);
	return found;
}

/* The columns of PHASES_OF_PLAN and its kin. */
static void read_phase(sqlite3_stmt *query, struct arena *arena, struct phase_row *out)
{
	struct str status = query_column(query, 4, arena);
	int known = enumeration_index(phase_status_enumeration(), status);

	*out = (struct phase_row){
		.info =
			{
				.id = query_column(query, 0, arena),
				.number = sqlite3_column_int64(query, 1),
				.has_number = true,
				.title = query_column(query, 2, arena),
				.description = query_column(query, 3, arena),
				.status = known < 0 ? PHASE_PENDING : known,
				.has_status = true,
				.started_at = query_column(query, 6, arena),
				.completed_at = query_column(query, 7, arena),
			},
		.hint_level = query_column(query, 5, arena),
	};
}

int phase_current(struct store *store, struct call *call, struct phase_row *out)
{
	struct str plan_id;
	int found = plan_current(store, call, &plan_id);

	if (found != 1)
		return found;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PHASE_CURRENT);

	query_text(query, 1, plan_id);
	found = query_step(&store->db, query);
	if (found == 1)
		read_phase(query, call->arena, out);
	return found;
}

int phases_of_plan(struct store *store, struct call *call, struct str plan_id,
	struct phase_row **rows, size_t *count)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PHASES_OF_PLAN);
	struct phase_row *list = NULL;
	size_t n = 0, room = 0;
	int found;

	query_text(query, 1, plan_id);
	while ((found = query_step(&store->db, query)) == 1) {
		if (n == room) {
			struct phase_row *larger;

			room = room ? 2 * room : 8;
			larger = arena_array(call->arena, room, sizeof(*larger));
			if (n > 0)
				memcpy(larger, list, n * sizeof(*larger));
			list = larger;
		}
		read_phase(query, call->arena, &list[n++]);
	}
	*rows = list;
	*count = n;
	return found;
}

/* ---- phase.update ---- */

static int find_phase(
	struct store *store, struct call *call, int64_t number, struct phase_row *out)
{
	struct phase_row *rows = NULL;
	size_t count = 0;
	struct str plan_id;
	int result = plan_current(store, call, &plan_id);

	if (result == 1)
		result = phases_of_plan(store, call, plan_id, &rows, &count);
	if (result < 0)
		return result;
	for (size_t i = 0; i < count; i++) {
		if (rows[i].info.number == number) {
			*out = rows[i];
			return 0;
		}
	}
	if (count == 0)
		return call_refuse(call, ERROR_NOT_FOUND,
			"The session has no plan yet. Run paige_run_coaching_pipeline "
			"first.");
	return call_refuse(call, ERROR_NOT_FOUND,
		"The plan has no phase %lld; its phases are %lld to %lld",
		(long long)number, (long long)rows[0].info.number,
		(long long)rows[count - 1].info.number);
}

static int store_phase(struct store *store, const struct phase_info *phase)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PHASE_SET_STATUS);
	int result;

	query_text(query, 1, phase->id);
	query_text(query, 2, str_of(phase_status_enumeration()->names[phase->status]));
	query_text(query, 3, phase->started_at);
	query_text(query, 4, phase->completed_at);
	result = query_run(&store->db, query);
	return result < 0 ? result : 0;
}

static int log_phase(struct store *store, struct call *call, unsigned n,
	enum action action, const struct phase_info *phase)
{
	int result = action_log(store, call, n, action,
		&(struct phase_data){.phase_id = phase->id,
			.phase_number = phase->number,
			.has_phase_number = true,
			.title = phase->title});

	return result < 0 ? result : 0;
}

static void publish_phase(struct call *call, const struct phase_info *phase)
{
	call_publish(call, "ui/coaching:phase_update", coaching_phase_update_type(),
		&(struct coaching_phase_update){
			.phase = phase->number,
			.has_phase = true,
			.status = phase->status,
			.has_status = true,
			.description = phase->description,
			.id = phase->id,
			.number = phase->number,
			.has_number = true,
			.title = phase->title,
			.started_at = phase->started_at,
			.completed_at = phase->completed_at,
		});
}

/* Moves a phase forward, with its times and its rows (P6.9). */
static int move_phase(
	struct store *store, struct call *call, struct phase_info *phase, int target)
{
	char *at = arena_alloc(call->arena, WALL_ISO_SIZE);
	bool starts = phase->status == PHASE_PENDING;
	int result;

	call_time(call, at);
	if (starts)
		phase->started_at = str_of(at);
	if (target == PHASE_COMPLETE)
		phase->completed_at = str_of(at);
	phase->status = target;
	result = store_phase(store, phase);
	if (result == 0 && starts)
		result = log_phase(store, call, ROW_STARTED, ACTION_PHASE_STARTED, phase);
	if (result == 0 && target == PHASE_COMPLETE)
		result = log_phase(
			store, call, ROW_COMPLETED, ACTION_PHASE_COMPLETED, phase);
	return result;
}

/* True when this very call moved the phase before: it was repeated after a crash, and the
 * window may not have heard of it. */
static int moved_by_this_call(struct store *store, struct call *call)
{
	struct str session_id, data;
	int found = 0;

	for (unsigned n = ROW_STARTED; found == 0 && n <= ROW_COMPLETED; n++) {
		char id[UUID_SIZE];

		call_row_id(call, n, id);
		found = action_find(store, call, id, &session_id, &data);
	}
	return found;
}

int phase_update(struct store *store, struct call *call)
{
	const struct tool_update_phase_input *request = call->message;
	int target =
		request->status == PHASE_CHANGE_ACTIVE ? PHASE_ACTIVE : PHASE_COMPLETE;
	struct phase_row row;
	struct tool_update_phase_output answer = {
		.success = true, .has_success = true, .has_phase = true};
	int moved = 0;
	int result = sessions_need(store, call);

	if (result == 0)
		result = find_phase(store, call, request->phase, &row);
	if (result == 0)
		result = moved = moved_by_this_call(store, call);
	if (result < 0)
		return result;
	if (row.info.status > target && !moved)
		return call_refuse(call, ERROR_NOT_ALLOWED,
			"Phase %lld is %s already; a phase does not go back to %s",
			(long long)row.info.number,
			phase_status_enumeration()->names[row.info.status],
			phase_status_enumeration()->names[target]);
	if (row.info.status < target) {
		result = move_phase(store, call, &row.info, target);
		if (result < 0)
			return result;
		moved = 1;
	}
	/* A phase that is there already is left alone, and nobody is told (EC-32, P6.10).
	 */
	if (moved)
		publish_phase(call, &row.info);
	answer.phase = row.info;
	call_answer(call, &answer);
	return 0;
}
