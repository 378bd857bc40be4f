/* dashboard.c - what the dashboard shows without asking Claude (story 12; P12.1,
 * P12.4 to P12.9). */
#include "proto/codec/messages.h"
#include "workers/store/db/json_text.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"

#define DAY_MS (24 * 60 * 60 * 1000ll)

/* Where the period begins, as text that compares with the times of rows. */
static void period_start(const struct call *call, int period, char out[WALL_ISO_SIZE])
{
	static const int days[] = {[STATS_7D] = 7, [STATS_30D] = 30, [STATS_ALL] = 0};
	struct wall start = {0};

	if (days[period] > 0)
		start.us = call->arrived.us - days[period] * DAY_MS * 1000;
	wall_iso(start, out);
}

static int read_stats(
	struct store *store, struct call *call, int period, struct dashboard_stats *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_STATS);
	char start[WALL_ISO_SIZE];
	int result;

	period_start(call, period, start);
	query_text(query, 1, str_of(start));
	result = query_step(&store->db, query);
	if (result < 0)
		return result;
	*out = (struct dashboard_stats){
		.period = period,
		.has_period = true,
		.sessions_completed = sqlite3_column_int64(query, 0),
		.has_sessions_completed = true,
		.total_coaching_minutes = sqlite3_column_double(query, 1),
		.has_total_coaching_minutes = true,
		.issues_worked_on = sqlite3_column_int64(query, 2),
		.has_issues_worked_on = true,
		.knowledge_gaps_identified = sqlite3_column_int64(query, 3),
		.has_knowledge_gaps_identified = true,
		.knowledge_gaps_addressed = sqlite3_column_int64(query, 4),
		.has_knowledge_gaps_addressed = true,
		.hints_used = sqlite3_column_int64(query, 5),
		.has_hints_used = true,
		.api_cost_total = sqlite3_column_double(query, 6),
		.has_api_cost_total = true,
	};
	return 0;
}

/* A list that a query makes as JSON, decoded as `type`. 0 or -errno. */
static int read_list(struct store *store, struct call *call, enum statement which,
	const struct type *type, void **items, size_t *count)
{
	AUTO_QUERY *query = query_begin(&store->db, which);
	int found = query_step(&store->db, query);

	if (found < 0)
		return found;
	*items = json_read_objects(
		call->arena, type, query_column(query, 0, call->arena), count);
	return 0;
}

int dashboard_state(struct store *store, struct call *call)
{
	const struct dashboard_request *request = call->message;
	struct dashboard_state answer = {.has_stats = true};
	void *skills = NULL, *sessions = NULL, *katas = NULL;
	int result = read_stats(store, call,
		request->has_stats_period ? request->stats_period : STATS_ALL,
		&answer.stats);

	if (result == 0)
		result = read_list(store, call, STATEMENT_DREYFUS_SKILLS,
			dashboard_skill_type(), &skills, &answer.dreyfus.count);
	if (result == 0)
		result = read_list(store, call, STATEMENT_SESSIONS_IN_PROGRESS,
			dashboard_session_type(), &sessions,
			&answer.in_progress_sessions.count);
	if (result == 0)
		result = read_list(store, call, STATEMENT_KATAS_OVERVIEW,
			dashboard_kata_type(), &katas, &answer.katas.count);
	if (result < 0)
		return result;
	answer.dreyfus.items = skills;
	answer.in_progress_sessions.items = sessions;
	answer.katas.items = katas;
	call_answer(call, &answer);
	return 0;
}
