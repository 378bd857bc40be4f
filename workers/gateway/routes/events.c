/* events.c - see events.h. */
#include "workers/gateway/routes/events.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "proto/codec/messages.h"
#include "proto/tables/topics.h"
#include "proto/tables/ws.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/routes/guard_watch.h"
#include "workers/gateway/routes/tree.h"
#include "workers/gateway/routes/unseen.h"
#include "workers/gateway/ws/ws_server.h"

#define UI_PREFIX "ui/"

static void on_ui_event(void *arg, const struct bus_event *event)
{
	const size_t n = sizeof(UI_PREFIX) - 1;
	struct gateway *g = arg;
	int type = ws_server_by_name(
		(struct str){event->topic.ptr + n, event->topic.len - n});
	const struct ws_info *info = type < 0 ? NULL : &ws_server_infos[type];
	struct payload *payload;

	if (!info || info->audience == WS_TO_SENDER) {
		bus_complain_of_event(
			g->bus, "an event of an unknown type was dropped", event);
		return;
	}
	payload = payload_new(event->body);
	if (g->ws->count == 0)
		unseen_keep(str_of(info->name), payload);
	ws_tell(g->ws, info, payload);
	if (info->audience == WS_TO_GUARDS)
		guard_watch_tell(str_of(info->name), payload);
	payload_unref(payload);
}

static void on_tree(void *arg, const struct bus_event *event)
{
	struct gateway *g = arg;
	struct payload *payload;

	if (str_is(event->topic, "tree/stale")) {
		tree_renew(g->ws);
		return;
	}
	payload = payload_new(event->body);
	tree_arrived(g->ws, payload);
	payload_unref(payload);
}

static void on_log_row(void *arg, const struct bus_event *event)
{
	struct gateway *g = arg;
	struct payload *payload;

	if (!ws_is_followed(g->ws, WS_TO_LOG))
		return;
	payload = payload_new(event->body);
	ws_tell(g->ws, ws_server_info("log:row"), payload);
	payload_unref(payload);
}

static void on_session_event(void *arg, const struct bus_event *event)
{
	(void)arg;
	/* What was shown belongs to the session before. */
	if (!str_is(event->topic, "session/resumed"))
		unseen_forget();
	unseen_set_session(!str_is(event->topic, "session/ended"));
}

static void on_session(void *arg, const struct bus_reply *reply)
{
	AUTO_ARENA arena = {0};
	struct active_session session = {0};
	struct proto_error error;

	(void)arg;
	if (reply->status == BUS_OK && bus_reply_decode(METHOD_SESSION_ACTIVE, reply,
					       &arena, &session, &error) == 0)
		unseen_set_session(session.session_id.ptr != NULL);
}

static void on_gap(void *arg, enum worker_id from, uint64_t missed)
{
	struct gateway *g = arg;

	if (missed > 0)
		log_warn("events were missed", "from", "%s", worker_infos[from].name,
			"count", "%llu", (unsigned long long)missed, NULL);
	if (from == WORKER_FSWATCH)
		tree_missed(g->ws);
}

void events_subscribe(struct gateway *g)
{
	for (int i = 0; i < TOPIC_COUNT; i++) {
		const struct topic_info *topic = &topic_infos[i];

		if (strcmp(topic->prefix, UI_PREFIX) != 0)
			continue;
		bus_subscribe(g->bus, topic->publisher, UI_PREFIX, on_ui_event, g);
		bus_on_gap(g->bus, topic->publisher, on_gap, g);
	}
	bus_subscribe(g->bus, WORKER_FSWATCH, "tree/", on_tree, g);
	bus_subscribe(g->bus, WORKER_STORE, "session/", on_session_event, g);
	bus_subscribe(g->bus, WORKER_STORE, "action/", on_log_row, g);
	bus_subscribe(g->bus, WORKER_STORE, "log/", on_log_row, g);
	bus_call(g->bus, METHOD_SESSION_ACTIVE, (struct str){NULL, 0}, STR_LIT("{}"), 0,
		on_session, g);
}
