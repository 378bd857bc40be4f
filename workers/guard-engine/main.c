/*
 * main.c - paige-guard-engine, the worker of the four policy machines: its start and its
 * end.
 *
 * At the start it learns from the store which streams wait for a timer or for a model;
 * their states are read when they are needed.
 */
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/loop/timer.h"
#include "workers/guard-engine/engine/engine.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define STOP_LOOK_MS 10
#define STOP_PATIENCE_MS 2500

static struct event *stop_timer;
static struct mono stop_deadline;

/* ---- timers ---- */

static void on_alarm(void *arg, struct alarm *a)
{
	struct instance *i =
		(struct instance *)(void *)((char *)a - offsetof(struct instance, alarm));
	struct engine *e = arg;

	if (e->stopping)
		return;
	i->wanted = i->phase != INSTANCE_READY;
	if (i->phase == INSTANCE_KNOWN)
		load_start(i);
	else
		apply_go_on(i);
}

/* ---- start ---- */

static void take_settings(struct engine *e)
{
	const struct settings *s = e->worker->settings;

	e->defaults = (struct machine_defaults){
		.timebox_ms = s->timebox_ms,
		.zero_run_limit = s->zero_run_limit,
		.project_cap = s->project_cap,
		.idle_timeout_ms = s->idle_timeout_ms,
		.max_idle_ms = s->max_idle_ms,
		.stale_output_ms = s->stale_output_ms,
		.timezone = str_of(e->timezone),
	};
}

static int init(struct worker *w)
{
	struct engine *e = xcalloc(1, sizeof(*e));
	int err;

	w->state = e;
	e->worker = w;
	e->bus = w->bus;
	zone_cache_local(e->timezone);
	take_settings(e);
	err = clocks_init(&e->clocks, w->base, on_alarm, e);
	if (err) {
		log_error(
			"timers are not to be had", "error", "%s", strerror(-err), NULL);
		return WORKER_EXIT_INTERNAL;
	}
	serve_init(e);
	waiting_ask(e);
	return WORKER_EXIT_OK;
}

/* Time zones are all that it reads; it starts no program. */
static void confine(struct worker *w, struct confinement *c)
{
	(void)w;
	c->read_only[0] = ZONE_CACHE_FOLDER;
}

static void reload(struct worker *w)
{
	take_settings(w->state);
}

/* ---- end ---- */

/* Rows that are on their way to the store are waited for, so that their clients hear of
 * them. */
static void on_stop_timer(EVENT_UNUSED, void *arg)
{
	struct engine *e = arg;

	if (e->appending > 0 && clock_mono().us < stop_deadline.us)
		event_add_ms(stop_timer, STOP_LOOK_MS);
	else
		worker_stopped(e->worker);
}

static void stop(struct worker *w)
{
	struct engine *e = w->state;

	e->stopping = true;
	stop_deadline = mono_add_ms(clock_mono(), STOP_PATIENCE_MS);
	stop_timer = evtimer_new(w->base, on_stop_timer, e);
	if (stop_timer)
		event_add_ms(stop_timer, 0);
	else
		worker_stopped(w);
}

static const struct worker_spec spec = {
	.id = WORKER_GUARD_ENGINE,
	.init = init,
	.confine = confine,
	.stop = stop,
	.reload = reload,
	.ready_later = true,
};

int main(int argc, char **argv)
{
	return worker_main(&spec, argc, argv);
}
