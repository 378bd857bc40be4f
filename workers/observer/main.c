/*
 * main.c - paige-observer, the worker that decides when to nudge: which session is
 * active, and what happens in it, as the bus tells.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "proto/codec/messages.h"
#include "workers/observer/missed.h"
#include <stdlib.h>

/* Decodes an event's body; false with a line in the log when it is not of its type. */
static bool decode(const struct bus_event *event, const struct type *type,
	struct arena *arena, void *out, yyjson_doc **doc)
{
	struct proto_error error = {""};

	*doc = proto_parse(event->body, &error);
	if (*doc && proto_decode(type, yyjson_doc_get_root(*doc), "event", DECODE_LENIENT,
			    arena, out, &error) == 0)
		return true;
	log_error("event not understood", "topic", "%.*s", STR_ARG(event->topic),
		"problem", "%s", error.text, NULL);
	return false;
}

/* ---- which session ---- */

static void on_session(void *arg, const struct bus_event *event)
{
	struct observer *o = arg;
	struct session_event session;
	AUTO_ARENA arena = {0};
	AUTO_DOC *doc = NULL;

	if (decode(event, session_event_type(), &arena, &session, &doc)) {
		o->wrapping_up = false;
		if (!str_is(event->topic, "session/ended"))
			observer_start(o, session.session_id);
		else if (str_is(session.session_id, o->session_id))
			observer_stop(o);
	}
}

/* A wrap-up came to nothing: the session is watched again if it is still active. */
static void end_wrap_up(struct observer *o)
{
	if (!o->wrapping_up)
		return;
	o->wrapping_up = false;
	catch_up_missed(&o->catch_up);
	missed_ask(o);
}

/* The session is active until its wrap-up is done, but not watched any more (P10.13). */
static void on_wrap_up(void *arg, const struct bus_event *event)
{
	struct observer *o = arg;

	if (str_is(event->topic, "wrap_up/begun")) {
		o->wrapping_up = true;
		observer_stop(o);
	} else {
		end_wrap_up(o);
	}
}

/* An llm worker that was started anew wraps nothing up until it is asked again. */
static void on_llm_gap(void *arg, enum worker_id from, uint64_t missed)
{
	(void)from;
	(void)missed;
	end_wrap_up(arg);
}

/* ---- what happens in it ---- */

static void on_action(void *arg, const struct bus_event *event)
{
	struct observer *o = arg;
	struct action_event action;
	struct logged_action logged;
	enum catch_up_verdict verdict;
	AUTO_ARENA arena = {0};
	AUTO_DOC *doc = NULL;

	if (!decode(event, action_event_type(), &arena, &action, &doc))
		return;
	verdict = catch_up_event(&o->catch_up, action.n);
	logged = observer_read_action(action.type, action.data.val, action.created_at);
	if (verdict == CATCH_UP_COUNTS && str_is(action.session_id, o->session_id))
		observer_count(o, &logged);
	else if (verdict == CATCH_UP_LATER)
		missed_ask(o);
}

static void on_buffer(void *arg, const struct bus_event *event)
{
	(void)event;
	observer_on_buffer_update(arg);
}

/* Events were missed, or the store was started anew, or is heard for the first time: which
 * session is active, and what was logged in it? */
static void on_gap(void *arg, enum worker_id from, uint64_t missed)
{
	struct observer *o = arg;

	(void)from;
	(void)missed;
	catch_up_missed(&o->catch_up);
	missed_ask(o);
}

struct mute_call {
	struct observer *observer;
	struct bus_request *request;
	bool muted;
	uint64_t generation; /* when it asked */
};

static void on_session_to_mute(void *arg, const struct bus_reply *reply)
{
	struct mute_call *call = arg;

	/* Unless an event told of another session meanwhile. */
	if (call->generation == call->observer->generation)
		(void)missed_take_session(call->observer, reply);
	observer_mute(call->observer, call->muted);
	bus_answer(call->request, STR_LIT("{}"));
}

/* Whoever mutes may know of a session whose event is still on its way to us. */
static void serve_mute(void *arg, struct bus_request *request, const void *message)
{
	struct mute_call *call = arena_alloc(&request->arena, sizeof(*call));
	struct observer *o = arg;

	*call = (struct mute_call){o, request,
		((const struct observer_mute *)message)->muted, o->generation};
	missed_ask_session(o, on_session_to_mute, call);
}

static void serve_decisions(void *arg, struct bus_request *request, const void *message)
{
	const struct observer *o = arg;
	struct observer_decisions page;

	decisions_page(&o->decisions, message, &request->arena, &page);
	bus_answer_message(request, &page);
}

static int init(struct worker *w)
{
	struct observer *o = xcalloc(1, sizeof(*o));

	w->state = o;
	observer_init(o, w);
	bus_serve(w->bus, METHOD_OBSERVER_MUTE, serve_mute, o);
	bus_serve(w->bus, METHOD_OBSERVER_DECISIONS, serve_decisions, o);
	bus_subscribe(w->bus, WORKER_STORE, "session/", on_session, o);
	bus_subscribe(w->bus, WORKER_STORE, "action/", on_action, o);
	bus_subscribe(w->bus, WORKER_FSWATCH, "buffer/", on_buffer, o);
	bus_subscribe(w->bus, WORKER_LLM, "wrap_up/", on_wrap_up, o);
	bus_on_gap(w->bus, WORKER_STORE, on_gap, o);
	bus_on_gap(w->bus, WORKER_LLM, on_llm_gap, o);
	catch_up_missed(&o->catch_up);
	missed_ask(o);
	return WORKER_EXIT_OK;
}

/* It needs no file and starts no program. */
static void confine(struct worker *w, struct confinement *c)
{
	(void)w;
	(void)c;
}

static const struct worker_spec spec = {
	.id = WORKER_OBSERVER,
	.init = init,
	.confine = confine,
};

int main(int argc, char **argv)
{
	return worker_main(&spec, argc, argv);
}
