/* sessions.c - coaching sessions (sessions.h). */
#include "workers/store/service/sessions.h"
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include "proto/tables/actions.h"
#include "workers/store/service/store.h"
#include <errno.h>
#include <stdio.h>

static void copy_text(char *out, size_t size, struct str text)
{
	snprintf(out, size, "%.*s", STR_ARG(text));
}

/* ---- what is remembered ---- */

static int abandon_others(struct store *store, const char *now)
{
	AUTO_ARENA arena = {0};
	int found, result = 0;

	/* One at a time, since each change starts the list anew; all end up abandoned. */
	for (;;) {
		char id[UUID_SIZE] = "";
		{
			AUTO_QUERY *list =
				query_begin(&store->db, STATEMENT_SESSIONS_ACTIVE);

			found = query_step(&store->db, list);
			if (found == 1)
				found = query_step(
					&store->db, list); /* the first one stays */
			if (found == 1)
				copy_text(id, sizeof(id), query_column(list, 0, &arena));
		}
		if (found != 1)
			break;
		AUTO_QUERY *end = query_begin(&store->db, STATEMENT_SESSION_END);

		query_text(end, 1, str_of(id));
		query_text(end, 2, STR_LIT("abandoned"));
		query_text(end, 3, str_of(now));
		result = query_run(&store->db, end);
		if (result < 0)
			break;
		log_warn("two sessions were active, the older one is abandoned",
			"session", "%s", id, NULL);
	}
	return found < 0 ? found : result < 0 ? result : 0;
}

static int load_ref(struct store *store, enum statement which, struct session_ref *out)
{
	AUTO_QUERY *query = query_begin(&store->db, which);
	AUTO_ARENA arena = {0};
	int found = query_step(&store->db, query);

	*out = (struct session_ref){0};
	if (found == 1) {
		copy_text(out->id, sizeof(out->id), query_column(query, 0, &arena));
		copy_text(out->started_at, sizeof(out->started_at),
			query_column(query, 1, &arena));
		if (sqlite3_column_count(query) > 2)
			copy_text(out->ended_at, sizeof(out->ended_at),
				query_column(query, 2, &arena));
	}
	return found < 0 ? found : 0;
}

static int level_of(struct str data)
{
	struct hint_level_change_data change = {0};
	struct proto_error error;
	AUTO_ARENA arena = {0};
	AUTO_DOC *doc = proto_parse(data, &error);
	int level = HINT_LEVEL_NONE;

	if (doc && proto_decode(hint_level_change_data_type(), yyjson_doc_get_root(doc),
			   "data", DECODE_LENIENT, &arena, &change, &error) == 0)
		level = change.level;
	return level;
}

int sessions_hint_level(struct store *store, const char *session_id, int *level)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_ACTION_LAST_OF_TYPE);
	AUTO_ARENA arena = {0};
	int found;

	query_text(query, 1, str_of(session_id));
	query_text(query, 2, str_of(action_infos[ACTION_HINT_LEVEL_CHANGE].name));
	found = query_step(&store->db, query);
	if (found >= 0)
		*level = found == 1 ? level_of(query_column(query, 0, &arena))
				    : HINT_LEVEL_NONE;
	return found < 0 ? found : 0;
}

int sessions_load(struct store *store, struct wall now)
{
	struct sessions found = {0};
	char at[WALL_ISO_SIZE];
	int result = database_execute(&store->db, STATEMENT_BEGIN_WRITE);

	wall_iso(now, at);
	if (result == 0)
		result = abandon_others(store, at);
	if (result == 0)
		result = load_ref(store, STATEMENT_SESSIONS_ACTIVE, &found.active);
	if (result == 0)
		result = load_ref(store, STATEMENT_SESSION_LAST_ENDED, &found.last_ended);
	if (result == 0 && found.active.id[0])
		result = sessions_hint_level(store, found.active.id, &found.hint_level);
	if (result == 0)
		result = database_execute(&store->db, STATEMENT_COMMIT);
	if (result == 0)
		store->sessions = found;
	else if (!sqlite3_get_autocommit(store->db.handle))
		(void)!database_execute(&store->db, STATEMENT_ROLLBACK);
	return result;
}

/* Times of one format compare as text (X3). */
static int compare_times(struct str a, const char *b)
{
	size_t n = strlen(b);
	int order = memcmp(a.ptr, b, a.len < n ? a.len : n);

	return order ? order : (a.len > n) - (a.len < n);
}

const struct session_ref *sessions_at(const struct sessions *sessions, struct str at)
{
	const struct session_ref *last = &sessions->last_ended;

	/* Also when a clock that was set back makes it look older than the session. */
	bool before = sessions->active.id[0] &&
		      compare_times(at, sessions->active.started_at) < 0;

	if (sessions->active.id[0] && !before)
		return &sessions->active;
	if (last->id[0] && compare_times(at, last->started_at) >= 0 &&
		compare_times(at, last->ended_at) < 0)
		return last;
	return sessions->active.id[0] ? &sessions->active : NULL;
}

int sessions_need(struct store *store, struct call *call)
{
	if (store->sessions.active.id[0])
		return 0;
	return call_refuse(call, ERROR_NO_SESSION, "No active session");
}
