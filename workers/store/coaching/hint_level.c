/* hint_level.c - the hint level of the session, and the progress events of its phases
 * (hint_level.h). */
#include "workers/store/coaching/hint_level.h"
#include "proto/codec/messages.h"
#include "workers/store/coaching/actions.h"
#include "workers/store/coaching/phases.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"

/* Rows of one call (row_ids.h). */
enum hint_level_row { ROW_ACTION, ROW_PROGRESS };

int progress_write(
	struct store *store, struct call *call, const struct progress_entry *entry)
{
	struct phase_row phase;
	int result = phase_current(store, call, &phase);

	if (result != 1)
		return result;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PROGRESS_INSERT);

	query_text(query, 1, str_of(entry->id));
	query_text(query, 2, phase.info.id);
	query_text(query, 3, str_of(entry->event_type));
	query_text(query, 4, entry->data);
	query_text(query, 5, str_of(entry->created_at));
	return query_run(&store->db, query);
}

int progress_record(struct store *store, struct call *call, unsigned n,
	const char *event_type, const struct type *type, const void *data)
{
	char id[UUID_SIZE], at[WALL_ISO_SIZE];

	call_row_id(call, n, id);
	call_time(call, at);
	return progress_write(store, call,
		&(struct progress_entry){.id = id,
			.event_type = event_type,
			.data = call_encode(call, type, data),
			.created_at = at});
}

int hints_level_change(struct store *store, struct call *call)
{
	const struct hints_level_change *request = call->message;
	struct hint_level_change_data data = {
		.level = request->level,
		.has_level = true,
		.previous_level = request->has_previous_level
					  ? request->previous_level
					  : store->sessions.hint_level,
		.has_previous_level = true,
	};
	int result = action_log(store, call, ROW_ACTION, ACTION_HINT_LEVEL_CHANGE, &data);

	if (result < 0)
		return result;
	if (store->sessions.active.id[0])
		store->sessions.hint_level = data.level;
	if (data.level > data.previous_level) {
		result = progress_record(store, call, ROW_PROGRESS, "hint_escalated",
			hint_level_change_data_type(), &data);
		if (result < 0)
			return result;
	}
	call_answer_text(call, STR_LIT("null"));
	return 0;
}
