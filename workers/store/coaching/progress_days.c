/* progress_days.c - what the learner did, by day, for the Progress view. */
#include "proto/codec/messages.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"

#define DAYS_DEFAULT 30
/* As many as the statement gives. */
#define DAYS_MAX 400

int progress_days(struct store *store, struct call *call)
{
	const struct progress_query *request = call->message;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PROGRESS_DAYS);
	struct progress_days answer = {0};
	char since[WALL_ISO_SIZE];
	int found = 0;

	wall_iso(wall_midnight(call->arrived,
			 (request->has_days ? request->days : DAYS_DEFAULT) - 1),
		since);
	answer.since = str_of(since);
	answer.days.items =
		arena_array(call->arena, DAYS_MAX, sizeof(*answer.days.items));
	query_text(query, 1, answer.since);
	while (answer.days.count < DAYS_MAX &&
		(found = query_step(&store->db, query)) == 1)
		answer.days.items[answer.days.count++] =
			(struct progress_day){.day = query_column(query, 0, call->arena),
				.actions = sqlite3_column_int64(query, 1),
				.has_actions = true,
				.sessions = sqlite3_column_int64(query, 2),
				.has_sessions = true,
				.minutes = sqlite3_column_double(query, 3),
				.has_minutes = true};
	if (found < 0)
		return found;
	call_answer(call, &answer);
	return 0;
}
