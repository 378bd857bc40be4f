/*
 * ui_tools.c - tools by which Claude steers the editor (story 6).
 *
 * Each logs its action behind its call (tool_calls.h), when a session is active, and
 * publishes its message for every window after the commit. Highlights and hints of files add up in the windows; nothing
 * of them is stored (FR-072).
 */
#include "proto/codec/messages.h"
#include "workers/store/coaching/actions.h"
#include "workers/store/coaching/hint_level.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include "workers/store/service/tool_calls.h"

/* Rows of one call (row_ids.h). */
enum ui_row { ROW_ACTION = ROW_OF_TOOL, ROW_PROGRESS };

static int succeed(struct call *call)
{
	call_answer(call, &(struct tool_success){.success = true, .has_success = true});
	return 0;
}

int ui_highlight_lines(struct store *store, struct call *call)
{
	const struct tool_highlight_lines_input *request = call->message;
	struct decorations_applied_data data = {
		.path = request->path, .count = 1, .has_count = true};
	struct editor_highlight_lines shown = {
		.path = request->path,
		.start = request->start,
		.has_start = true,
		.end = request->end,
		.has_end = true,
		.style = str_of(highlight_style_enumeration()->names[request->style]),
		.hover_text = request->hover_text,
	};
	int result;

	if (request->end < request->start)
		return call_refuse(call, ERROR_INVALID_MESSAGE,
			"arguments.end: expected a line not before start (%lld), got "
			"%lld",
			(long long)request->start, (long long)request->end);
	result = action_log(store, call, ROW_ACTION, ACTION_DECORATIONS_APPLIED, &data);
	if (result >= 0)
		result = progress_record(store, call, ROW_PROGRESS, "hint_used",
			decorations_applied_data_type(), &data);
	if (result < 0)
		return result;
	call_publish(
		call, "ui/editor:highlight_lines", editor_highlight_lines_type(), &shown);
	return succeed(call);
}

int ui_clear_highlights(struct store *store, struct call *call)
{
	const struct tool_clear_highlights_input *request = call->message;

	(void)store;
	call_publish(call, "ui/editor:clear_highlights", editor_clear_highlights_type(),
		&(struct editor_clear_highlights){.path = request->path});
	return succeed(call);
}

/* Both forms of input become a list of hints; the form with paths is handed on as it
 * came, too (P6.3). */
static int normalise_hints(struct call *call, const struct tool_hint_files_input *request,
	struct explorer_hint_files *out)
{
	*out = (struct explorer_hint_files){0};
	if (request->hints.count > 0) {
		out->hints.items = request->hints.items;
		out->hints.count = request->hints.count;
		return 0;
	}
	if (request->paths.count == 0 || !request->has_style)
		return call_refuse(call, ERROR_INVALID_MESSAGE,
			"arguments: expected hints, or paths with a style");
	out->hints.items =
		arena_array(call->arena, request->paths.count, sizeof(*out->hints.items));
	out->hints.count = request->paths.count;
	for (size_t i = 0; i < request->paths.count; i++)
		out->hints.items[i] = (struct file_hint){.path = request->paths.items[i],
			.style = request->style,
			.has_style = true};
	out->paths = request->paths;
	out->style = request->style;
	out->has_style = true;
	return 0;
}

int ui_hint_files(struct store *store, struct call *call)
{
	struct file_hints_applied_data data = {0};
	struct explorer_hint_files shown;
	int result = normalise_hints(call, call->message, &shown);

	if (result < 0)
		return result;
	data.paths.items =
		arena_array(call->arena, shown.hints.count, sizeof(struct str));
	data.paths.count = shown.hints.count;
	for (size_t i = 0; i < shown.hints.count; i++)
		data.paths.items[i] = shown.hints.items[i].path;
	result = action_log(store, call, ROW_ACTION, ACTION_FILE_HINTS_APPLIED, &data);
	if (result >= 0)
		result = progress_record(store, call, ROW_PROGRESS, "hint_used",
			file_hints_applied_data_type(), &data);
	if (result < 0)
		return result;
	call_publish(call, "ui/explorer:hint_files", explorer_hint_files_type(), &shown);
	return succeed(call);
}

int ui_clear_hints(struct store *store, struct call *call)
{
	(void)store;
	call_publish(call, "ui/explorer:clear_hints", empty_type(), &(struct empty){0});
	return succeed(call);
}

int ui_show_message(struct store *store, struct call *call)
{
	const struct tool_show_message_input *request = call->message;
	int result = action_log(store, call, ROW_ACTION, ACTION_COACHING_MESSAGE,
		&(struct coaching_message_data){
			.message_type = request->type, .has_message_type = true});

	if (result < 0)
		return result;
	call_publish(call, "ui/coaching:message", coaching_message_type(),
		&(struct coaching_message){.message = request->message,
			.type = request->type,
			.has_type = true,
			.anchor = request->anchor,
			.has_anchor = request->has_anchor});
	return succeed(call);
}

int ui_show_issue_context(struct store *store, struct call *call)
{
	const struct tool_show_issue_context_input *request = call->message;

	(void)store;
	call_publish(call, "ui/coaching:issue_context", coaching_issue_context_type(),
		&(struct coaching_issue_context){.number = request->number,
			.has_number = request->has_number,
			.title = request->title,
			.summary = request->summary,
			.labels = request->labels,
			.url = request->url});
	return succeed(call);
}
