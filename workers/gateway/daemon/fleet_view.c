/* fleet_view.c - see fleet_view.h. */
#include "workers/gateway/daemon/fleet_view.h"
#include <errno.h>
#include <stdio.h>

static void take_worker(struct fleet_view *view, const struct fleet_worker *w)
{
	int id = worker_by_name(w->name);
	struct fleet_view_worker *out;

	if (id < 0)
		return;
	out = &view->workers[id];
	*out = (struct fleet_view_worker){
		.known = true,
		.up = w->up,
		.stopped = str_is(w->state, "stopped"),
		.fine = str_is(w->condition, "fine"),
		.failing = str_is(w->condition, "failing"),
		.restarts = w->restarts,
	};
	snprintf(out->state, sizeof(out->state), "%.*s", STR_ARG(w->state));
}

static void forget_optional(struct fleet_view *view)
{
	for (int i = 0; i < WORKER_COUNT; i++)
		if (worker_infos[i].needs_setting)
			view->workers[i] = (struct fleet_view_worker){0};
}

int fleet_view_update(
	struct fleet_view *view, struct str fleet_json, struct proto_error *error)
{
	AUTO_DOC *doc = proto_parse(fleet_json, error);
	AUTO_ARENA arena = {0};
	struct fleet fleet;
	int rc;

	if (!doc)
		return -EINVAL;
	rc = proto_decode(fleet_type(), yyjson_doc_get_root(doc), "fleet", DECODE_LENIENT,
		&arena, &fleet, error);
	if (rc == 0) {
		view->started = (struct mono){fleet.started_ms * 1000};
		forget_optional(view);
		for (size_t i = 0; i < fleet.workers.count; i++)
			take_worker(view, &fleet.workers.items[i]);
	}
	return rc;
}

bool fleet_view_counts(const struct fleet_view *view, int id)
{
	return view->workers[id].known || !worker_infos[id].needs_setting;
}

bool fleet_view_ready(const struct fleet_view *view)
{
	for (int i = 0; i < WORKER_COUNT; i++)
		if (fleet_view_counts(view, i) && !view->workers[i].up)
			return false;
	return true;
}

int64_t fleet_view_uptime_ms(const struct fleet_view *view, struct mono now)
{
	int64_t ms = view->started.us ? mono_diff_ms(now, view->started) : 0;

	return ms > 0 ? ms : 0;
}

int fleet_view_health(const struct fleet_view *view, struct mono now, struct buf *out)
{
	const struct fleet_view_worker *store = &view->workers[WORKER_STORE];
	int64_t uptime_ms = fleet_view_uptime_ms(view, now);
	bool ok = true;

	for (int i = 0; i < WORKER_COUNT; i++)
		ok = ok && (!fleet_view_counts(view, i) ||
				   (view->workers[i].up && view->workers[i].fine));
	buf_printf(out, "{\"status\":\"%s\",\"uptime\":%lld.%03lld,\"workers\":{",
		ok ? "ok" : "degraded", (long long)(uptime_ms / 1000),
		(long long)(uptime_ms % 1000));
	for (int i = 0; i < WORKER_COUNT; i++) {
		const struct fleet_view_worker *w = &view->workers[i];

		if (!fleet_view_counts(view, i))
			continue;
		buf_printf(out, "%s\"%s\":", i ? "," : "", worker_infos[i].name);
		buf_add_json_string(out, str_of(w->up	    ? "up"
						 : w->known ? w->state
							    : "unknown"));
	}
	buf_add_str(out, STR_LIT("}}"));
	return store->up && !store->failing ? 200 : 503;
}
