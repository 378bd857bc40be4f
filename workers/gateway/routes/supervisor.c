/* supervisor.c - see supervisor.h. */
#include "workers/gateway/routes/supervisor.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "proto/tables/supervisor.h"
#include "workers/gateway/daemon/supervisor_ask.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/json_slice.h"
#include "workers/gateway/routes/ws_message.h"
#include "workers/gateway/ws/ws_server.h"
#include <stdlib.h>

#define FOLLOW_MS 1000

/* A question of a window to the supervisor. */
struct asking {
	struct gateway *gateway;
	struct ws_client *client; /* NULL: for those who follow the status */
	enum ctl_command command;
	struct ws_message_id id;
	const char *worker; /* of a restart, or whose log it is */
};

static bool following_asks;
static struct event *follow_timer;

static void asking_free(struct asking *a)
{
	if (a->client)
		ws_client_unref(a->client);
	else
		following_asks = false;
	free(a);
}

static void fail(const struct asking *a, const char *code, struct str text)
{
	if (a->client)
		ws_message_error(a->client, code, text, (struct str){NULL, 0},
			ws_message_id_of(&a->id));
	else
		log_warn("the supervisor does not tell its status", "reason", "%.*s",
			STR_ARG(text), NULL);
}

/* ---- answers ---- */

static void tell_status(const struct asking *a, struct str line)
{
	struct gateway *g = a->gateway;
	struct bus_stats s;
	struct status_state state = {.daemon.raw = line, .has_bus = true};
	struct payload *payload;
	struct buf out = {0};

	bus_get_stats(g->bus, &s);
	state.bus = (struct bus_figures){
		.calls = (int64_t)s.calls,
		.has_calls = true,
		.timeouts = (int64_t)s.timeouts,
		.has_timeouts = true,
		.resets = (int64_t)s.resets,
		.has_resets = true,
		.repeats = (int64_t)s.repeats,
		.has_repeats = true,
		.events = (int64_t)s.received,
		.has_events = true,
		.gaps = (int64_t)s.gaps,
		.has_gaps = true,
		.in_flight = (int64_t)s.in_flight,
		.has_in_flight = true,
		.windows = (int64_t)g->ws->count,
		.has_windows = true,
	};
	proto_encode(status_state_type(), &state, &out);
	payload = payload_taking(&out);
	if (a->client)
		ws_answer(a->client, STR_LIT("status:state"), payload,
			ws_message_id_of(&a->id));
	else
		ws_tell(g->ws, ws_server_info("status:state"), payload);
	payload_unref(payload);
}

static void tell(const struct asking *a, const char *name, const struct type *type,
	const void *message)
{
	AUTO_BUF out = {0};

	proto_encode(type, message, &out);
	ws_answer_text(a->client, str_of(name), buf_str(&out), ws_message_id_of(&a->id));
}

static void tell_restarted(const struct asking *a, yyjson_val *root)
{
	const struct worker_restarted message = {.worker = str_of(a->worker),
		.took_ms = yyjson_get_sint(yyjson_obj_get(root, "took_ms")),
		.has_took_ms = true};

	tell(a, "worker:restarted", worker_restarted_type(), &message);
}

static void tell_log(const struct asking *a, struct str line, yyjson_val *root)
{
	yyjson_val *first = yyjson_obj_get(root, "first");
	const struct worker_log_lines message = {.worker = str_of(a->worker),
		.lines.raw = json_slice_member(line, "lines"),
		.first = yyjson_get_sint(first),
		.has_first = first != NULL,
		.next = yyjson_get_sint(yyjson_obj_get(root, "next")),
		.has_next = true,
		.missed = yyjson_get_bool(yyjson_obj_get(root, "missed")),
		.has_missed = true};

	tell(a, "worker:log_lines", worker_log_lines_type(), &message);
}

static void on_answer(void *arg, const struct supervisor_answer *answer)
{
	struct asking *a = arg;

	if (answer->code)
		fail(a, answer->code, answer->text);
	else if (a->command == CTL_STATUS)
		tell_status(a, answer->line);
	else if (a->command == CTL_CONFIG)
		ws_answer_text(a->client, STR_LIT("settings:state"), answer->line,
			ws_message_id_of(&a->id));
	else if (a->command == CTL_DOCTOR)
		ws_answer_text(a->client, STR_LIT("doctor:report"), answer->line,
			ws_message_id_of(&a->id));
	else if (a->command == CTL_LOGS)
		tell_log(a, answer->line, answer->root);
	else
		tell_restarted(a, answer->root);
	asking_free(a);
}

/* `message` NULL: for those who follow the status. */
static void ask(struct gateway *g, const struct ws_message *message,
	const struct ctl_request *request)
{
	struct asking *a = xcalloc(1, sizeof(*a));

	*a = (struct asking){.gateway = g, .command = (enum ctl_command)request->command};
	if (message) {
		a->client = message->client;
		ws_client_ref(a->client);
		ws_message_id_keep(&a->id, message);
	} else {
		following_asks = true;
	}
	if (request->worker.ptr) {
		const int worker = worker_by_name(request->worker);

		a->worker = worker >= 0 ? worker_infos[worker].name : SUPERVISOR_NAME;
	}
	supervisor_ask(g->worker, request, 0, on_answer, a);
}

/* ---- windows ---- */

static bool may_ask(const struct ws_message *m)
{
	if (m->client->operates)
		return true;
	log_warn("a window may not ask this", "connection", "%s", m->client->id, "type",
		"%.*s", STR_ARG(m->type), NULL);
	ws_message_error(m->client, "NOT_ALLOWED",
		STR_LIT("Only the user that Paige runs as may ask this, or who shows "
			"the token (`paigectl token`)"),
		(struct str){NULL, 0}, m->id);
	return false;
}

/* `supervisor`: its name will do, too. False after having answered. */
static bool knows_worker(const struct ws_message *m, struct str worker, bool supervisor)
{
	const int count = WORKER_COUNT + supervisor;
	AUTO_BUF names = {0}, text = {0};

	if (worker_by_name(worker) >= 0 ||
		(supervisor && str_is(worker, SUPERVISOR_NAME)))
		return true;
	for (int i = 0; i < count; i++)
		buf_printf(&names, "%s%s",
			i == 0		 ? ""
			: i == count - 1 ? " or "
					 : ", ",
			i < WORKER_COUNT ? worker_infos[i].name : SUPERVISOR_NAME);
	buf_printf(&text, "payload.worker: expected %.*s, not \"%.*s\"",
		STR_ARG(buf_str(&names)), STR_ARG(worker));
	ws_message_error(m->client, "INVALID_MESSAGE", buf_str(&text),
		(struct str){NULL, 0}, m->id);
	return false;
}

static void restart(struct gateway *g, const struct ws_message *m)
{
	const struct worker_ref *ref = m->decoded;

	if (!knows_worker(m, ref->worker, false))
		return;
	log_info("a window wants a worker restarted", "connection", "%s", m->client->id,
		"worker", "%.*s", STR_ARG(ref->worker), NULL);
	ask(g, m,
		&(struct ctl_request){.command = CTL_RESTART,
			.has_command = true,
			.worker = ref->worker});
}

static void show_log(struct gateway *g, const struct ws_message *m)
{
	const struct worker_log_query *query = m->decoded;

	if (knows_worker(m, query->worker, true))
		ask(g, m,
			&(struct ctl_request){.command = CTL_LOGS,
				.has_command = true,
				.worker = query->worker,
				.lines = query->lines,
				.has_lines = query->has_lines,
				.level = query->level,
				.has_level = query->has_level,
				.after = query->after,
				.has_after = query->has_after,
				.before = query->before,
				.has_before = query->has_before});
}

void supervisor_on_message(const struct ws_message *message)
{
	struct gateway *g = message->client->server->gateway;

	if (!may_ask(message))
		return;
	if (str_is(message->type, "worker:restart"))
		restart(g, message);
	else if (str_is(message->type, "worker:log"))
		show_log(g, message);
	else
		ask(g, message,
			&(struct ctl_request){
				.command = str_is(message->type, "status:request")
						   ? CTL_STATUS
					   : str_is(message->type, "doctor:request")
						   ? CTL_DOCTOR
						   : CTL_CONFIG,
				.has_command = true});
}

/* ---- following ---- */

static void on_follow(EVENT_UNUSED, void *arg)
{
	struct gateway *g = arg;

	if (!ws_is_followed(g->ws, WS_TO_STATUS)) {
		event_del(follow_timer);
		return;
	}
	if (!following_asks)
		ask(g, NULL,
			&(struct ctl_request){
				.command = CTL_STATUS, .has_command = true});
}

bool supervisor_may_follow(const struct ws_message *message)
{
	struct gateway *g = message->client->server->gateway;

	if (!may_ask(message))
		return false;
	if (!follow_timer) {
		follow_timer =
			alloc_checked(event_new(g->base, -1, EV_PERSIST, on_follow, g));
	}
	if (!event_pending(follow_timer, EV_TIMEOUT, NULL))
		event_add_ms(follow_timer, FOLLOW_MS);
	return true;
}
