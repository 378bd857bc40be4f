/* waiting.c - which streams wait for a timer or a model (engine.h). */
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "workers/guard-engine/engine/engine.h"
#include "workers/guard-engine/engine/folds.h"
#include "workers/guard-engine/stream/machines.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take(struct engine *e, const struct stream_info *s)
{
	const struct machine *m = machine_of((enum guard_kind)s->kind);
	struct moment now = clocks_now(&e->clocks, m->clock);
	struct timeline t = timeline_resume(
		s->clock.boot_id, s->clock.offset_ms, s->changed_ms, &now);
	struct instance *i = instances_find(e, m->kind, s->id);

	if (!i)
		i = instances_add(e, m->kind, s->id);
	if (i->phase != INSTANCE_KNOWN)
		return;
	if (s->has_deadline_ms)
		clocks_set(&e->clocks, m->clock, &i->alarm,
			timeline_raw(&t, s->deadline_ms));
	if (s->asking) {
		i->wanted = true;
		load_start(i);
	}
}

static void ask(struct engine *e);

static void on_again(EVENT_UNUSED, void *arg)
{
	ask(arg);
}

static void again_in(struct engine *e, int pause_ms)
{
	if (!e->waiting_again)
		e->waiting_again = event_new(e->worker->base, -1, 0, on_again, e);
	if (!e->waiting_again || event_add_ms(e->waiting_again, pause_ms) < 0)
		abort();
}

/* A store that is not there yet is waited for. One that cannot give the streams does not
 * keep the worker from being ready: every event is answered with what ails it. */
static void try_later(struct engine *e, bool there, struct str problem)
{
	char reason[512];

	snprintf(reason, sizeof(reason), "%.*s", STR_ARG(problem));
	if (strcmp(reason, e->waiting_problem) != 0) {
		log_warn("the store did not tell which guards wait; asking again",
			"problem", "%s", reason, NULL);
		memcpy(e->waiting_problem, reason, sizeof(reason));
	}
	if (there) {
		worker_set_condition(e->worker, WORKER_DEGRADED, reason);
		worker_ready(e->worker);
		again_in(e, engine_pause_ms(ENGINE_STREAMS_AWAY_MS,
				    ENGINE_STREAMS_AWAY_MAX_MS, ++e->waiting_refusals));
	} else {
		e->waiting_refusals = 0;
		again_in(e, ENGINE_RETRY_MS);
	}
}

static void on_page(void *arg, const struct bus_reply *reply)
{
	struct engine *e = arg;
	AUTO_ARENA arena = {0};
	struct proto_error error;
	struct stream_list page;

	if (reply->status != BUS_OK) {
		try_later(e,
			folds_is_final(reply) ||
				(reply->status == BUS_ERROR &&
					!str_is(reply->code, "UNAVAILABLE")),
			reply->message);
		return;
	}
	if (bus_reply_decode(METHOD_STREAM_LIST, reply, &arena, &page, &error) < 0) {
		try_later(e, true, str_of(error.text));
		return;
	}
	for (size_t n = 0; n < page.streams.count; n++)
		take(e, &page.streams.items[n]);
	if (page.has_next) {
		e->waiting_after = page.next;
		ask(e);
	} else {
		log_info("guards are watched", "waiting", "%zu", e->instance_count, NULL);
		worker_set_condition(e->worker, WORKER_FINE, NULL);
		worker_ready(e->worker);
	}
}

static void ask(struct engine *e)
{
	struct stream_page query = {.waiting = true, .after = e->waiting_after};

	bus_call_message(
		e->bus, METHOD_STREAM_LIST, (struct str){0}, &query, 0, on_page, e);
}

void waiting_store_answers(struct engine *e)
{
	if (e->waiting_again && evtimer_pending(e->waiting_again, NULL))
		again_in(e, 0);
}

void waiting_ask(struct engine *e)
{
	e->waiting_after = 0;
	ask(e);
}
