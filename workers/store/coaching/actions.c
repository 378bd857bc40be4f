/* actions.c - the action log (actions.h). */
#include "workers/store/coaching/actions.h"
#include "common/base/utf8.h"
#include "proto/codec/messages.h"
#include "proto/tables/mcp_tools.h"
#include "workers/store/coaching/hint_level.h"
#include "workers/store/db/json_text.h"
#include "workers/store/service/row_ids.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include <errno.h>
#include <stdio.h>

static void publish(const struct store *store, struct call *call,
	const struct session_ref *session, const struct action_entry *entry)
{
	const char *name = action_infos[entry->action].name;
	const struct action_event event = {
		.n = sqlite3_last_insert_rowid(store->db.handle),
		.has_n = true,
		.id = str_of(entry->id),
		.session_id = str_of(session->id),
		.type = str_of(name),
		.data = {.raw = entry->data},
		.created_at = str_of(entry->created_at),
	};
	char topic[64];

	snprintf(topic, sizeof(topic), "%s/%s",
		action_infos[entry->action].observer ? "action" : "log", name);
	call_publish(call, topic, action_event_type(), &event);
}

int action_write(struct store *store, struct call *call,
	const struct session_ref *session, const struct action_entry *entry)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_ACTION_INSERT);
	int written;

	query_text(query, 1, str_of(entry->id));
	query_text(query, 2, str_of(session->id));
	query_text(query, 3, str_of(action_infos[entry->action].name));
	query_text(query, 4, entry->data);
	query_text(query, 5, str_of(entry->created_at));
	written = query_run(&store->db, query);
	if (written == 1)
		publish(store, call, session, entry);
	return written;
}

int action_log(struct store *store, struct call *call, unsigned n, enum action action,
	const void *data)
{
	char id[UUID_SIZE], at[WALL_ISO_SIZE];
	const struct session_ref *session;

	call_row_id(call, n, id);
	call_time(call, at);
	session = sessions_at(&store->sessions, str_of(at));
	if (!session) {
		store->dropped++;
		return 0;
	}
	return action_write(store, call, session,
		&(struct action_entry){
			.id = id,
			.action = action,
			.data = call_encode(call, action_infos[action].data(), data),
			.created_at = at,
		});
}

int action_find(struct store *store, struct call *call, const char *id,
	struct str *session_id, struct str *data)
{
	AUTO_QUERY *query = query_begin(&store->db, STATEMENT_ACTION_GET);
	int found;

	query_text(query, 1, str_of(id));
	found = query_step(&store->db, query);
	if (found == 1) {
		*session_id = query_column(query, 0, call->arena);
		*data = query_column(query, 2, call->arena);
	}
	return found;
}

/* ---- action.append ---- */

/* The gateway logs calls of any tool, another worker those of tools that it owns. */
static bool may_log_call(enum worker_id caller, const struct mcp_tool_call_data *data)
{
	int tool = data ? mcp_tool_by_name(data->tool_name) : -1;

	return caller == WORKER_GATEWAY ||
	       (tool >= 0 && method_infos[mcp_tool_infos[tool].method].owner == caller);
}

/* Checks one row of the request and makes an entry of it, in the arena, with its data as
 * the action's own type (NULL for a row without). 0 or -ECANCELED. */
static int read_row(struct call *call, const struct action_row *row, size_t index,
	struct action_entry *entry, const void **data)
{
	char *id = arena_alloc(call->arena, UUID_SIZE);
	int action = action_by_name(row->type);
	const struct type *type;
	struct proto_error error;
	struct wall at;
	void *decoded;

	if (row_id(row->id, 0, id) < 0)
		return call_refuse(call, ERROR_INVALID_MESSAGE,
			"actions[%zu].id: expected a UUID", index);
	if (action < 0)
		return call_refuse(call, ERROR_INVALID_MESSAGE,
			"actions[%zu].type: %.*s is no action type", index,
			STR_ARG(row->type));
	if (call->request &&
		!(action_infos[action].loggers & 1u << call->request->caller))
		return call_refuse(call, ERROR_NOT_ALLOWED,
			"actions[%zu].type: %.*s is not for the %s worker to log", index,
			STR_ARG(row->type), worker_infos[call->request->caller].name);
	if (wall_parse(row->created_at, &at) < 0)
		return call_refuse(call, ERROR_INVALID_MESSAGE,
			"actions[%zu].createdAt: expected ISO 8601 with milliseconds and "
			"Z",
			index);
	type = action_infos[action].data();
	decoded = row->data.val ? arena_alloc(call->arena, type->size) : NULL;
	if (decoded && proto_decode(type, row->data.val, "data", DECODE_LENIENT,
			       call->arena, decoded, &error) < 0)
		return call_refuse(call, ERROR_INVALID_MESSAGE, "actions[%zu].%s", index,
			error.text);
	if (call->request && action == ACTION_MCP_TOOL_CALL &&
		!may_log_call(call->request->caller, decoded))
		return call_refuse(call, ERROR_NOT_ALLOWED,
			"actions[%zu].data.toolName: expected a tool of the %s worker",
			index, worker_infos[call->request->caller].name);
	*entry = (struct action_entry){
		.id = id,
		.action = (enum action)action,
		.data = json_text_value(call->arena, row->data.val),
		.created_at = arena_cstr(call->arena, row->created_at),
	};
	*data = decoded;
	return 0;
}

/* Which progress event of the phase an action means, besides its row (P2.6); NULL for
 * none. */
static const char *progress_of(const struct action_entry *entry, const void *data)
{
	if (entry->action == ACTION_REVIEW_REQUESTED)
		return "review_requested";
	if (entry->action == ACTION_REVIEW_COMPLETED && data &&
		((const struct review_completed_data *)data)->passed)
		return "review_passed";
	return NULL;
}

/* Writes one row of the request, and its progress event if it means one. As action_write.
 */
static int append_row(struct store *store, struct call *call,
	const struct action_entry *entry, const void *data)
{
	const struct session_ref *session =
		sessions_at(&store->sessions, str_of(entry->created_at));
	const char *event_type = progress_of(entry, data);
	char id[UUID_SIZE];
	int written, result;

	if (!session) {
		store->dropped++;
		return 0;
	}
	written = action_write(store, call, session, entry);
	if (written != 1 || !event_type)
		return written;
	result = row_id(str_of(entry->id), 1, id);
	if (result == 0)
		result = progress_write(store, call,
			&(struct progress_entry){.id = id,
				.event_type = event_type,
				.data = entry->data,
				.created_at = entry->created_at});
	return result < 0 ? result : written;
}

int action_append(struct store *store, struct call *call)
{
	const struct action_append *request = call->message;
	struct written answer = {.has_count = true};

	for (size_t i = 0; i < request->actions.count; i++) {
		struct action_entry entry;
		const void *data = NULL;
		int result = read_row(call, &request->actions.items[i], i, &entry, &data);

		if (result == 0)
			result = append_row(store, call, &entry, data);
		if (result < 0)
			return result;
		answer.count += result;
	}
	call_answer(call, &answer);
	return 0;
}

/* ---- what the learner does in the editor ---- */

/* Logs the one row of the call and answers with nothing. */
static int log_activity(
	struct store *store, struct call *call, enum action action, const void *data)
{
	int result = action_log(store, call, 0, action, data);

	if (result < 0)
		return result;
	call_answer_text(call, STR_LIT("null"));
	return 0;
}

int activity_tab_switch(struct store *store, struct call *call)
{
	const struct editor_tab_switch *request = call->message;

	return log_activity(store, call, ACTION_TAB_SWITCH,
		&(struct tab_switch_data){
			.from_path = request->from_path, .to_path = request->to_path});
}

int activity_selection(struct store *store, struct call *call)
{
	const struct editor_selection *request = call->message;
	struct selection_data data = {
		.path = request->path,
		.range = request->range,
		.text_length = request->text_length,
		.has_text_length = request->has_text_length,
	};

	/* Some clients send the text instead of its length (P5.20). */
	if (!data.has_text_length && request->selected_text.ptr) {
		data.text_length = (int64_t)utf8_utf16_len(request->selected_text);
		data.has_text_length = true;
	}
	return log_activity(store, call, ACTION_SELECTION, &data);
}

int activity_idle_start(struct store *store, struct call *call)
{
	const struct user_idle_start *request = call->message;

	return log_activity(store, call, ACTION_IDLE_START,
		&(struct idle_start_data){
			.last_action_timestamp = request->last_action_timestamp});
}

int activity_idle_end(struct store *store, struct call *call)
{
	return log_activity(store, call, ACTION_IDLE_END, &(struct empty){0});
}

int activity_nudge_answer(struct store *store, struct call *call)
{
	const struct observer_nudge_answer *request = call->message;

	return log_activity(store, call, ACTION_NUDGE_ANSWERED,
		&(struct nudge_answered_data){
			.signal = request->signal,
			.has_signal = true,
			.helpful = request->helpful,
			.has_helpful = true,
		});
}

int activity_dismiss_highlight(struct store *store, struct call *call)
{
	const struct editor_highlight_ref *request = call->message;
	int result;

	if (request->end < request->start)
		return call_refuse(call, ERROR_INVALID_MESSAGE,
			"end: %lld is before start, %lld", (long long)request->end,
			(long long)request->start);
	result = action_log(store, call, 0, ACTION_HIGHLIGHT_DISMISSED,
		&(struct highlight_dismissed_data){
			.path = request->path,
			.start = request->start,
			.has_start = true,
			.end = request->end,
			.has_end = true,
		});
	if (result < 0)
		return result;
	call_answer(call, request);
	return 0;
}

int activity_dismiss_hint(struct store *store, struct call *call)
{
	const struct explorer_hint_ref *request = call->message;
	int result = action_log(store, call, 0, ACTION_HINT_DISMISSED,
		&(struct path_data){.path = request->path});

	if (result < 0)
		return result;
	call_answer(call, request);
	return 0;
}
