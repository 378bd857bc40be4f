/* snapshot.c - what the model is told about the moment (snapshot.h). */
#include "workers/observer/snapshot.h"
#include "common/base/clock.h"

int64_t snapshot_time_ms(struct str iso)
{
	struct wall t;

	return iso.ptr && wall_parse(iso, &t) == 0 ? wall_ms(t) : 0;
}

static struct str since(int64_t then_ms, int64_t now_ms, struct arena *arena)
{
	char text[AGO_SIZE];

	if (then_ms == 0)
		return STR_LIT("never");
	ago_text(then_ms, now_ms, text);
	return arena_str(arena, str_of(text));
}

/* Of a tab switch the path is where it went (P10.18). */
static struct str path_of(yyjson_val *data)
{
	yyjson_val *path = yyjson_obj_get(data, "path");

	return proto_str(yyjson_is_str(path) ? path : yyjson_obj_get(data, "toPath"));
}

static void add_actions(struct observer_triage_request *request, yyjson_val *rows,
	int64_t now_ms, struct arena *arena)
{
	size_t count = yyjson_arr_size(rows);
	size_t first = count > SNAPSHOT_ACTIONS ? count - SNAPSHOT_ACTIONS : 0;

	request->recent_actions.items =
		arena_array(arena, SNAPSHOT_ACTIONS, sizeof(struct triage_action));
	for (size_t i = first; i < count; i++) {
		yyjson_val *row = yyjson_arr_get(rows, i);

		request->recent_actions.items[request->recent_actions.count++] =
			(struct triage_action){
				.type = proto_str(yyjson_obj_get(row, "type")),
				.path = path_of(yyjson_obj_get(row, "data")),
				.ago = since(snapshot_time_ms(proto_str(
						     yyjson_obj_get(row, "createdAt"))),
					now_ms, arena)};
	}
}

struct observer_triage_request snapshot_make(const struct observer_context *context,
	const struct policy *policy, int64_t now_ms, struct arena *arena)
{
	struct observer_triage_request request = {.has_current_phase = context->has_phase,
		.time_since_last_save =
			since(snapshot_time_ms(context->last_save_at), now_ms, arena),
		.time_since_last_nudge = since(policy->last_nudge_ms, now_ms, arena),
		.dreyfus_stage = context->dreyfus_stage,
		.user_idle = policy_is_idle(policy, now_ms),
		.has_user_idle = true};

	if (context->has_phase)
		request.current_phase =
			(struct triage_phase){.number = context->phase.number,
				.has_number = true,
				.title = context->phase.title,
				.description = context->phase.description,
				.expected_files = context->phase.expected_files};
	add_actions(&request, context->recent_actions.val, now_ms, arena);
	return request;
}
