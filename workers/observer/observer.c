/*
 * observer.c - the Observer of the active session (observer.h).
 *
 * A trigger that the policy lets through: ask the store for the moment, ask the llm
 * worker, hand the answer to the policy. Each step is a call with a callback; a session
 * that ended meanwhile is known by its generation, and the answer is thrown away (EC-66).
 */
#include "workers/observer/observer.h"
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "common/worker/metrics.h"
#include "proto/codec/messages.h"
#include "proto/tables/actions.h"
#include "workers/observer/missed.h"
#include "workers/observer/snapshot.h"
#include <stdio.h>
#include <stdlib.h>

static int64_t now_ms(void)
{
	return wall_ms(clock_wall());
}

/* ---- its calls ---- */

struct observer_call *observer_call_new(struct observer *o)
{
	struct observer_call *call = xmalloc(sizeof(*call));

	*call = (struct observer_call){o, o->generation};
	return call;
}

bool observer_call_is_late(const struct observer_call *call)
{
	return !call->observer->active || call->generation != call->observer->generation;
}

void observer_ask_context(struct observer *o, bus_reply_fn *then)
{
	struct observer_query query = {.session_id = str_of(o->session_id)};

	bus_call_message(o->worker->bus, METHOD_OBSERVER_CONTEXT, (struct str){NULL, 0},
		&query, 0, then, observer_call_new(o));
}

/* ---- what it says ---- */

static void publish(struct observer *o, const char *topic, const struct type *type,
	const void *message)
{
	AUTO_BUF body = {0};

	proto_encode(type, message, &body);
	bus_publish(o->worker->bus, topic, buf_str(&body));
}

static void publish_status(struct observer *o, bool active)
{
	char last[WALL_ISO_SIZE];
	struct observer_status status = {.active = active,
		.has_active = true,
		.muted = active && o->policy.muted, /* P10.10 */
		.has_muted = true};

	if (o->policy.last_evaluation_ms) {
		wall_iso((struct wall){o->policy.last_evaluation_ms * 1000}, last);
		status.last_evaluation = str_of(last);
	}
	publish(o, "ui/observer:status", observer_status_type(), &status);
}

void observer_tell_status(struct observer *o)
{
	publish_status(o, true);
}

static void on_logged(void *arg, const struct bus_reply *reply)
{
	(void)arg;
	if (reply->status != BUS_OK)
		log_error("action not logged", "error", "%.*s", STR_ARG(reply->message),
			NULL);
}

static void log_action(struct observer *o, enum action action, const void *data)
{
	char id[UUID_SIZE];
	struct wall now = clock_wall();
	AUTO_ARENA arena = {0};
	struct action_row row;
	struct action_append append = {.actions = {&row, 1}};

	uuid7(now, id);
	action_row_make(&arena, action, str_of(id), now, data, &row);
	bus_call_message(o->worker->bus, METHOD_ACTION_APPEND, str_of(id), &append, 0,
		on_logged, o);
}

static void log_held_back(struct observer *o, const char *reason)
{
	struct nudge_suppressed_data data = {.reason = str_of(reason)};

	log_action(o, ACTION_NUDGE_SUPPRESSED, &data);
}

/* Remembers a decision and tells the windows that follow the log. `r` is the model's answer, or NULL. */
static void decide(struct observer *o, enum observer_trigger trigger,
	enum observer_verdict verdict, const struct observer_triage_response *r,
	struct str reasoning)
{
	struct observer_decision decision = {
		.session_id = str_of(o->session_id),
		.trigger = trigger,
		.has_trigger = true,
		.verdict = verdict,
		.has_verdict = true,
		.threshold = o->policy.config.min_confidence,
		.has_threshold = true,
		.reasoning = r ? r->reasoning : reasoning,
	};
	struct metric_labels labels = {.len = 0};

	metric_label(&labels, "verdict", observer_verdict_enumeration()->names[verdict]);
	metric_add(METRIC_OBSERVER_DECISIONS, &labels, 1);
	if (r) {
		decision.signal = r->signal;
		decision.confidence = r->confidence;
		decision.has_signal = decision.has_confidence = true;
	}
	publish(o, "ui/observer:decision", observer_decision_type(),
		decisions_add(&o->decisions, &decision, clock_wall()));
}

static void decide_failed(struct observer *o, struct str why)
{
	decide(o, o->trigger, OBSERVER_FAILED, NULL, why);
}

/* ---- the model's answer ---- */

static void nudge(struct observer *o, const struct observer_triage_response *r)
{
	struct nudge_sent_data data = {.signal = r->signal,
		.has_signal = true,
		.confidence = r->confidence,
		.has_confidence = true};
	struct observer_nudge message = {.signal = r->signal,
		.has_signal = true,
		.confidence = r->confidence,
		.has_confidence = true,
		.context = r->suggested_context,
		.has_context = true};

	log_action(o, ACTION_NUDGE_SENT, &data);
	publish(o, "ui/observer:nudge", observer_nudge_type(), &message);
}

static void hold_back_unsure(struct observer *o, const struct observer_triage_response *r)
{
	struct nudge_suppressed_data data = {.signal = r->signal,
		.has_signal = true,
		.confidence = r->confidence,
		.has_confidence = true,
		.reason = STR_LIT("low_confidence")};

	log_action(o, ACTION_NUDGE_SUPPRESSED, &data);
}

static void take_answer(struct observer *o, const struct observer_triage_response *r)
{
	static const enum observer_verdict verdicts[] = {
		[POLICY_NO_NUDGE] = OBSERVER_NO_NUDGE,
		[POLICY_NUDGE] = OBSERVER_NUDGED,
		[POLICY_LOW_CONFIDENCE] = OBSERVER_LOW_CONFIDENCE,
		[POLICY_CONTRADICTION] = OBSERVER_CONTRADICTION,
	};
	bool none = r->signal == NUDGE_NONE;
	enum policy_outcome outcome = policy_answered(
		&o->policy, r->should_nudge, r->confidence, none, now_ms());

	decide(o, o->trigger, verdicts[outcome], r, (struct str){NULL, 0});
	switch (outcome) {
	case POLICY_NUDGE:
		nudge(o, r);
		break;
	case POLICY_LOW_CONFIDENCE:
		hold_back_unsure(o, r);
		break;
	case POLICY_CONTRADICTION:
		log_warn("the model wants to nudge with the signal no_nudge: ignored",
			NULL);
		break;
	case POLICY_NO_NUDGE:
		break;
	}
}

static void on_triage(void *arg, const struct bus_reply *reply)
{
	struct observer_call *call = arg;
	struct observer *o = call->observer;
	struct observer_triage_response response;
	struct proto_error error = {""};
	AUTO_ARENA arena = {0};

	if (observer_call_is_late(call)) {
		log_info("a triage of an earlier session ended: thrown away", NULL);
	} else if (reply->status != BUS_OK) {
		policy_failed(&o->policy);
		log_warn("triage failed", "error", "%.*s", STR_ARG(reply->message), NULL);
		decide_failed(o, reply->message);
	} else if (bus_reply_decode(METHOD_TRIAGE, reply, &arena, &response, &error) <
		   0) {
		policy_failed(&o->policy);
		log_error("triage not understood", "problem", "%s", error.text, NULL);
		decide_failed(o, str_of(error.text));
	} else {
		take_answer(o, &response);
	}
	free(call);
}

/* ---- the store's answer ---- */

static void ask_model(
	struct observer *o, const struct observer_context *context, struct arena *arena)
{
	struct triage_run run = {.session_id = str_of(o->session_id),
		.context = snapshot_make(context, &o->policy, now_ms(), arena),
		.has_context = true};

	bus_call_message(o->worker->bus, METHOD_TRIAGE, (struct str){NULL, 0}, &run, 0,
		on_triage, observer_call_new(o));
}

static void on_context(void *arg, const struct bus_reply *reply)
{
	struct observer_call *call = arg;
	struct observer *o = call->observer;
	struct observer_context context;
	struct proto_error error = {""};
	AUTO_ARENA arena = {0};

	if (observer_call_is_late(call)) {
		/* the session is over */
	} else if (reply->status != BUS_OK ||
		   bus_reply_decode(METHOD_OBSERVER_CONTEXT, reply, &arena, &context,
			   &error) < 0) {
		log_warn("the moment could not be read", "error", "%.*s",
			STR_ARG(reply->message), "problem", "%s", error.text, NULL);
		policy_failed(&o->policy);
		decide_failed(
			o, reply->status == BUS_OK ? str_of(error.text) : reply->message);
	} else {
		ask_model(o, &context, &arena);
	}
	free(call);
}

/* ---- triggers ---- */

static void step(struct observer *o, enum policy_event event,
	enum observer_trigger trigger, int64_t at_ms)
{
	if (!o->active)
		return;
	switch (policy_step(&o->policy, event, at_ms, now_ms())) {
	case POLICY_ASK:
		o->trigger = trigger;
		observer_ask_context(o, on_context);
		break;
	case POLICY_COOLDOWN:
		log_held_back(o, "cooldown");
		decide(o, trigger, OBSERVER_COOLDOWN, NULL, (struct str){NULL, 0});
		break;
	case POLICY_FLOW:
		log_held_back(o, "flow_state");
		decide(o, trigger, OBSERVER_FLOW_STATE, NULL, (struct str){NULL, 0});
		break;
	case POLICY_NOTHING:
		break;
	}
}

static void on_idle_check(EVENT_UNUSED, void *arg)
{
	step(arg, POLICY_IDLE_CHECK, OBSERVER_IDLE, now_ms());
	missed_ask(arg);
}

void observer_on_buffer_update(struct observer *o)
{
	step(o, POLICY_BUFFER_UPDATE, OBSERVER_EDITS, now_ms());
}

/* ---- rows of the action log ---- */

struct logged_action observer_read_action(
	struct str type, yyjson_val *data, struct str created_at)
{
	const int action = action_by_name(type);

	return (struct logged_action){
		.action = action,
		.at_ms = snapshot_time_ms(created_at),
		.not_now = action == ACTION_NUDGE_ANSWERED &&
			   yyjson_is_false(yyjson_obj_get(data, "helpful")),
	};
}

void observer_count(struct observer *o, const struct logged_action *logged)
{
	const int action = logged->action;

	if (action == ACTION_FILE_OPEN || action == ACTION_FILE_SAVE)
		step(o, POLICY_TRIGGER,
			action == ACTION_FILE_OPEN ? OBSERVER_FILE_OPEN
						   : OBSERVER_FILE_SAVE,
			logged->at_ms);
	else if (action == ACTION_PHASE_STARTED || action == ACTION_PHASE_COMPLETED)
		step(o, POLICY_PHASE, OBSERVER_PHASE, logged->at_ms);
	else
		observer_count_past(o, logged);
}

/* What is no trigger counts in the same way whenever it is heard of. */
void observer_count_past(struct observer *o, const struct logged_action *logged)
{
	if (!o->active || logged->action < 0)
		return;
	if (action_infos[logged->action].user_activity)
		(void)policy_step(&o->policy, POLICY_ACTIVITY, logged->at_ms, now_ms());
	if (logged->not_now)
		policy_not_now(&o->policy, logged->at_ms);
}

void observer_rebuild(struct observer *o, const struct observer_context *context)
{
	if (!o->mute_told)
		o->policy.muted = context->muted;
	o->policy.last_nudge_ms = snapshot_time_ms(context->last_nudge_at);
	observer_tell_status(o);
}

void observer_mute(struct observer *o, bool muted)
{
	struct observer_muted_data data = {.muted = muted, .has_muted = true};

	if (!o->active) {
		log_warn("nudges cannot be muted without a session", NULL);
		return;
	}
	o->policy.muted = muted;
	o->mute_told = true;
	log_action(o, ACTION_OBSERVER_MUTED, &data);
	publish_status(o, true);
}

/* ---- beginning and end ---- */

void observer_init(struct observer *o, struct worker *w)
{
	o->worker = w;
	o->idle_timer =
		alloc_checked(event_new(w->base, -1, EV_PERSIST, on_idle_check, o));
	catch_up_init(&o->catch_up, now_ms());
}

static void stop_watching(struct observer *o)
{
	event_del(o->idle_timer);
	publish_status(o, false);
	log_info("no longer watching", "session", "%s", o->session_id, NULL);
	o->active = false;
	o->generation++;
	policy_fini(&o->policy);
}

void observer_start(struct observer *o, struct str session_id)
{
	const struct settings *s = o->worker->settings;
	const struct policy_config config = {.cooldown_ms = s->observer_cooldown_ms,
		.flow_window_ms = s->observer_flow_window_ms,
		.flow_actions = s->observer_flow_actions,
		.idle_ms = s->observer_idle_ms,
		.buffer_updates = s->observer_buffer_updates,
		.min_confidence = s->observer_min_confidence};

	/* Known from the bus and asked at a gap: it may come twice. */
	if (o->active && str_is(session_id, o->session_id))
		return;
	if (o->active)
		stop_watching(o);
	snprintf(o->session_id, sizeof(o->session_id), "%.*s", STR_ARG(session_id));
	policy_init(&o->policy, &config, now_ms());
	o->active = true;
	o->wrapping_up = false;
	o->mute_told = false;
	o->generation++;
	event_add_ms(o->idle_timer, s->observer_idle_check_ms);
	log_info("watching", "session", "%s", o->session_id, NULL);
	catch_up_begin(&o->catch_up);
	/* Else whoever asks already goes on with this session. */
	if (catch_up_ask(&o->catch_up))
		missed_ask_rows(o);
}

void observer_stop(struct observer *o)
{
	catch_up_idle(&o->catch_up, now_ms());
	if (o->active)
		stop_watching(o);
}
