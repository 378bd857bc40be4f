/* dashboard.c - figures and lists (dashboard.h). SQLite makes the JSON where it is handed
 * on unread. */
#include "workers/store/dashboard.h"
#include "common/buf.h"
#include "proto/actions.h"
#include "proto/messages.h"
#include "workers/store/plans.h"
#include "workers/store/rows.h"
#include "workers/store/store.h"

#define DAY_US (86400 * INT64_C(1000000))
/* Rows from which the Observer is rebuilt; it shows the model fewer. */
#define OBSERVED_ROWS "200"

static int read(struct store *store, struct call *call, enum statement which,
	struct str first, struct str second, struct str *out)
{
	return rows_json(&store->db, which, first, second, call->arena, out);
}

/* ---- dashboard.state ---- */

/* Where a period begins; all time begins before every row. */
static struct str period_start(struct call *call, int period)
{
	static const int days[] = {[STATS_7D] = 7, [STATS_30D] = 30};
	char *at = arena_alloc(call->arena, WALL_ISO_SIZE);

	if (period == STATS_ALL)
		return STR_LIT("");
	wall_iso((struct wall){call->arrived.us - days[period] * DAY_US}, at);
	return str_of(at);
}

int dashboard_state(struct store *store, struct call *call)
{
	const struct dashboard_request *request = call->message;
	int period = request->has_stats_period ? request->stats_period : STATS_ALL;
	struct str start = period_start(call, period);
	struct str name = str_of(stats_period_enumeration()->names[period]);
	struct str dreyfus, stats, sessions, katas;
	int result =
		read(store, call, STATEMENT_DASHBOARD_DREYFUS, start, name, &dreyfus);

	if (result == 0)
		result =
			read(store, call, STATEMENT_DASHBOARD_STATS, start, name, &stats);
	if (result == 0)
		result = read(store, call, STATEMENT_DASHBOARD_SESSIONS, start, name,
			&sessions);
	if (result == 0)
		result =
			read(store, call, STATEMENT_DASHBOARD_KATAS, start, name, &katas);
	if (result < 0)
		return result;
	call_answer_text(call, arena_printf(call->arena,
				       "{\"dreyfus\":%.*s,\"stats\":%.*s,"
				       "\"inProgressSessions\":%.*s,\"katas\":%.*s}",
				       STR_ARG(dreyfus), STR_ARG(stats),
				       STR_ARG(sessions), STR_ARG(katas)));
	return 0;
}

/* ---- dashboard.context ---- */

static int kata_titles(struct store *store, struct call *call, struct strs *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_DASHBOARD_KATA_TITLES);
	size_t room = 0;
	int found;

	*out = (struct strs){0};
	while ((found = query_step(&store->db, query)) == 1) {
		rows_grow(call->arena, (void **)&out->items, &room, out->count,
			sizeof(*out->items));
		out->items[out->count++] = query_column(query, 0, call->arena);
	}
	if (!out->items)
		out->items = arena_array(call->arena, 1, sizeof(*out->items));
	return found;
}

int dashboard_context(struct store *store, struct call *call)
{
	const struct str none = {NULL, 0};
	struct dashboard_context answer = {0};
	int result = read(store, call, STATEMENT_DREYFUS_FOR_MODEL, none, none,
		&answer.dreyfus.raw);

	if (result == 0)
		result = read(store, call, STATEMENT_DASHBOARD_RECENT, none, none,
			&answer.recent_sessions.raw);
	if (result == 0)
		result = read(store, call, STATEMENT_DASHBOARD_GAPS, none, none,
			&answer.gaps.raw);
	if (result == 0)
		result = read(store, call, STATEMENT_DASHBOARD_TOP_GAPS, none, none,
			&answer.top_gaps.raw);
	if (result == 0)
		result = kata_titles(store, call, &answer.kata_titles);
	if (result < 0)
		return result;
	call_answer(call, &answer);
	return 0;
}

/* ---- observer.context ---- */

/* Time and data of the session's last row of a type; absent without one. */
static int last_of(struct store *store, struct call *call, struct str session_id,
	enum action action, struct str *at, struct str *data)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_ACTION_LAST_TIME);
	int found;

	query_text(query, 1, session_id);
	query_text(query, 2, str_of(action_infos[action].name));
	found = query_step(&store->db, query);
	if (found == 1) {
		*at = query_column(query, 0, call->arena);
		*data = query_column(query, 1, call->arena);
	}
	return found < 0 ? found : 0;
}

static int newest_stage(struct store *store, struct call *call, struct str *stage)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_DREYFUS_CONTEXT);
	int found = query_step(&store->db, query);

	*stage = found == 1 ? query_column(query, 1, call->arena) : STR_LIT("novice");
	return found < 0 ? found : 0;
}

int observer_context(struct store *store, struct call *call)
{
	const struct observer_query *request = call->message;
	struct observer_context answer = {.has_muted = true};
	struct str at = {NULL, 0}, data = {NULL, 0}, unused;
	int result = read(store, call, STATEMENT_ACTIONS_FOR_OBSERVER,
		request->session_id, STR_LIT(OBSERVED_ROWS), &answer.recent_actions.raw);

	if (result == 0)
		result = last_of(store, call, request->session_id, ACTION_FILE_SAVE,
			&answer.last_save_at, &unused);
	if (result == 0)
		result = last_of(store, call, request->session_id, ACTION_NUDGE_SENT,
			&answer.last_nudge_at, &unused);
	if (result == 0)
		result = last_of(store, call, request->session_id, ACTION_OBSERVER_MUTED,
			&at, &data);
	answer.muted = data.ptr && memmem(data.ptr, data.len, "true", 4);
	if (result == 0)
		result = newest_stage(store, call, &answer.dreyfus_stage);
	if (result == 0)
		result = plan_context_phase(store, call, &answer.phase);
	answer.has_phase = result == 1;
	if (result < 0)
		return result;
	call_answer(call, &answer);
	return 0;
}
