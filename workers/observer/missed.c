/* missed.c - what the Observer has to ask for, since no event told of it (missed.h). */
#include "workers/observer/missed.h"
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include <stdlib.h>

/* ---- which session ---- */

void missed_ask_session(struct observer *o, bus_reply_fn *then, void *arg)
{
	static const struct empty nothing = {0};

	bus_call_message(o->worker->bus, METHOD_SESSION_ACTIVE, (struct str){NULL, 0},
		&nothing, 0, then, arg);
}

bool missed_take_session(struct observer *o, const struct bus_reply *reply)
{
	struct active_session session;
	struct proto_error error = {""};
	AUTO_ARENA arena = {0};

	if (reply->status != BUS_OK || bus_reply_decode(METHOD_SESSION_ACTIVE, reply,
					       &arena, &session, &error) < 0) {
		log_warn("the active session is not known", "error", "%.*s",
			STR_ARG(reply->message), NULL);
		return false;
	}
	if (!session.session_id.ptr ||
		(o->wrapping_up && str_is(session.session_id, o->session_id)))
		observer_stop(o);
	else
		observer_start(o, session.session_id);
	return true;
}

/* An event told of another session meanwhile, or events were lost: the answer may be older. */
static bool is_stale(const struct observer_call *call)
{
	return call->generation != call->observer->generation ||
	       call->observer->catch_up.missed;
}

static void on_session(void *arg, const struct bus_reply *reply)
{
	struct observer_call *call = arg;
	struct observer *o = call->observer;
	const bool stale = is_stale(call);

	free(call);
	if (stale) {
		catch_up_unanswered(&o->catch_up);
		missed_ask(o);
	} else if (missed_take_session(o, reply) && o->active) {
		missed_ask_rows(o);
	} else {
		catch_up_unanswered(&o->catch_up);
	}
}

void missed_ask(struct observer *o)
{
	if (catch_up_ask(&o->catch_up))
		missed_ask_session(o, on_session, observer_call_new(o));
}

/* ---- its rows ---- */

/* True when it calls for something, as if an event had told of it. */
static bool take_row(struct observer *o, yyjson_val *row, int64_t number)
{
	const struct logged_action action = observer_read_action(
		proto_str(yyjson_obj_get(row, "type")), yyjson_obj_get(row, "data"),
		proto_str(yyjson_obj_get(row, "createdAt")));

	switch (catch_up_row(&o->catch_up, number, action.at_ms)) {
	case CATCH_UP_COUNTS:
		observer_count(o, &action);
		return true;
	case CATCH_UP_PAST:
		observer_count_past(o, &action);
		break;
	case CATCH_UP_COUNTED:
	case CATCH_UP_LATER:
		break;
	}
	return false;
}

static void take_rows(struct observer *o, const struct observer_context *context)
{
	size_t i, max, count = 0;
	int64_t newest = 0;
	yyjson_val *row;

	/* Before any row: what is counted is judged by it. */
	if (o->catch_up.fresh)
		observer_rebuild(o, context);
	yyjson_arr_foreach(context->recent_actions.val, i, max, row)
	{
		const int64_t number = yyjson_get_sint(yyjson_obj_get(row, "n"));

		count += take_row(o, row, number);
		if (number > newest)
			newest = number;
	}
	if (count > 0)
		log_info("actions of the log are counted that no event brought", "count",
			"%zu", count, NULL);
	catch_up_answered(&o->catch_up, newest);
}

static void on_rows(void *arg, const struct bus_reply *reply)
{
	struct observer_call *call = arg;
	struct observer *o = call->observer;
	struct observer_context context;
	struct proto_error error = {""};
	AUTO_ARENA arena = {0};

	if (observer_call_is_late(call)) {
		catch_up_unanswered(&o->catch_up);
		missed_ask(o);
	} else if (reply->status != BUS_OK ||
		   bus_reply_decode(METHOD_OBSERVER_CONTEXT, reply, &arena, &context,
			   &error) < 0) {
		log_warn("the action log could not be read", "error", "%.*s",
			STR_ARG(reply->message), "problem", "%s", error.text, NULL);
		/* Whatever it is about to learn, it watches. */
		if (o->catch_up.fresh)
			observer_tell_status(o);
		catch_up_unanswered(&o->catch_up);
	} else {
		take_rows(o, &context);
		missed_ask(o);
	}
	free(call);
}

void missed_ask_rows(struct observer *o)
{
	observer_ask_context(o, on_rows);
}
