/*
 * main.c - paige-guard-engine, the worker of the four policy machines: its start and its
 * end.
 *
 * At the start it learns from the store which streams wait for a timer or for a model;
 * their states are read when they are needed.
 */
#include "common/log.h"
#include "workers/guard-engine/engine.h"
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
	if (i->phase == INSTANCE_KNOWN)
		load_start(i);
	else
		apply_go_on(i);
}

/* ---- start ---- */

static void ask_for_waiting(struct engine *e, int64_t after);

struct start_page {
	struct engine *engine;
	int64_t after;
};

static void take_waiting(struct engine *e, const struct stream_info *s)
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
	if (s->asking)
		load_start(i);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct start_page *p = arg;

	(void)fd;
	(void)what;
	ask_for_waiting(p->engine, p->after);
	free(p);
}

static void on_waiting(void *arg, const struct bus_reply *reply)
{
	struct start_page *p = arg;
	struct engine *e = p->engine;
	struct timeval pause = {0, ENGINE_RETRY_MS * 1000};
	struct arena arena = {0};
	struct proto_error error = {""};
	struct stream_list page;
	bool ok = reply->status == BUS_OK &&
		  bus_reply_decode(METHOD_STREAM_LIST, reply, &arena, &page, &error) == 0;

	if (!ok) {
		log_warn("the store did not tell which guards wait; asking again",
			"problem", "%.*s%s", STR_ARG(reply->message), error.text, NULL);
		event_base_once(e->worker->base, -1, EV_TIMEOUT, on_again, p, &pause);
		arena_free(&arena);
		return;
	}
	for (size_t n = 0; n < page.streams.count; n++)
		take_waiting(e, &page.streams.items[n]);
	if (page.has_next) {
		ask_for_waiting(e, page.next);
	} else {
		log_info("guards are watched", "waiting", "%zu", e->instance_count, NULL);
		worker_ready(e->worker);
	}
	arena_free(&arena);
	free(p);
}

static void ask_for_waiting(struct engine *e, int64_t after)
{
	struct stream_page query = {.waiting = true, .after = after};
	struct start_page *p = malloc(sizeof(*p));

	if (!p)
		abort();
	*p = (struct start_page){e, after};
	bus_call_message(
		e->bus, METHOD_STREAM_LIST, (struct str){0}, &query, 0, on_waiting, p);
}

static void take_settings(struct engine *e)
{
	const struct settings *s = &e->worker->settings;

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
	struct engine *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		abort();
	w->state = e;
	e->worker = w;
	e->bus = w->bus;
	zones_local(e->timezone);
	take_settings(e);
	err = clocks_init(&e->clocks, w->base, on_alarm, e);
	if (err) {
		log_error(
			"timers are not to be had", "error", "%s", strerror(-err), NULL);
		return WORKER_EXIT_INTERNAL;
	}
	serve_init(e);
	ask_for_waiting(e, 0);
	return WORKER_EXIT_OK;
}

/* Time zones are all that it reads; it starts no program. */
static void confine(struct worker *w, struct confinement *c)
{
	(void)w;
	c->read_only[0] = ZONES_FOLDER;
}

static void reload(struct worker *w)
{
	take_settings(w->state);
}

/* ---- end ---- */

/* Rows that are on their way to the store are waited for, so that their clients hear of
 * them. */
static void on_stop_timer(evutil_socket_t fd, short what, void *arg)
{
	struct engine *e = arg;
	struct timeval pause = {0, STOP_LOOK_MS * 1000};

	(void)fd;
	(void)what;
	if (e->appending > 0 && clock_mono().us < stop_deadline.us)
		event_add(stop_timer, &pause);
	else
		worker_stopped(e->worker);
}

static void stop(struct worker *w)
{
	struct engine *e = w->state;
	struct timeval now = {0, 0};

	e->stopping = true;
	stop_deadline = mono_add_ms(clock_mono(), STOP_PATIENCE_MS);
	stop_timer = evtimer_new(w->base, on_stop_timer, e);
	if (stop_timer)
		event_add(stop_timer, &now);
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
