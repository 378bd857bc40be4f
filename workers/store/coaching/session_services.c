/*
 * session_services.c - starting, resuming, ending and completing coaching sessions (P2.9,
 * P4.14, P5.1).
 *
 * What is remembered of them stands in sessions.h. A call that is repeated after a crash
 * finds its own rows and answers as it did the first time.
 */
#include "proto/codec/messages.h"
#include "workers/store/coaching/actions.h"
#include "workers/store/coaching/files.h"
#include "workers/store/coaching/hint_level.h"
#include "workers/store/coaching/state.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include <errno.h>
#include <stdio.h>

/* Rows of one call (row_ids.h). Those of the session that another one replaces come
 * behind its own. */
enum session_row { ROW_OWN, ROW_ACTION, ROW_REPLACED };

static void copy_text(char *out, size_t size, struct str text)
{
	snprintf(out, size, "%.*s", STR_ARG(text));
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
	struct str status, int64_t *ms)
{
	struct session_ref ended = store->sessions.active;
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_SESSION_END);
	struct session_row_data row;
	int result = read_session(store, call, str_of(ended.id), &row);

	if (result != 1)
		return result < 0 ? result : -EINVAL;
	call_time(call, ended.ended_at);
	*ms = duration_ms(ended.started_at, call->arrived);
	result = action_log(store, call, n, ACTION_SESSION_ENDED,
		&(struct session_ended_data){
			.status = status, .duration_ms = *ms, .has_duration_ms = true});
	if (result < 0)
		return result;
	query_text(query, 1, row.id);
	query_text(query, 2, status);
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
		result = end_active(store, call, ROW_REPLACED, STR_LIT("abandoned"), &ms);
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
		result = end_active(store, call, ROW_REPLACED, STR_LIT("abandoned"), &ms);
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
	result = sessions_hint_level(store, s->active.id, &s->hint_level);
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
	AUTO_DOC *doc = proto_parse(data, &error);
	int result = -EINVAL;

	if (doc)
		result = proto_decode(session_ended_data_type(), yyjson_doc_get_root(doc),
			"data", DECODE_LENIENT, call->arena, &ended, &error);
	if (result == 0) {
		out->status = arena_str(call->arena, ended.status);
		out->duration_ms = ended.duration_ms;
	}
	if (result < 0)
		return call_refuse(call, ERROR_INTERNAL_ERROR,
			"The end of session %.*s cannot be read back: %s",
			STR_ARG(out->session_id), error.text);
	return phases_completed(store, out->session_id, &out->phases_completed);
}

/* Ends the active session and answers how it went; a repeated call answers what it did.
 */
static int finish(struct store *store, struct call *call, struct str status)
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
		summary->status = status;
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
	return finish(store, call, STR_LIT("abandoned"));
}

int session_complete(struct store *store, struct call *call)
{
	const struct session_complete *request = call->message;
	struct str session_id, data;
	char id[UUID_SIZE];
	int result;

	call_row_id(call, ROW_OWN, id);
	result = action_find(store, call, id, &session_id, &data);
	if (result < 0)
		return result;
	/* The learner may have ended it, or begun another, while it was wrapped up. */
	if (result == 0 && !str_is(request->session_id, store->sessions.active.id))
		return call_refuse(call, ERROR_NO_SESSION, "No active session");
	return finish(store, call, STR_LIT("completed"));
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
