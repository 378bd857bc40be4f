/* sessions.c - coaching sessions (sessions.h). */
#include "workers/store/sessions.h"
#include "common/log.h"
#include "proto/messages.h"
#include "workers/store/actions.h"
#include "workers/store/files.h"
#include "workers/store/hints.h"
#include "workers/store/state.h"
#include "workers/store/store.h"
#include <errno.h>
#include <stdio.h>

/* Rows of one call (row_ids.h). Those of the session that another one replaces come
 * behind its own. */
enum session_row { ROW_OWN, ROW_ACTION, ROW_REPLACED };

static void copy_text(char *out, size_t size, struct str text)
{
	snprintf(out, size, "%.*s", STR_ARG(text));
}

/* ---- what is remembered ---- */

static int abandon_others(struct store *store, const char *now)
{
	struct arena arena = {0};
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
	arena_free(&arena);
	return found < 0 ? found : result < 0 ? result : 0;
}

static int load_ref(struct store *store, enum statement which, struct session_ref *out)
{
	AUTO_QUERY *query = query_begin(&store->db, which);
	struct arena arena = {0};
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
	arena_free(&arena);
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
		result = hint_level_load(store, found.active.id, &found.hint_level);
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

/* ---- rows ---- */

/* A row of the table, in the call's arena. */
struct session_row_data {
	struct str id, title, started_at, ended_at;
	int64_t issue_number;
	bool has_issue_number;
};

/* 1 found, 0 not, or -errno. */
static int read_session(struct store *store, struct call *call, struct str id,
	struct session_row_data *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_SESSION_GET);
	int found;

	query_text(query, 1, id);
	found = query_step(&store->db, query);
	if (found == 1)
		*out = (struct session_row_data){
			.id = query_column(query, 0, call->arena),
			.issue_number = sqlite3_column_int64(query, 2),
			.has_issue_number = sqlite3_column_type(query, 2) != SQLITE_NULL,
			.title = query_column(query, 3, call->arena),
			.started_at = query_column(query, 5, call->arena),
			.ended_at = query_column(query, 6, call->arena),
		};
	return found;
}

static void publish_session(
	struct call *call, const char *topic, struct session_row_data *row)
{
	call_publish(call, topic, session_event_type(),
		&(struct session_event){.session_id = row->id,
			.issue_number = row->issue_number,
			.has_issue_number = row->has_issue_number});
}

static int64_t duration_ms(const char *started_at, struct wall until)
{
	struct wall from;

	if (wall_parse(str_of(started_at), &from) < 0 || until.us < from.us)
		return 0;
	return wall_ms(until) - wall_ms(from);
}

/* Ends the active session with a status, logs session_ended in row `n` of the call
 * (P4.14). */
static int end_active(struct store *store, struct call *call, unsigned n,
	const char *status, int64_t *ms)
{
	struct session_ref ended = store->sessions.active;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_SESSION_END);
	struct session_row_data row = {.id = arena_str(call->arena, str_of(ended.id))};
	int result;

	call_time(call, ended.ended_at);
	*ms = duration_ms(ended.started_at, call->arrived);
	result = action_log(store, call, n, ACTION_SESSION_ENDED,
		&(struct session_ended_data){.status = str_of(status),
			.duration_ms = *ms,
			.has_duration_ms = true});
	if (result < 0)
		return result;
	query_text(query, 1, row.id);
	query_text(query, 2, str_of(status));
	query_text(query, 3, str_of(ended.ended_at));
	result = query_run(&store->db, query);
	if (result < 0)
		return result;
	store->sessions.active = (struct session_ref){0};
	store->sessions.last_ended = ended;
	publish_session(call, "session/ended", &row);
	return 0;
}

static int phases_completed(struct store *store, struct str session_id, int64_t *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_SESSION_PHASES_COMPLETED);
	int found;

	query_text(query, 1, session_id);
	found = query_step(&store->db, query);
	if (found == 1)
		*out = sqlite3_column_int64(query, 0);
	return found < 0 ? found : 0;
}

/* ---- services ---- */

int session_active(struct store *store, struct call *call)
{
	const struct sessions *s = &store->sessions;
	struct active_session answer = {0};

	if (s->active.id[0]) {
		answer.session_id = str_of(s->active.id);
		answer.started_at = str_of(s->active.started_at);
		answer.hint_level = s->hint_level;
		answer.has_hint_level = true;
	}
	call_answer(call, &answer);
	return 0;
}

static void on_open_files(struct store *store, struct call *call, struct strs files)
{
	struct session_started *answer = call->outcome.after_data;

	(void)store;
	answer->open_files = files;
	call_answer(call, answer);
}

static void started_after(struct store *store, struct call *call)
{
	files_ask_open(store, call, on_open_files);
}

/* The answer to session.start, but for the open files, which the file worker knows. */
static void answer_started(
	struct store *store, struct call *call, struct session_row_data *row)
{
	struct session_started *answer = arena_alloc(call->arena, sizeof(*answer));

	*answer = (struct session_started){
		.session_id = row->id,
		.issue_context = {.number = row->issue_number,
			.has_number = row->has_issue_number,
			.title = row->title},
		.has_issue_context = true,
		.phases = {.raw = STR_LIT("[]")},
		.hint_level = store->sessions.hint_level,
		.has_hint_level = true,
	};
	call->outcome.after_data = answer;
	call->outcome.after = started_after;
	publish_session(call, "session/started", row);
}

static int insert_session(struct store *store, struct session_row_data *row)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_SESSION_INSERT);
	int result;

	query_text(query, 1, row->id);
	query_text(query, 2, str_of(store->project_dir));
	if (query && row->has_issue_number)
		sqlite3_bind_int64(query, 3, row->issue_number);
	query_text(query, 4, row->started_at);
	result = query_run(&store->db, query);
	return result < 0 ? result : 0;
}

int session_start(struct store *store, struct call *call)
{
	const struct session_start *request = call->message;
	char *id = arena_alloc(call->arena, UUID_SIZE);
	char *at = arena_alloc(call->arena, WALL_ISO_SIZE);
	struct session_row_data row;
	int64_t ms;
	int result;

	call_row_id(call, ROW_OWN, id);
	call_time(call, at);
	result = read_session(store, call, str_of(id), &row);
	if (result < 0)
		return result;
	if (result == 1) { /* repeated after a crash between the commit and the answer */
		answer_started(store, call, &row);
		return 0;
	}
	if (store->sessions.active.id[0]) {
		result = end_active(store, call, ROW_REPLACED, "abandoned", &ms);
		if (result < 0)
			return result;
	}
	row = (struct session_row_data){
		.id = str_of(id),
		.started_at = str_of(at),
		.issue_number = request->issue_number,
		.has_issue_number = request->has_issue_number,
	};
	result = insert_session(store, &row);
	if (result < 0)
		return result;
	copy_text(store->sessions.active.id, UUID_SIZE, row.id);
	copy_text(store->sessions.active.started_at, WALL_ISO_SIZE, row.started_at);
	store->sessions.hint_level = HINT_LEVEL_NONE;
	result = action_log(store, call, ROW_ACTION, ACTION_SESSION_STARTED,
		&(struct session_started_data){.issue_number = row.issue_number,
			.has_issue_number = row.has_issue_number});
	if (result < 0)
		return result;
	answer_started(store, call, &row);
	return 0;
}

static int reactivate(
	struct store *store, struct call *call, struct session_row_data *row)
{
	struct sessions *s = &store->sessions;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_SESSION_REACTIVATE);
	int64_t ms;
	int result;

	if (s->active.id[0] && !str_is(row->id, s->active.id)) {
		result = end_active(store, call, ROW_REPLACED, "abandoned", &ms);
		if (result < 0)
			return result;
	}
	query_text(query, 1, row->id);
	result = query_run(&store->db, query);
	if (result < 0)
		return result;
	s->active = (struct session_ref){0};
	copy_text(s->active.id, UUID_SIZE, row->id);
	copy_text(s->active.started_at, WALL_ISO_SIZE, row->started_at);
	if (str_is(row->id, s->last_ended.id))
		s->last_ended = (struct session_ref){0};
	result = hint_level_load(store, s->active.id, &s->hint_level);
	if (result < 0)
		return result;
	return action_log(store, call, ROW_OWN, ACTION_SESSION_RESUMED,
		&(struct session_resumed_data){.previous_session_id = row->id});
}

int session_resume(struct store *store, struct call *call)
{
	const struct session_resume *request = call->message;
	struct session_row_data row;
	struct str session_id, data;
	char id[UUID_SIZE];
	int result;

	call_row_id(call, ROW_OWN, id);
	result = read_session(store, call, request->session_id, &row);
	if (result < 0)
		return result;
	if (result == 0)
		return call_refuse(call, ERROR_NOT_FOUND, "There is no session %.*s",
			STR_ARG(request->session_id));
	result = action_find(store, call, id, &session_id, &data);
	if (result == 0)
		result = reactivate(store, call, &row);
	if (result < 0)
		return result;
	publish_session(call, "session/resumed", &row);
	return state_answer_restored(store, call);
}

/* The answer of a session.end that was committed before a crash. */
static int repeat_end(struct store *store, struct call *call, struct str data,
	struct session_summary *out)
{
	struct session_ended_data ended;
	struct proto_error error;
	yyjson_doc *doc = proto_parse(data, &error);
	int result = -EINVAL;

	if (doc)
		result = proto_decode(session_ended_data_type(), yyjson_doc_get_root(doc),
			"data", DECODE_LENIENT, call->arena, &ended, &error);
	if (result == 0) {
		out->status = arena_str(call->arena, ended.status);
		out->duration_ms = ended.duration_ms;
	}
	yyjson_doc_free(doc);
	if (result < 0)
		return call_refuse(call, ERROR_INTERNAL_ERROR,
			"The end of session %.*s cannot be read back: %s",
			STR_ARG(out->session_id), error.text);
	return phases_completed(store, out->session_id, &out->phases_completed);
}

/* Ends the active session with a status and answers with its summary; a repeated call
 * answers the same. */
static int end_session(struct store *store, struct call *call, const char *status)
{
	struct session_ended answer = {
		.summary = {.has_duration_ms = true, .has_phases_completed = true},
		.has_summary = true,
	};
	struct session_summary *summary = &answer.summary;
	struct str data;
	char id[UUID_SIZE];
	int result;

	call_row_id(call, ROW_OWN, id);
	result = action_find(store, call, id, &summary->session_id, &data);
	if (result == 1) {
		result = repeat_end(store, call, data, summary);
	} else if (result == 0) {
		result = sessions_need(store, call);
		if (result < 0)
			return result;
		summary->session_id =
			arena_str(call->arena, str_of(store->sessions.active.id));
		summary->status = str_of(status);
		result = end_active(store, call, ROW_OWN, status, &summary->duration_ms);
		if (result == 0)
			result = phases_completed(
				store, summary->session_id, &summary->phases_completed);
	}
	if (result == 0)
		call_answer(call, &answer);
	return result;
}

int session_end(struct store *store, struct call *call)
{
	return end_session(store, call, "abandoned");
}

int session_complete(struct store *store, struct call *call)
{
	const struct session_complete *request = call->message;
	const char *active = store->sessions.active.id;

	/* Another one may have begun while this one was wrapped up. */
	if (active[0] && !str_is(request->session_id, active))
		return call_refuse(call, ERROR_NO_SESSION,
			"The session was replaced by another one while it was wrapped "
			"up");
	return end_session(store, call, "completed");
}

int session_newest(struct store *store, struct call *call)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_SESSION_NEWEST);
	struct session_newest answer = {0};
	int found = query_step(&store->db, query);

	if (found < 0)
		return found;
	if (found == 1) {
		answer.session_id = query_column(query, 0, call->arena);
		answer.status = query_column(query, 1, call->arena);
	}
	call_answer(call, &answer);
	return 0;
}

int session_set_title(struct store *store, struct call *call)
{
	const struct session_title *request = call->message;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_SESSION_SET_TITLE);
	int changed;

	query_text(query, 1, request->session_id);
	query_text(query, 2, request->issue_title);
	changed = query_run(&store->db, query);
	if (changed < 0)
		return changed;
	if (changed == 0)
		return call_refuse(call, ERROR_NOT_FOUND, "There is no session %.*s",
			STR_ARG(request->session_id));
	call_answer_text(call, STR_LIT("null"));
	return 0;
}
