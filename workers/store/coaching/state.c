/* state.c - the items of the session state (state.h). */
#include "workers/store/coaching/state.h"
#include "common/base/buf.h"
#include "proto/codec/messages.h"
#include "workers/store/coaching/files.h"
#include "workers/store/coaching/phases.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include <errno.h>
#include <stdlib.h>

/* Without `include` everything up to the skills is told (EC-33). */
enum { DEFAULT_ITEMS = STATE_DREYFUS + 1 };

/* Appends the value of one item. 0 or -errno. */
typedef int item_fn(struct store *store, struct call *call, struct buf *out);

static int add_phase(struct store *store, struct call *call, struct buf *out)
{
	struct phase_row row;
	int found = phase_current(store, call, &row);

	if (found == 1)
		proto_encode(state_phase_type(),
			&(struct state_phase){.id = row.info.id,
				.number = row.info.number,
				.has_number = true,
				.title = row.info.title,
				.status = row.info.status,
				.has_status = true,
				.hint_level = row.hint_level},
			out);
	else if (found == 0)
		buf_add_str(out, STR_LIT("null"));
	return found < 0 ? found : 0;
}

static int add_plan(struct store *store, struct call *call, struct buf *out)
{
	struct state_plan plan = {0};
	struct phase_row *rows;
	int found = plan_current(store, call, &plan.id);

	if (found == 1)
		found = phases_of_plan(store, call, plan.id, &rows, &plan.phases.count);
	else if (found == 0)
		buf_add_str(out, STR_LIT("null"));
	if (found < 0 || !plan.id.ptr)
		return found;
	plan.phases.items =
		arena_array(call->arena, plan.phases.count, sizeof(*plan.phases.items));
	for (size_t i = 0; i < plan.phases.count; i++)
		plan.phases.items[i] = (struct state_plan_phase){
			.number = rows[i].info.number,
			.has_number = true,
			.title = rows[i].info.title,
			.status = rows[i].info.status,
			.has_status = true,
		};
	proto_encode(state_plan_type(), &plan, out);
	return 0;
}

static int add_progress(struct store *store, struct call *call, struct buf *out)
{
	struct str plan_id;
	int found = plan_current(store, call, &plan_id);

	buf_add_char(out, '[');
	if (found == 1) {
		AUTO_QUERY *query = query_begin(&store->db, STATEMENT_PROGRESS_OF_PLAN);
		const char *comma = "";

		query_text(query, 1, plan_id);
		while ((found = query_step(&store->db, query)) == 1) {
			buf_add_str(out, str_of(comma));
			comma = ",";
			proto_encode(state_progress_type(),
				&(struct state_progress){
					.event_type = query_column(query, 0, call->arena),
					.data = {.raw = query_column(
							 query, 1, call->arena)},
					.created_at =
						query_column(query, 2, call->arena)},
				out);
		}
	}
	buf_add_char(out, ']');
	return found < 0 ? found : 0;
}

static bool column_int(sqlite3_stmt *query, int column, int64_t *out)
{
	*out = sqlite3_column_int64(query, column);
	return sqlite3_column_type(query, column) != SQLITE_NULL;
}

static void add_line_hint(sqlite3_stmt *query, struct call *call, struct buf *out)
{
	struct state_line_hint hint = {
		.path = query_column(query, 1, call->arena),
		.style = query_column(query, 4, call->arena),
		.hover_text = query_column(query, 5, call->arena),
	};

	hint.has_start = column_int(query, 2, &hint.start);
	hint.has_end = column_int(query, 3, &hint.end);
	if (out->len > 0)
		buf_add_char(out, ',');
	proto_encode(state_line_hint_type(), &hint, out);
}

static void add_file_hint(sqlite3_stmt *query, struct call *call, struct buf *out)
{
	if (out->len > 0)
		buf_add_char(out, ',');
	proto_encode(state_file_hint_type(),
		&(struct state_file_hint){.path = query_column(query, 1, call->arena),
			.style = query_column(query, 4, call->arena)},
		out);
}

static int add_hints(struct store *store, struct call *call, struct buf *out)
{
	AUTO_BUF files = {0}, lines = {0};
	struct phase_row row;
	int found = phase_current(store, call, &row);

	if (found == 1) {
		AUTO_QUERY *query = query_begin(&store->db, STATEMENT_HINTS_OF_PHASE);

		query_text(query, 1, row.info.id);
		while ((found = query_step(&store->db, query)) == 1) {
			if (str_is(query_column(query, 0, call->arena), "line"))
				add_line_hint(query, call, &lines);
			else
				add_file_hint(query, call, &files);
		}
	}
	buf_printf(out, "{\"fileHints\":[%.*s],\"lineHints\":[%.*s]}",
		STR_ARG(buf_str(&files)), STR_ARG(buf_str(&lines)));
	return found < 0 ? found : 0;
}

static int add_session(struct store *store, struct call *call, struct buf *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_SESSION_GET);
	struct state_session session;
	int found;

	query_text(query, 1, str_of(store->sessions.active.id));
	found = query_step(&store->db, query);
	if (found == 1) {
		session = (struct state_session){
			.id = query_column(query, 0, call->arena),
			.project_dir = query_column(query, 1, call->arena),
			.issue_title = query_column(query, 3, call->arena),
			.started_at = query_column(query, 5, call->arena),
			.hint_level = store->sessions.hint_level,
			.has_hint_level = true,
		};
		session.has_issue_number = column_int(query, 2, &session.issue_number);
		proto_encode(state_session_type(), &session, out);
	} else if (found == 0) {
		buf_add_str(out, STR_LIT("null"));
	}
	return found < 0 ? found : 0;
}

static int add_dreyfus(struct store *store, struct call *call, struct buf *out)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_DREYFUS_LIST);
	const char *comma = "";
	int found;

	buf_add_char(out, '[');
	while ((found = query_step(&store->db, query)) == 1) {
		buf_add_str(out, str_of(comma));
		comma = ",";
		proto_encode(state_skill_type(),
			&(struct state_skill){
				.skill_area = query_column(query, 0, call->arena),
				.stage = query_column(query, 1, call->arena),
				.confidence = sqlite3_column_double(query, 2),
				.has_confidence = true},
			out);
	}
	buf_add_char(out, ']');
	return found;
}

/* The JSON that a statement makes for the active session; null without a row. */
static int add_json_of(
	struct store *store, struct call *call, enum statement statement, struct buf *out)
{
	AUTO_QUERY *query = query_begin(&store->db, statement);
	int found;

	query_text(query, 1, str_of(store->sessions.active.id));
	found = query_step(&store->db, query);
	if (found >= 0)
		buf_add_str(out, found == 1 ? query_column(query, 0, call->arena)
					    : STR_LIT("null"));
	return found < 0 ? found : 0;
}

static int add_active_tab(struct store *store, struct call *call, struct buf *out)
{
	return add_json_of(store, call, STATEMENT_TAB_FOR_STATE, out);
}

static int add_selection(struct store *store, struct call *call, struct buf *out)
{
	return add_json_of(store, call, STATEMENT_SELECTION_FOR_STATE, out);
}

static int add_recent_actions(struct store *store, struct call *call, struct buf *out)
{
	return add_json_of(store, call, STATEMENT_ACTIONS_FOR_STATE, out);
}

static int add_phase_text(struct store *store, struct call *call, struct buf *out)
{
	struct phase_row row;
	int found = phase_current(store, call, &row);

	if (found == 1)
		proto_encode(phase_info_type(), &row.info, out);
	else if (found == 0)
		buf_add_str(out, STR_LIT("null"));
	return found < 0 ? found : 0;
}

/* By enum state_item. */
static item_fn *const items[] = {
	[STATE_PHASE] = add_phase,
	[STATE_PLAN] = add_plan,
	[STATE_PROGRESS] = add_progress,
	[STATE_HINTS] = add_hints,
	[STATE_SESSION] = add_session,
	[STATE_DREYFUS] = add_dreyfus,
	[STATE_ACTIVE_TAB] = add_active_tab,
	[STATE_SELECTION] = add_selection,
	[STATE_PHASE_TEXT] = add_phase_text,
	[STATE_RECENT_ACTIONS] = add_recent_actions,
};

/* NULL: the item is the file worker's. */
static item_fn *item_of(int item)
{
	return (size_t)item < sizeof(items) / sizeof(items[0]) ? items[item] : NULL;
}

/* What is asked for, and what of it is there already. In the call's arena. */
struct state_request {
	bool *wanted; /* by enum state_item */
	struct strs
		from_files; /* names of the items of the file worker that are wanted */
	struct str members; /* the others, as inside of a JSON object */
};

static int read_wanted(struct call *call, struct strs include, struct state_request *out)
{
	out->wanted = arena_array(
		call->arena, state_item_enumeration()->count, sizeof(*out->wanted));
	for (size_t i = 0; i < include.count; i++) {
		int item = enumeration_index(state_item_enumeration(), include.items[i]);

		if (item < 0)
			return call_refuse(call, ERROR_INVALID_MESSAGE,
				"There is no state item \"%.*s\"",
				STR_ARG(include.items[i]));
		out->wanted[item] = true;
	}
	for (int item = 0; include.count == 0 && item < DEFAULT_ITEMS; item++)
		out->wanted[item] = true;
	return 0;
}

static int collect(struct store *store, struct call *call, struct state_request *request)
{
	const struct enumeration *names = state_item_enumeration();
	AUTO_BUF out = {0};
	int result = 0;

	request->from_files.items =
		arena_array(call->arena, names->count, sizeof(struct str));
	for (int item = 0; result == 0 && item < (int)names->count; item++) {
		if (!request->wanted[item])
			continue;
		if (!item_of(item)) {
			request->from_files.items[request->from_files.count++] =
				str_of(names->names[item]);
			continue;
		}
		buf_printf(&out, "%s\"%s\":", out.len > 0 ? "," : "", names->names[item]);
		result = item_of(item)(store, call, &out);
	}
	request->members =
		arena_str(call->arena, out.len > 0 ? buf_str(&out) : STR_LIT(""));
	return result;
}

/* Both may be long: vsnprintf takes far longer for them than copying does. */
static struct str object_of(struct call *call, struct str a, struct str b)
{
	size_t comma = a.len && b.len ? 1 : 0, len = a.len + comma + b.len + 2;
	char *out = arena_alloc(call->arena, len + 1), *at = out;

	*at++ = '{';
	at = mempcpy(at, a.ptr, a.len);
	if (comma)
		*at++ = ',';
	at = mempcpy(at, b.ptr, b.len);
	*at = '}';
	return (struct str){out, len};
}

/* ---- session.state ---- */

static void on_state(
	struct store *store, struct call *call, struct str members, struct str why)
{
	struct state_request *request = call->outcome.after_data;

	(void)store;
	if (members.ptr)
		call_answer_text(call, object_of(call, members, request->members));
	else
		call_refuse(call, ERROR_UNAVAILABLE, "%.*s", STR_ARG(why));
}

static void state_after(struct store *store, struct call *call)
{
	struct state_request *request = call->outcome.after_data;

	files_ask_state(store, call, request->from_files, on_state);
}

int session_state(struct store *store, struct call *call)
{
	const struct tool_get_session_state_input *input = call->message;
	struct state_request *request = arena_alloc(call->arena, sizeof(*request));
	int result = sessions_need(store, call);

	if (result == 0)
		result = read_wanted(call, input->include, request);
	if (result == 0)
		result = collect(store, call, request);
	if (result < 0)
		return result;
	if (request->from_files.count == 0) {
		call_answer_text(call, object_of(call, request->members, STR_LIT("")));
		return 0;
	}
	call->outcome.after_data = request;
	call->outcome.after = state_after;
	return 0;
}

/* ---- session.resume and session.restored ---- */

int state_answer_restored(struct store *store, struct call *call)
{
	struct state_request *request = arena_alloc(call->arena, sizeof(*request));
	int result = read_wanted(call, (struct strs){0}, request);

	if (result == 0)
		result = collect(store, call, request);
	if (result < 0)
		return result;
	call_answer(call,
		&(struct session_resumed){
			.restored_state = {
				.raw = object_of(call, request->members, STR_LIT(""))}});
	return 0;
}

int session_restored(struct store *store, struct call *call)
{
	int result = sessions_need(store, call);

	return result < 0 ? result : state_answer_restored(store, call);
}
