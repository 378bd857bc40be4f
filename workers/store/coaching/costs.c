/* costs.c - what calls to Claude cost, for people: by day, model and kind, and the budget. */
#include "common/worker/worker.h"
#include "proto/codec/messages.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include <stdio.h>

#define DAYS_DEFAULT 30
/* As many as the statement gives. */
#define GROUPS_MAX 400

static void read_group(sqlite3_stmt *query, struct arena *arena, struct cost_group *group)
{
	*group = (struct cost_group){
		.key = query_column(query, 0, arena),
		.calls = sqlite3_column_int64(query, 1),
		.has_calls = true,
		.failures = sqlite3_column_int64(query, 2),
		.has_failures = true,
		.cancelled = sqlite3_column_int64(query, 3),
		.has_cancelled = true,
		.input_tokens = sqlite3_column_int64(query, 4),
		.has_input_tokens = true,
		.output_tokens = sqlite3_column_int64(query, 5),
		.has_output_tokens = true,
		.cost = sqlite3_column_double(query, 6),
		.has_cost = true,
		.average_latency_ms = sqlite3_column_double(query, 7),
		.has_average_latency_ms = sqlite3_column_type(query, 7) != SQLITE_NULL,
	};
}

/* `by`: day, model, kind, or all. The number of groups, or -errno. */
static int read_groups(struct store *store, struct call *call, const char *since,
	const char *by, struct cost_group **groups)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_API_CALL_GROUPS);
	int found = 0, count = 0;

	*groups = arena_array(call->arena, GROUPS_MAX, sizeof(**groups));
	query_text(query, 1, str_of(since));
	query_text(query, 2, str_of(by));
	while (count < GROUPS_MAX && (found = query_step(&store->db, query)) == 1)
		read_group(query, call->arena, &(*groups)[count++]);
	return found < 0 ? found : count;
}

static int read_budget(struct store *store, struct call *call, struct cost_budget *budget)
{
	const struct settings *s = store->worker ? store->worker->settings : NULL;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_API_CALL_SPENDING);
	char today[WALL_ISO_SIZE];
	int found;

	wall_iso(wall_midnight(call->arrived, 0), today);
	query_text(query, 1,
		store->sessions.active.id[0] ? str_of(store->sessions.active.id)
					     : (struct str){NULL, 0});
	query_text(query, 2, str_of(today));
	found = query_step(&store->db, query);
	if (found < 0)
		return found;
	*budget = (struct cost_budget){
		.day = s ? s->budget_day_usd : 0,
		.has_day = s && s->budget_day_usd > 0,
		.session = s ? s->budget_session_usd : 0,
		.has_session = s && s->budget_session_usd > 0,
		.spent_session = sqlite3_column_double(query, 0),
		.has_spent_session = true,
		.spent_day = sqlite3_column_double(query, 1),
		.has_spent_day = true,
	};
	return 0;
}

int api_call_costs(struct store *store, struct call *call)
{
	const struct cost_query *request = call->message;
	struct cost_totals answer = {.has_total = true, .has_budget = true};
	struct {
		const char *by;
		struct cost_group **items;
		size_t *count;
	} lists[] = {
		{"day", &answer.days.items, &answer.days.count},
		{"model", &answer.models.items, &answer.models.count},
		{"kind", &answer.kinds.items, &answer.kinds.count},
	};
	char since[WALL_ISO_SIZE];
	struct cost_group *total;
	int result;

	wall_iso(wall_midnight(call->arrived,
			 (request->has_days ? request->days : DAYS_DEFAULT) - 1),
		since);
	answer.since = str_of(since);
	result = read_groups(store, call, since, "all", &total);
	if (result < 0)
		return result;
	answer.total = result == 1 ? total[0]
				   : (struct cost_group){.key = STR_LIT(""),
					     .has_calls = true,
					     .has_failures = true,
					     .has_cancelled = true,
					     .has_input_tokens = true,
					     .has_output_tokens = true,
					     .has_cost = true};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		result = read_groups(store, call, since, lists[i].by, lists[i].items);
		if (result < 0)
			return result;
		*lists[i].count = (size_t)result;
	}
	result = read_budget(store, call, &answer.budget);
	if (result < 0)
		return result;
	call_answer(call, &answer);
	return 0;
}
